// Names and removes a person's own passkeys.
import { recordAct } from '../../db/accounts/audit.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { listRolesOf } from '../../db/accounts/member.ts';
import { deletePasskey, renamePasskey } from '../../db/accounts/passkey.ts';
import { deleteRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { findFactors, hasAny } from '../../db/accounts/second-factor.ts';
import { forgetSecondFactor } from '../../db/accounts/session.ts';
import { findUserLocked } from '../../db/accounts/user.ts';
import { DomainError, notFound } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { requiresSecondFactor, type ActedBy, verificationFailed } from '../../domain/accounts/member.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';

/** Throws `passkey_not_found`. */
export async function namePasskey(
  db: Database,
  { id, name }: { readonly id: string; readonly name: string },
  by: ActedBy,
  at: Date,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    if (!isId('psk', id) || !(await renamePasskey(tx, by.person.userId, id, name))) throw notFound('passkey');
    await recordAct(tx, by, { action: 'passkey.named', subjectId: id, after: { name }, at });
  });
}

export type RemovePasskey = PasswordAttempt & { readonly id: string; readonly by: ActedBy; readonly at: Date };

/**
 * The passkey opens nothing any more. Throws `permission_denied` for a wrong password, `passkey_not_found`, and `state_conflict`
 * when it is the last second factor of a person whose roles, at any merchant, require one.
 */
export async function removePasskey(db: Database, input: RemovePasskey): Promise<void> {
  const { id, by, at } = input;
  const { userId } = by.person;
  const isFound = await db.withTransaction(async (tx) => {
    // The lock keeps a simultaneous removal of the other factor out.
    const user = await findUserLocked(tx, userId);
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    const name = isId('psk', id) ? await deletePasskey(tx, userId, id) : null;
    // The password was right, so the attempt was no failed guess, whatever the id names.
    await uncountAttempts(tx, input.counted, at);
    if (name === null) return false;
    await forgetLastFactor(tx, by);
    await recordAct(tx, by, { action: 'passkey.removed', subjectId: id, before: { name }, at });
    return true;
  });
  if (!isFound) throw notFound('passkey');
}

async function forgetLastFactor(tx: Tx, { person: { userId } }: ActedBy): Promise<void> {
  if (hasAny(await findFactors(tx, userId))) return;
  if (requiresSecondFactor(await listRolesOf(tx, userId))) {
    throw new DomainError(
      'state_conflict',
      'One of your roles requires a second factor. Enrol another one before you remove this one.',
    );
  }
  await deleteRecoveryCodes(tx, userId);
  await forgetSecondFactor(tx, userId);
}
