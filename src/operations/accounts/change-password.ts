// Changes a person's password.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { deleteOtherSessions, renewSession } from '../../db/accounts/session.ts';
import { findUserLocked, setPassword } from '../../db/accounts/user.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { newToken } from '../../security/token.ts';

export type ChangePassword = {
  readonly tokenSha256: Buffer;
  /** The hash that the present password fits; null: it does not fit. */
  readonly verifiedHash: string | null;
  readonly newHash: string;
  /** What `beginProof` counted. */
  readonly counted: readonly string[];
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token. Every other session of the person, at whichever merchant, is dead, and so is this one's old
 * token. Throws `permission_denied`; then nothing is changed.
 */
export async function changePassword(db: Database, input: ChangePassword): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw permissionDenied('wrong password');
    const { token, sha256 } = newToken();
    const { secondFactorAt } = by.person;
    if (!(await renewSession(tx, input.tokenSha256, { tokenSha256: sha256, at, secondFactorAt }))) {
      throw permissionDenied('the session has ended');
    }
    await setPassword(tx, by.person.userId, input.newHash);
    await deleteOtherSessions(tx, by.person.userId, sha256);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'password.changed', subjectId: by.person.userId, at });
    return { token };
  });
}
