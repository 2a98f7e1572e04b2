// Removes a person's own second factor.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { listRolesOf } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { deleteRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { forgetSecondFactor, renewSession } from '../../db/accounts/session.ts';
import { findUserLocked, removeTotp } from '../../db/accounts/user.ts';
import { requiresSecondFactor, type ActedBy, verificationFailed } from '../../domain/accounts/member.ts';
import { DomainError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/ids.ts';
import type { PasswordAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';

export type RemoveSecondFactor = PasswordAttempt & {
  readonly tokenSha256: Buffer;
  readonly code: string;
  readonly keyRing: KeyRing;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The session's new token. No session of the person counts as verified by the factor any more. Throws
 * `permission_denied` when the password or the code is wrong, or the person has no second factor; and `state_conflict`
 * when a role of theirs, at any merchant, requires one. Then nothing changes.
 */
export async function removeSecondFactor(db: Database, input: RemoveSecondFactor): Promise<{ readonly token: string }> {
  const { by, at } = input;
  return db.withTransaction(async (tx) => {
    const user = await findUserLocked(tx, by.person.userId);
    if (user?.passwordHash !== input.verifiedHash) throw verificationFailed('wrong password');
    if (!(await useTotpCode(tx, user, input.code, input))) throw verificationFailed('wrong or used one-time code');
    const isLast = user.passkeyIds.length === 0;
    if (isLast) await requireNoneNeeded(tx, user.id);
    await removeTotp(tx, user.id);
    if (isLast) await deleteRecoveryCodes(tx, user.id);
    await forgetSecondFactor(tx, user.id);
    const { token } = await renewSession(tx, input.tokenSha256, { at, secondFactorAt: null });
    await uncountAttempts(tx, input.counted, at);
    const change = { before: { has_second_factor: true }, after: { has_second_factor: !isLast } };
    await recordAct(tx, by, { action: 'second_factor.removed', subjectId: user.id, ...change, at });
    return { token };
  });
}

async function requireNoneNeeded(tx: Tx, userId: UserId): Promise<void> {
  if (!requiresSecondFactor(await listRolesOf(tx, userId))) return;
  throw new DomainError(
    'state_conflict',
    'One of your roles requires a second factor. Enrol another one before you remove this one.',
  );
}
