// Withdraws a proposal to change the policy.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import { endPolicyChange, findPolicyChange } from '../../db/accounts/policy-change.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { policyChangeNotFound } from '../../domain/accounts/policy.ts';

/**
 * Nobody can approve the proposal when this returns. Throws `policy_change_not_found`, `permission_denied` for anybody
 * but its proposer, and `state_conflict` when it is no longer pending.
 */
export async function withdrawPolicyChange(db: Database, id: string, by: ActedBy, at: Date): Promise<void> {
  const { merchantId, userId } = by.person;
  await db.withTransaction(async (tx) => {
    await lockMembersAs(tx, by);
    const change = isId('pch', id) ? await findPolicyChange(tx, merchantId, id) : null;
    if (!change) throw policyChangeNotFound();
    if (change.proposedBy.id !== userId) throw permissionDenied('withdraws what somebody else proposed');
    if (!(await endPolicyChange(tx, change.id, { state: 'withdrawn', by: null, at }))) {
      throw new DomainError('state_conflict', 'This proposal was decided or replaced, or it has expired.');
    }
    await recordAct(tx, by, { action: 'policy_change.withdrawn', subjectId: change.id, before: change.changes, at });
  });
}
