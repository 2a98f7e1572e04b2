// Takes a person's second factor away, at their own wish.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { forgetSecondFactor, renewSession } from '../../db/accounts/session.ts';
import { findUserLocked, removeTotp } from '../../db/accounts/user.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import type { KeyRing } from '../../security/sealing.ts';
import { newToken } from '../../security/token.ts';

export type RemoveSecondFactor = {
  readonly tokenSha256: Buffer;
  /** The hash that the given password fits; null: it does not fit. */
  readonly verifiedHash: string | null;
  readonly code: string;
  readonly keyRing: KeyRing;
  /** What `beginProof` counted. */
  readonly counted: readonly string[];
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token. What any session of the person had proved with the factor counts no more. Throws
 * `permission_denied` when password or code is wrong, or there is no factor; then nothing is changed.
 */
export async function removeSecondFactor(db: Database, input: RemoveSecondFactor): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw permissionDenied('wrong password');
    if (!(await useTotpCode(tx, user, input.code, input))) throw permissionDenied('wrong or used one-time code');
    await removeTotp(tx, user.id);
    await forgetSecondFactor(tx, user.id);
    const { token, sha256 } = newToken();
    if (!(await renewSession(tx, input.tokenSha256, { tokenSha256: sha256, at, secondFactorAt: null }))) {
      throw permissionDenied('the session has ended');
    }
    await uncountAttempts(tx, input.counted, at);
    const change = { before: { has_second_factor: true }, after: { has_second_factor: false } };
    await recordAct(tx, by, { action: 'second_factor.removed', subjectId: user.id, ...change, at });
    return { token };
  });
}
