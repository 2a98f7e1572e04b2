// Sessions: when they end.
import assert from 'node:assert/strict';
import { SESSION_IDLE_MS, SESSION_LIFE_MS, sessionEndsAt } from '../../../src/domain/accounts/session.ts';

describe('a session', () => {
  const openedAt = new Date('2026-11-21T12:00:00Z');
  const expiresAt = new Date(openedAt.getTime() + SESSION_LIFE_MS);

  it('ends after twelve hours without use, and after seven days in any case', () => {
    assert.deepEqual([SESSION_IDLE_MS, SESSION_LIFE_MS], [12 * 3_600_000, 7 * 86_400_000]);
    assert.deepEqual(
      sessionEndsAt({ lastUsedAt: openedAt, expiresAt }),
      new Date(openedAt.getTime() + SESSION_IDLE_MS),
    );
    const late = new Date(expiresAt.getTime() - 1000);
    assert.deepEqual(sessionEndsAt({ lastUsedAt: late, expiresAt }), expiresAt);
  });
});
