// Approves a requested recovery as the second one of the staff, and makes its token.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { listMerchantsOf } from '../../db/accounts/member.ts';
import { approveRecovery as approveRow, findRecoveryRequestLocked } from '../../db/accounts/recovery.ts';
import { findUser } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Staff } from '../../domain/accounts/staff.ts';
import type { RecoveryId } from '../../domain/ids.ts';
import { RECOVERY_LIFE_MS, recoveryNotFound, type RecoveryRequest } from '../../domain/accounts/recovery.ts';
import { newToken } from '../../security/token.ts';

export type ApproveRecovery = { readonly id: RecoveryId; readonly by: Staff; readonly at: Date };

export type ApprovedRecovery = {
  readonly request: RecoveryRequest;
  /** Works once, within 24 hours. It is shown this once. */
  readonly token: string;
};

/**
 * The token, with an entry in the audit log of every merchant of the person. A recovery is approved once: of two
 * approvals at the same moment, one gets a token. Throws `state_conflict` when no such recovery waits, and
 * when the one who approves it requested it, which the database refuses too.
 */
export async function approveRecovery(db: Database, { id, by, at }: ApproveRecovery): Promise<ApprovedRecovery> {
  const { token, sha256 } = newToken();
  return db.withTransaction(async (tx) => {
    const request = await findRecoveryRequestLocked(tx, id, at);
    if (!request) throw recoveryNotFound();
    if (request.requestedBy === by) {
      throw new DomainError('state_conflict', 'another one of the staff approves it than the one who requested it');
    }
    const expiresAt = new Date(at.getTime() + RECOVERY_LIFE_MS);
    await approveRow(tx, id, { by, at, tokenSha256: sha256, expiresAt });
    const user = await findUser(tx, request.person.id);
    if (!user) throw recoveryNotFound();
    // Of the verified row: to this address the token goes.
    const person = { id: user.id, name: user.name, email: user.email };
    const { requestedBy } = request;
    const merchants = await listMerchantsOf(tx, person.id);
    const after = { requested_by: requestedBy, expires_at: expiresAt };
    const act = { action: 'recovery.approved', subjectId: person.id, after, at };
    for (const merchant of merchants) await recordStaffAct(tx, merchant.id, by, act);
    if (merchants.length === 0) await recordStaffAct(tx, null, by, act);
    return { request: { ...request, person }, token };
  });
}
