// Sessions: when they end, by the roles of their person.
import assert from 'node:assert/strict';
import { ROLES, type Role } from '../../../src/domain/accounts/member.ts';
import { LONGEST_SESSION_MS, sessionEndsAt, sessionExpiresAt } from '../../../src/domain/accounts/session.ts';

const HOUR_MS = 3_600_000;

describe('a session', () => {
  const createdAt = new Date('2026-11-21T12:00:00Z');
  const expiresAt = new Date(createdAt.getTime() + LONGEST_SESSION_MS);
  const after = (ms: number) => new Date(createdAt.getTime() + ms);
  const sessionOf = (roles: readonly Role[], usedAfterMs = 0) => {
    const session = { createdAt, expiresAt, lastUsedAt: after(usedAfterMs), person: { roles } };
    return { endsAt: sessionEndsAt(session), expiresAt: sessionExpiresAt(session) };
  };

  for (const role of ROLES) {
    const isReader = role === 'developer' || role === 'viewer';
    const [idleMs, lifeMs] = isReader ? [12 * HOUR_MS, 168 * HOUR_MS] : [HOUR_MS / 2, 12 * HOUR_MS];

    it(`of somebody in the role ${role} ends after ${idleMs / HOUR_MS} h without use, and after ${lifeMs / HOUR_MS} h in any case`, () => {
      assert.deepEqual(sessionOf([role]), { endsAt: after(idleMs), expiresAt: after(lifeMs) });
      assert.deepEqual(sessionOf([role], lifeMs - 1000), { endsAt: after(lifeMs), expiresAt: after(lifeMs) });
    });
  }

  it('has the limits of the stricter role of two', () => {
    assert.deepEqual(sessionOf(['viewer', 'maker']), sessionOf(['maker']));
  });

  it('never outlasts the end that was recorded', () => {
    const session = {
      createdAt,
      expiresAt: after(1000),
      lastUsedAt: createdAt,
      person: { roles: ['viewer'] as const },
    };
    assert.deepEqual([sessionExpiresAt(session), sessionEndsAt(session)], [after(1000), after(1000)]);
  });
});
