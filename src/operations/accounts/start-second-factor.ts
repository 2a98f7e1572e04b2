// Starts the enrolment of a second factor: the secret takes effect when the person confirms it with a code.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { findUserLocked, setPendingTotp } from '../../db/accounts/user.ts';
import {
  hasFreshSecondFactor,
  permissionDenied,
  type ActedBy,
  verificationFailed,
} from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { generateTotpSecret } from '../../security/totp.ts';

export type StartSecondFactor = PasswordAttempt & {
  readonly keyRing: KeyRing;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The secret, which is shown this once. Starting again creates another secret in place of the first. The one that a
 * person has counts until the new one is confirmed. Throws `permission_denied`, also when the person has one and did not
 * verify a second factor within five minutes, by a code or a recovery code.
 */
export async function startSecondFactor(
  db: Database,
  input: StartSecondFactor,
): Promise<{ readonly secret: string; readonly email: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    // Whoever has the password alone, or a session that was left open, must not exchange the factor.
    // By the row that is verified and locked, and not by what the session read before.
    const hasFactor = hasAny(factorsOf(user));
    if (hasFactor && !hasFreshSecondFactor(by.person, at)) throw permissionDenied('needs a step-up first');
    const secret = generateTotpSecret();
    await setPendingTotp(tx, user.id, seal(secret, user.id, input.keyRing));
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'second_factor.started', subjectId: user.id, at });
    return { secret, email: user.email };
  });
}
