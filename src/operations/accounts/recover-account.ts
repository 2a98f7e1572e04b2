// Sets a new password for a person who presents a recovery token.
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { listMerchantsOf } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { findRecovery, useRecovery } from '../../db/accounts/recovery.ts';
import { deleteRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { deletePasskeys } from '../../db/accounts/passkey.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser } from '../../db/accounts/session.ts';
import { findUserLocked, markRecovered, removeTotp, setPassword } from '../../db/accounts/user.ts';
import { notAuthenticated } from '../../domain/accounts/member.ts';
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
 * people who present it at the same moment, only one succeeds. Every merchant of the person gets an audit entry. Throws `permission_denied`; then nothing changes.
 */
export async function recoverAccount(db: Database, input: RecoverAccount): Promise<void> {
  const { at } = input;
  await db.withTransaction(async (tx) => {
    // The user before the recovery, as a request locks them: otherwise the two could deadlock.
    const userId = await findRecovery(tx, input.tokenSha256, at);
    const user = userId && (await findUserLocked(tx, userId));
    if (!user || !(await useRecovery(tx, input.tokenSha256, at))) throw notAuthenticated('no such recovery');
    await setPassword(tx, user.id, input.newHash);
    await markRecovered(tx, user.id, at);
    const hadFactor = hasAny(factorsOf(user));
    await removeTotp(tx, user.id);
    await deletePasskeys(tx, user.id);
    await deleteRecoveryCodes(tx, user.id);
    await deleteSessionsOfUser(tx, user.id, null);
    await uncountAttempts(tx, input.counted, at);
    const merchants = await listMerchantsOf(tx, user.id);
    for (const merchantId of merchants.length === 0 ? [null] : merchants.map(({ id }) => id)) {
      await insertAuditEntry(tx, {
        merchantId,
        userId: user.id,
        action: 'recovery.used',
        outcome: 'done',
        subjectId: user.id,
        before: { has_second_factor: hadFactor },
        after: { has_second_factor: false },
        address: input.address,
        requestId: input.requestId,
        at,
      });
    }
  });
}
