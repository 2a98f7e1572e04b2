// Begins the enrolment of a second factor: a secret that counts once a code of it was shown.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { findUserLocked, setPendingTotp } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { generateTotpSecret } from '../../security/totp.ts';

export type StartSecondFactor = {
  /** The hash that the given password fits; null: it does not fit. */
  readonly verifiedHash: string | null;
  readonly keyRing: KeyRing;
  /** What `beginProof` counted. */
  readonly counted: readonly string[];
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The secret, which nobody can see again. Starting again makes another and forgets the first. Throws `permission_denied`,
 * and `state_conflict` when there is a second factor already.
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
