// Attempt limits: which attempts count together.
import assert from 'node:assert/strict';
import { newId } from '../../src/domain/ids.ts';
import { accountLimit, addressLimit, personLimit, plainAddress } from '../../src/security/attempt-limit.ts';

describe('an attempt limit', () => {
  it('counts an account by its e-mail in upper or lower case, and stores no e-mail', () => {
    assert.deepEqual(accountLimit('Amina@Shop.example'), accountLimit('amina@shop.example'));
    assert.doesNotMatch(accountLimit('amina@shop.example').subject, /amina/);
    assert.notEqual(accountLimit('a@shop.example').subject, accountLimit('b@shop.example').subject);
  });

  it('counts an IPv6 network as one address, and an IPv4-mapped address as IPv4', () => {
    const subject = (address: string | null) => addressLimit(address).subject;
    assert.equal(subject('2001:db8:1:2::1'), subject('2001:db8:1:2:ffff::9'));
    assert.notEqual(subject('2001:db8:1:2::1'), subject('2001:db8:1:3::1'));
    assert.equal(subject('::ffff:203.0.113.7'), 'address/203.0.113.7');
    assert.equal(subject(null), 'address/unknown');
  });

  it('allows more failed attempts for a network address than for an account', () => {
    assert.ok(addressLimit(null).maxFailures > accountLimit('x').maxFailures);
    assert.ok(personLimit(newId('usr')).subject.startsWith('person/usr_'));
  });

  it('accepts only valid network addresses', () => {
    assert.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1');
    assert.equal(plainAddress('fe80::1%eth0'), 'fe80::1');
    for (const text of ['', 'unknown', '203.0.113.7:443', '203.0.113']) assert.equal(plainAddress(text), null, text);
  });
});
