// Passwords, tokens, limits of failed proofs, the life of sessions and keys, and policies.
import assert from 'node:assert/strict';
import { apiKeyState } from '../../../src/domain/accounts/api-key.ts';
import { newId } from '../../../src/domain/ids.ts';
import { hashPassword, verifyPassword } from '../../../src/security/password.ts';
import { changedPolicy, DEFAULT_POLICY, policyObject } from '../../../src/domain/accounts/policy.ts';
import { accountLimit, addressLimit, personLimit, plainAddress } from '../../../src/security/attempt-limit.ts';
import { SESSION_IDLE_MS, SESSION_LIFE_MS, sessionEndsAt } from '../../../src/domain/accounts/session.ts';
import { hashToken, newToken } from '../../../src/security/token.ts';

describe('passwords', () => {
  it('are kept as argon2id with 19 MiB, two passes and one lane, salted', async () => {
    const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.notEqual(first, second);
  });

  it('fit their own hash only, and nobody’s never', async () => {
    const hash = await hashPassword('correct horse battery');
    assert.ok(await verifyPassword(hash, 'correct horse battery'));
    assert.equal(await verifyPassword(hash, 'correct horse batterz'), false);
    assert.equal(await verifyPassword(hash, ''), false);
    assert.equal(await verifyPassword(null, 'correct horse battery'), false);
  });

  it('are the same however a keyboard composes their letters', async () => {
    const hash = await hashPassword('caf\u00e9 au lait, please');
    assert.ok(await verifyPassword(hash, 'cafe\u0301 au lait, please'));
  });
});

describe('tokens', () => {
  it('have 256 bits, and are known by their digest', () => {
    const { token, sha256 } = newToken();
    assert.equal(Buffer.from(token, 'base64url').length, 32);
    assert.deepEqual(hashToken(token), sha256);
    assert.notEqual(newToken().token, token);
  });

  it('have a form, and what has it not is none', () => {
    for (const text of ['', 'abc', 'x'.repeat(44), `${'x'.repeat(42)}!`, `${'x'.repeat(42)}\0`]) {
      assert.equal(hashToken(text), null);
    }
  });
});

describe('limits of failed proofs', () => {
  it('count an account by its address in any letters, and keep the address out of the books', () => {
    assert.deepEqual(accountLimit('Amina@Shop.example'), accountLimit('amina@shop.example'));
    assert.doesNotMatch(accountLimit('amina@shop.example').subject, /amina/);
    assert.notEqual(accountLimit('a@shop.example').subject, accountLimit('b@shop.example').subject);
  });

  it('count a network of IPv6 as one address, and IPv4 in its mapped form as IPv4', () => {
    const subject = (address: string | null) => addressLimit(address).subject;
    assert.equal(subject('2001:db8:1:2::1'), subject('2001:db8:1:2:ffff::9'));
    assert.notEqual(subject('2001:db8:1:2::1'), subject('2001:db8:1:3::1'));
    assert.equal(subject('::ffff:203.0.113.7'), 'address/203.0.113.7');
    assert.equal(subject(null), 'address/unknown');
  });

  it('leave an address more tries than an account', () => {
    assert.ok(addressLimit(null).maxFailures > accountLimit('x').maxFailures);
    assert.ok(personLimit(newId('usr')).subject.startsWith('person/usr_'));
  });

  it('take for an address only what is one', () => {
    assert.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1');
    assert.equal(plainAddress('fe80::1%eth0'), 'fe80::1');
    for (const text of ['', 'unknown', '203.0.113.7:443', '203.0.113']) assert.equal(plainAddress(text), null, text);
  });
});

describe('a session', () => {
  const begun = new Date('2026-11-21T12:00:00Z');
  const expiresAt = new Date(begun.getTime() + SESSION_LIFE_MS);

  it('ends after twelve hours without use, and after seven days in any case', () => {
    assert.deepEqual([SESSION_IDLE_MS, SESSION_LIFE_MS], [12 * 3_600_000, 7 * 86_400_000]);
    assert.deepEqual(sessionEndsAt({ lastUsedAt: begun, expiresAt }), new Date(begun.getTime() + SESSION_IDLE_MS));
    const late = new Date(expiresAt.getTime() - 1000);
    assert.deepEqual(sessionEndsAt({ lastUsedAt: late, expiresAt }), expiresAt);
  });
});

describe('a key', () => {
  const at = new Date('2026-11-21T12:00:00Z');
  const before = new Date(at.getTime() - 1);
  const after = new Date(at.getTime() + 1);

  it('is active until the moment it expires or is revoked, and rather revoked than expired', () => {
    assert.equal(apiKeyState({ expiresAt: null, revokedAt: null }, at), 'active');
    assert.equal(apiKeyState({ expiresAt: after, revokedAt: after }, at), 'active');
    assert.equal(apiKeyState({ expiresAt: at, revokedAt: null }, at), 'expired');
    assert.equal(apiKeyState({ expiresAt: before, revokedAt: at }, at), 'revoked');
  });
});

describe('a policy', () => {
  it('changes in the fields that are named, and in no other', () => {
    const first = changedPolicy(DEFAULT_POLICY, { second_factor_required: true, two_approvers_above: 0 });
    const second = changedPolicy(first, { two_approvers_above: null, payout_expires_after_seconds: 60 });
    assert.deepEqual(policyObject(second), {
      second_factor_required: true,
      two_approvers_above: null,
      approver_daily_limit: null,
      payout_expires_after_seconds: 60,
    });
    assert.deepEqual(changedPolicy(second, {}), second);
    assert.equal(changedPolicy(second, { second_factor_required: false }).secondFactorRequired, false);
  });
});
