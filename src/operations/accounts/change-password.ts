// Changes a person's password.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { lockOwnUser } from '../../db/accounts/own-account.ts';
import { deleteSessionsOfUser, renewSession } from '../../db/accounts/session.ts';
import { setPassword } from '../../db/accounts/user.ts';
import type { ByPerson } from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';

export type ChangePassword = PasswordAttempt & ByPerson & { readonly tokenSha256: Buffer; readonly newHash: string };

/**
 * The session's new token. The old token is invalid, and every other session of the person has ended, at every
 * merchant. Throws `permission_denied`; then nothing changes.
 */
export async function changePassword(db: Database, input: ChangePassword): Promise<{ readonly token: string }> {
  const { by, at } = input;
  const { userId, secondFactorAt } = by.person;
  return db.withTransaction(async (tx) => {
    await lockOwnUser(tx, input);
    const { token, sha256 } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt });
    await setPassword(tx, userId, input.newHash);
    await deleteSessionsOfUser(tx, userId, sha256);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'password.changed', subjectId: userId, at });
    return { token };
  });
}
