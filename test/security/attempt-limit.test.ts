// Attempt limits: which attempts count together.
import assert from 'node:assert/strict';
import { newId } from '../../src/domain/ids.ts';
import { accountLimits, addressLimit, personLimits, plainAddress } from '../../src/security/attempt-limit.ts';

describe('an attempt limit', () => {
  it('counts an account by its e-mail in upper or lower case, and stores no e-mail', () => {
    const subjects = (email: string) => accountLimits(email).map(({ subject }) => subject);
    assert.deepEqual(subjects('Amina@Shop.example'), subjects('amina@shop.example'));
    assert.doesNotMatch(subjects('amina@shop.example').join(), /amina/);
    assert.equal(new Set([...subjects('a@shop.example'), ...subjects('b@shop.example')]).size, 6);
  });

  it('counts an IPv6 network as one address, and an IPv4-mapped address as IPv4', () => {
    const subject = (address: string | null) => addressLimit(address).subject;
    assert.equal(subject('2001:db8:1:2::1'), subject('2001:db8:1:2:ffff::9'));
    assert.notEqual(subject('2001:db8:1:2::1'), subject('2001:db8:1:3::1'));
    assert.equal(subject('::ffff:203.0.113.7'), 'address/203.0.113.7');
    assert.equal(subject(null), 'address/unknown');
  });

  it('allows more failed attempts for a network address than for an account', () => {
    assert.ok(addressLimit(null).maxFailures > accountLimits('x')[0]!.maxFailures);
  });

  it('caps guesses over days: the longer the window, the fewer in a day', () => {
    for (const limits of [accountLimits('x'), personLimits(newId('usr'))]) {
      const perDay = limits.map(({ maxFailures, windowMs }) => (maxFailures * 86_400_000) / windowMs);
      assert.deepEqual(perDay.map(Math.floor), [960, 30, 3]);
      assert.ok(limits.every(({ subject }) => subject.length <= 100));
    }
  });

  it('accepts only valid network addresses', () => {
    assert.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1');
    assert.equal(plainAddress('fe80::1%eth0'), 'fe80::1');
    for (const text of ['', 'unknown', '203.0.113.7:443', '203.0.113', '::203.0.113.7']) {
      assert.equal(plainAddress(text), null, text);
    }
  });
});
