// Starts the enrolment of a second factor: the secret takes effect when the person confirms it with a code.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { findUserLocked, setPendingTotp } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { generateTotpSecret } from '../../security/totp.ts';

export type StartSecondFactor = PasswordAttempt & {
  readonly keyRing: KeyRing;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The secret, which is shown this once. Starting again creates another secret in place of the first. Throws
 * `permission_denied`, and `state_conflict` when the person has a second factor already.
 */
export async function startSecondFactor(
  db: Database,
  input: StartSecondFactor,
): Promise<{ readonly secret: string; readonly email: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw permissionDenied('wrong password');
    if (user.totpSecretSealed !== null) {
      throw new DomainError('state_conflict', 'You have a second factor already. Remove it before you enrol another.');
    }
    const secret = generateTotpSecret();
    await setPendingTotp(tx, user.id, seal(secret, user.id, input.keyRing));
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, { action: 'second_factor.started', subjectId: user.id, at });
    return { secret, email: user.email };
  });
}
