// Recovers the account of a person who lost password or second factor, with the token on which two of the staff agreed.
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import { listMerchantsOf, lockMembers } from '../../db/accounts/member.ts';
import { deletePasskeys } from '../../db/accounts/passkey.ts';
import { deleteRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { lockMemberships } from '../../db/accounts/recovery-guard.ts';
import { findRecovery, useRecovery } from '../../db/accounts/recovery.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser } from '../../db/accounts/session.ts';
import { findUserLocked, markRecovered, removeTotp, setPassword } from '../../db/accounts/user.ts';
import { withdrawOnRecovery } from '../../db/accounts/withdraw-on-recovery.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { recoveryRefused } from '../../domain/accounts/member.ts';
import type { UserId } from '../../domain/ids.ts';
import type { CountedAttempt } from '../../security/attempt-limit.ts';

export type RecoverAccount = CountedAttempt & {
  readonly tokenSha256: Buffer;
  readonly newHash: string;
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

/**
 * Gives the person the new password, removes their second factors and recovery codes, and ends their sessions at every
 * merchant. A person who had a second factor must enrol another one before anything else. The token is used up: of two
 * concurrent uses, one succeeds. Pending proposals of the person are withdrawn. Every merchant of the person gets an
 * audit entry. Throws `permission_denied`; then nothing changes.
 */
export async function recoverAccount(db: Database, input: RecoverAccount): Promise<void> {
  const { at } = input;
  await db.withTransaction(async (tx) => {
    // The user before the recovery, locked in the order of a request: otherwise the two could deadlock.
    const userId = await findRecovery(tx, input.tokenSha256, at);
    if (userId) await lockMerchantsOf(tx, userId);
    const user = userId && (await findUserLocked(tx, userId));
    if (!user || !(await useRecovery(tx, input.tokenSha256, at))) throw recoveryRefused();
    await setPassword(tx, user.id, input.newHash);
    await markRecovered(tx, user.id, at);
    const hadFactor = hasAny(factorsOf(user));
    await removeTotp(tx, user.id);
    await deletePasskeys(tx, user.id);
    await deleteRecoveryCodes(tx, user.id);
    await deleteSessionsOfUser(tx, user.id, null);
    await uncountAttempts(tx, input.counted, at);
    await lockMemberships(tx, user.id);
    const merchants = (await listMerchantsOf(tx, user.id)).map(({ id }) => id);
    const { address, requestId } = input;
    for (const merchantId of merchants.length === 0 ? [null] : merchants) {
      await insertAuditEntry(tx, {
        merchantId,
        userId: user.id,
        action: 'recovery.used',
        outcome: 'done',
        subjectId: user.id,
        before: { has_second_factor: hadFactor },
        after: { has_second_factor: false },
        address,
        requestId,
        at,
      });
    }
    await withdrawOnRecovery(tx, { userId: user.id, merchants, address, requestId, at });
  });
}

// A concurrent proposal or approval of the person either precedes these locks and is withdrawn, or waits for them and
// is refused. Merchants are locked before the person, as in the acceptance of an invitation.
async function lockMerchantsOf(tx: Tx, userId: UserId): Promise<void> {
  const ids = (await listMerchantsOf(tx, userId)).map(({ id }) => id);
  for (const id of ids.sort()) await lockMembers(tx, id);
}
