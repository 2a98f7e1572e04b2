// Requests the recovery of a person who lost their password or second factor, in the name of one of the staff.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { listMerchantsOf } from '../../db/accounts/member.ts';
import { replaceRecovery } from '../../db/accounts/recovery.ts';
import { findUserByEmail, findUserLocked } from '../../db/accounts/user.ts';
import type { Staff } from '../../domain/accounts/staff.ts';
import { newId, type RecoveryId, type UserId } from '../../domain/ids.ts';
import { RECOVERY_LIFE_MS } from '../../domain/accounts/recovery.ts';

export type RequestRecovery = {
  readonly email: string;
  /** For the second one of the staff, and for the service's own audit log. No merchant reads it: it may say what concerns the person alone. */
  readonly reason: string;
  readonly by: Staff;
  readonly at: Date;
};

export type RequestedRecovery = {
  readonly id: RecoveryId;
  readonly userId: UserId;
  readonly name: string;
  /** The names of the merchants whose audit logs record it. */
  readonly merchants: readonly string[];
};

/**
 * The recovery, which opens nothing until another one of the staff approves it, within 24 hours. An earlier recovery of
 * the same person is gone, with its token if it has one. Null when no user has this e-mail.
 */
export async function requestRecovery(db: Database, input: RequestRecovery): Promise<RequestedRecovery | null> {
  const { email, reason, by, at } = input;
  return db.withTransaction(async (tx) => {
    const found = await findUserByEmail(tx, email);
    const user = found && (await findUserLocked(tx, found.id));
    if (!user) return null;
    const id = newId('rcv', at.getTime());
    const expiresAt = new Date(at.getTime() + RECOVERY_LIFE_MS);
    await replaceRecovery(tx, { id, userId: user.id, reason, requestedBy: by, createdAt: at, expiresAt });
    const merchants = await listMerchantsOf(tx, user.id);
    const act = { action: 'recovery.requested', subjectId: user.id, at };
    await recordStaffAct(tx, null, by, { ...act, after: { reason, expires_at: expiresAt } });
    for (const merchant of merchants)
      await recordStaffAct(tx, merchant.id, by, { ...act, after: { expires_at: expiresAt } });
    return { id, userId: user.id, name: user.name, merchants: merchants.map(({ name }) => name) };
  });
}
