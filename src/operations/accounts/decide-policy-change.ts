// Approves or rejects a proposal to change a merchant's policy.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import { endPolicyChange, findPolicyChange } from '../../db/accounts/policy-change.ts';
import { findPolicy, putPolicy } from '../../db/accounts/policy.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { holdsOneOf, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { changedPolicy, policyChangeNotFound, policyObject, type PolicyChange } from '../../domain/accounts/policy.ts';

export type DecidePolicyChange = {
  readonly id: string;
  readonly decision: 'approved' | 'rejected';
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The decided proposal. Once approved, its changes are part of the policy. A proposal is decided once: of two decisions
 * at the same moment, one applies. Throws `policy_change_not_found`, `permission_denied` for the proposer, and
 * `state_conflict` when the proposal was decided or replaced or has expired, or its proposer may no longer propose it.
 */
export async function decidePolicyChange(db: Database, input: DecidePolicyChange): Promise<PolicyChange> {
  const { id, decision, by, at } = input;
  const { merchantId, userId } = by.person;
  return db.withTransaction(async (tx) => {
    // Without the lock, each of two simultaneous approvals would undo what the other changed.
    await lockMembersAs(tx, by);
    const change = isId('pch', id) ? await findPolicyChange(tx, merchantId, id) : null;
    if (!change) throw policyChangeNotFound();
    if (!holdsOneOf(await findRoles(tx, merchantId, userId), ['admin'])) throw permissionDenied('no longer an admin');
    if (decision === 'approved' && !holdsOneOf(await findRoles(tx, merchantId, change.proposedBy.id), ['admin'])) {
      throw new DomainError('state_conflict', 'The proposer no longer has permission. Create a new proposal.');
    }
    if (change.proposedBy.id === userId) throw permissionDenied('decides on a proposal of their own');
    if (!(await endPolicyChange(tx, change.id, { state: decision, by: userId, at }))) {
      throw new DomainError('state_conflict', 'This proposal was decided or replaced, or it has expired.');
    }
    if (decision === 'approved') {
      const policy = await findPolicy(tx, merchantId);
      const next = changedPolicy(policy, change.changes);
      await putPolicy(tx, merchantId, next, at);
      const values = { before: policyObject(policy), after: policyObject(next) };
      await recordAct(tx, by, { action: 'policy_change.approved', subjectId: change.id, ...values, at });
    } else {
      await recordAct(tx, by, { action: 'policy_change.rejected', subjectId: change.id, before: change.changes, at });
    }
    const decided = await findPolicyChange(tx, merchantId, change.id);
    if (!decided) throw policyChangeNotFound();
    return decided;
  });
}
