// Gives a person new recovery codes in place of those that they have.
import { recordAct } from '../../db/accounts/audit.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import type { Database } from '../../db/platform/database.ts';
import { deleteRecoveryCodes, insertRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { findUserLocked } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import { type ActedBy, verificationFailed } from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import { newRecoveryCode, readRecoveryCode, RECOVERY_CODES } from '../../security/recovery-code.ts';

export type CreateRecoveryCodes = PasswordAttempt & { readonly by: ActedBy; readonly at: Date };

/**
 * Ten codes, which are shown this once; each works once. All earlier ones are invalid. Throws `permission_denied` for a wrong
 * password, and `state_conflict` for a person without a second factor, whom a code would not help.
 */
export async function createRecoveryCodes(db: Database, input: CreateRecoveryCodes): Promise<readonly string[]> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    if (!hasAny(factorsOf(user))) {
      throw new DomainError('state_conflict', 'You have no second factor. Enrol one before you create recovery codes.');
    }
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await deleteRecoveryCodes(tx, user.id);
    const stored = codes.map(readRecoveryCode).filter((code) => code !== null);
    await insertRecoveryCodes(tx, user.id, stored, at);
    await uncountAttempts(tx, input.counted, at);
    await recordAct(tx, by, {
      action: 'recovery_codes.created',
      subjectId: user.id,
      after: { left: codes.length },
      at,
    });
    return codes;
  });
}
