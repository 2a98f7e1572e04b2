// Changes a person's password.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { deleteSessionsOfUser, renewSession } from '../../db/accounts/session.ts';
import { findUserLocked, setPassword } from '../../db/accounts/user.ts';
import { type ActedBy, verificationFailed } from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';

export type ChangePassword = PasswordAttempt & {
  readonly tokenSha256: Buffer;
  readonly newHash: string;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token. The old token is invalid, and every other session of the person has ended, at every
 * merchant. Throws `permission_denied`; then nothing changes.
 */
export async function changePassword(db: Database, input: ChangePassword): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    const { secondFactorAt } = by.person;
    const { token, sha256 } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt });
    await setPassword(tx, by.person.userId, input.newHash);
    await deleteSessionsOfUser(tx, by.person.userId, sha256);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'password.changed', subjectId: by.person.userId, at });
    return { token };
  });
}
