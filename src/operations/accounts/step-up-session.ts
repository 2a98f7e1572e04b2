// Proves a person anew in the middle of a session: by the second factor, or by the password where there is none.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { renewSession } from '../../db/accounts/session.ts';
import { findUserLocked } from '../../db/accounts/user.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import type { KeyRing } from '../../security/sealing.ts';
import { newToken } from '../../security/token.ts';

export type StepUpSession = {
  readonly tokenSha256: Buffer;
  readonly code: string | null;
  /** The hash that the given password fits; null: none was given, or it does not fit. */
  readonly verifiedHash: string | null;
  readonly keyRing: KeyRing;
  /** What `beginProof` counted. */
  readonly counted: readonly string[];
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token; the old one is dead. After a one-time code the second factor counts as fresh. A person who has
 * a second factor steps up with that alone. Throws `permission_denied`; then the session stays as it was.
 */
export async function stepUpSession(db: Database, input: StepUpSession): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (!user) throw permissionDenied('no such account');
    const hasFactor = user.totpSecretSealed !== null;
    const isVerified = hasFactor
      ? await useTotpCode(tx, user, input.code, input)
      : user.passwordHash === input.verifiedHash;
    if (!isVerified) throw permissionDenied(hasFactor ? 'wrong, used or missing one-time code' : 'wrong password');
    const { token, sha256 } = newToken();
    const isRenewed = await renewSession(tx, input.tokenSha256, {
      tokenSha256: sha256,
      at,
      secondFactorAt: hasFactor ? at : null,
    });
    if (!isRenewed) throw permissionDenied('the session has ended');
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'session.stepped_up', subjectId: user.id, at });
    return { token };
  });
}
