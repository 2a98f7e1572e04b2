// Verifies a person again within a session: by the second factor, or by the password of a person who has none.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { renewSession } from '../../db/accounts/session.ts';
import { findUserLocked } from '../../db/accounts/user.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';

export type StepUpSession = PasswordAttempt & {
  readonly tokenSha256: Buffer;
  readonly code: string | null;
  readonly keyRing: KeyRing;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token; the old one is invalid. After a one-time code the second factor counts as fresh. A person
 * who has a second factor can step up only with it. Throws `permission_denied`; then the session stays as it was.
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
    const { token } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: hasFactor ? at : null });
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'session.stepped_up', subjectId: user.id, at });
    return { token };
  });
}
