// API keys: their states, and which roles may manage them.
import assert from 'node:assert/strict';
import { apiKeyState, mayHandleKeys } from '../../../src/domain/accounts/api-key.ts';

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
});
