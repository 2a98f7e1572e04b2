// API keys: their states, when they expire, and which roles may manage them.
import assert from 'node:assert/strict';
import {
  apiKeyExpiry,
  apiKeyState,
  mayHandleKeys,
  rolledKeyExpiry,
  type Scope,
} from '../../../src/domain/accounts/api-key.ts';

const DAY_MS = 24 * 60 * 60_000;
const READS: readonly Scope[] = ['payouts:read', 'balance:read'];
const PAYS: readonly Scope[] = ['balance:read', 'payouts:write'];

describe('an API key', () => {
  const at = new Date('2026-11-21T12:00:00Z');
  const before = new Date(at.getTime() - 1);
  const after = new Date(at.getTime() + 1);

  it('is active until it expires or is revoked, and counts as revoked if it is both', () => {
    assert.equal(apiKeyState({ expiresAt: null, revokedAt: null }, at), 'active');
    assert.equal(apiKeyState({ expiresAt: after, revokedAt: after }, at), 'active');
    assert.equal(apiKeyState({ expiresAt: at, revokedAt: null }, at), 'expired');
    assert.equal(apiKeyState({ expiresAt: before, revokedAt: at }, at), 'revoked');
  });

  it('is for admins and developers to manage, but only for admins if it can move money out', () => {
    assert.ok(mayHandleKeys(['developer'], ['collections:write', 'payouts:read']));
    assert.equal(mayHandleKeys(['developer'], ['payouts:read', 'payouts:write']), false);
    assert.ok(mayHandleKeys(['admin'], ['payouts:write']));
    for (const role of ['maker', 'approver', 'viewer'] as const)
      assert.equal(mayHandleKeys([role], ['balance:read']), false);
  });

  const days = (count: number) => new Date(at.getTime() + count * DAY_MS);

  it('that creates payouts expires after 90 days unless another time within a year is stated', () => {
    assert.deepEqual(apiKeyExpiry(PAYS, null, at), days(90));
    assert.deepEqual(apiKeyExpiry(PAYS, days(1), at), days(1));
    assert.deepEqual(apiKeyExpiry(PAYS, days(365), at), days(365));
    assert.throws(() => apiKeyExpiry(PAYS, new Date(days(365).getTime() + 1), at), { code: 'parameter_invalid' });
  });

  it('that creates no payouts expires when that is stated, however late, and otherwise never', () => {
    assert.equal(apiKeyExpiry(READS, null, at), null);
    assert.deepEqual(apiKeyExpiry(READS, days(4000), at), days(4000));
  });

  it('lives as long again when it is rolled, if it creates payouts, and otherwise ends when the old one would have', () => {
    const old = (scopes: readonly Scope[], lifeDays: number | null) => ({
      scopes,
      createdAt: days(-30),
      expiresAt: lifeDays === null ? null : days(lifeDays - 30),
    });
    assert.deepEqual(rolledKeyExpiry(old(PAYS, 40), null, at), days(40));
    assert.deepEqual(rolledKeyExpiry(old(PAYS, 40), days(7), at), days(7));
    assert.deepEqual(rolledKeyExpiry(old(PAYS, null), null, at), days(90), 'from before keys had an end');
    assert.deepEqual(rolledKeyExpiry(old(PAYS, 4000), null, at), days(365), 'from before their life was limited');
    assert.throws(() => rolledKeyExpiry(old(PAYS, 40), days(366), at), { code: 'parameter_invalid' });
    assert.deepEqual(rolledKeyExpiry(old(READS, 40), null, at), days(10));
    assert.deepEqual(rolledKeyExpiry(old(READS, 40), days(700), at), days(700));
    assert.equal(rolledKeyExpiry(old(READS, null), null, at), null);
  });
});
