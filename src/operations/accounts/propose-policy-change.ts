// Proposes a change of a merchant's policy for a second person to approve or reject.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { findRoles, listMembers, lockMembers } from '../../db/accounts/member.ts';
import { findPolicyChange, insertPolicyChange, replacePendingPolicyChange } from '../../db/accounts/policy-change.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { newId } from '../../domain/ids.ts';
import { holdsOneOf, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { policyObject, type PolicyChange, type PolicyObject } from '../../domain/accounts/policy.ts';
import { PROPOSAL_LIFE_MS } from '../../domain/accounts/proposal.ts';

export type ProposePolicyChange = {
  readonly changes: Partial<PolicyObject>;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The proposal, and whether the merchant has another person who can approve it. The policy does not change yet. A
 * pending proposal by the same person is replaced. Throws `permission_denied`.
 */
export async function proposePolicyChange(
  db: Database,
  { changes, by, at }: ProposePolicyChange,
): Promise<{ readonly change: PolicyChange; readonly hasSecondPerson: boolean }> {
  const { merchantId, userId } = by.person;
  const id = newId('pch', at.getTime());
  return db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    if (!holdsOneOf(await findRoles(tx, merchantId, userId), ['admin'])) throw permissionDenied('no longer an admin');
    const replaced = await replacePendingPolicyChange(tx, merchantId, userId, at);
    const expiresAt = new Date(at.getTime() + PROPOSAL_LIFE_MS);
    await insertPolicyChange(tx, { id, merchantId, changes, proposedBy: userId, createdAt: at, expiresAt });
    const before = policyObject(await findPolicy(tx, merchantId));
    await recordAct(tx, by, { action: 'policy_change.proposed', subjectId: id, before, after: changes, at });
    if (replaced !== null) {
      const next = { replaced_by: id };
      await recordAct(tx, by, { action: 'policy_change.replaced', subjectId: replaced, after: next, at });
    }
    const change = await findPolicyChange(tx, merchantId, id);
    if (!change) throw new Error(`proposal ${id} is not there after it was made`);
    const others = (await listMembers(tx, merchantId)).filter((member) => member.userId !== userId);
    return { change, hasSecondPerson: others.some(({ roles }) => holdsOneOf(roles, ['admin'])) };
  });
}
