// Reads a merchant's policy, and changes it: at once if no rule becomes looser, else by a proposal.
import { recordAct } from '../../db/accounts/audit.ts';
import { findRoles, listMembers } from '../../db/accounts/member.ts';
import { findPolicy, putPolicy } from '../../db/accounts/policy.ts';
import { listOpenProposals, findProposal, insertProposal, replaceProposals } from '../../db/accounts/proposal.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type ByPerson } from '../../domain/accounts/member.ts';
import {
  changedPolicy,
  isLooser,
  policyObject,
  type Policy,
  type PolicyObject,
  type ServiceLimits,
} from '../../domain/accounts/policy.ts';
import { pendingUntilExpiry, type PolicyChange } from '../../domain/accounts/proposal.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';

/** The policy, which has the defaults if the merchant never changed it. `pending` excludes expired proposals. */
export async function getPolicy(
  db: Database,
  merchantId: MerchantId,
  at: Date,
): Promise<{ readonly policy: Policy; readonly pending: readonly PolicyChange[] }> {
  return db.withTransaction(async (tx) => ({
    policy: await findPolicy(tx, merchantId),
    pending: await listOpenProposals(tx, 'policy_change', merchantId, at),
  }));
}

export type ChangePolicy = ByPerson & {
  readonly changes: Partial<PolicyObject>;
  /** The values that apply if the policy is null. */
  readonly serviceLimits: ServiceLimits;
};

export type ChangedPolicy =
  | { readonly kind: 'changed'; readonly policy: Policy }
  | { readonly kind: 'waiting'; readonly change: PolicyChange; readonly hasSecondPerson: boolean };

/**
 * A change that makes no rule looser applies at once. Any other change waits: the policy stays unchanged, and the
 * result says whether the merchant has another person who can approve it. Either change replaces a pending proposal by
 * the same person. Throws `permission_denied`.
 */
export async function changePolicy(db: Database, input: ChangePolicy): Promise<ChangedPolicy> {
  const { merchantId, userId } = input.by.person;
  return db.withTransaction(async (tx) => {
    // Otherwise a concurrent change could make this one looser than it was when it was compared.
    await lockMembersAs(tx, input.by);
    if (!holdsOneOf(await findRoles(tx, merchantId, userId), ['admin'])) throw permissionDenied('no longer an admin');
    const before = await findPolicy(tx, merchantId);
    const after = changedPolicy(before, input.changes);
    return isLooser(before, after, input.serviceLimits)
      ? propose(tx, before, input)
      : apply(tx, { before, after }, input);
  });
}

async function apply(
  tx: Tx,
  { before, after }: { readonly before: Policy; readonly after: Policy },
  { by, at }: ChangePolicy,
): Promise<ChangedPolicy> {
  const { merchantId } = by.person;
  await putPolicy(tx, merchantId, after, at);
  const values = { before: policyObject(before), after: policyObject(after) };
  await recordAct(tx, by, { action: 'policy.changed', subjectId: merchantId, ...values, at });
  await replaceProposals(tx, ownOf(by), { by, replacedBy: null, at });
  return { kind: 'changed', policy: after };
}

async function propose(tx: Tx, policy: Policy, { changes, by, at }: ChangePolicy): Promise<ChangedPolicy> {
  const { merchantId, userId } = by.person;
  const id = newId('pch', at.getTime());
  const before = policyObject(policy);
  await recordAct(tx, by, { action: 'policy_change.proposed', subjectId: id, before, after: changes, at });
  await replaceProposals(tx, ownOf(by), { by, replacedBy: id, at });
  const proposed = { kind: 'policy_change', id, merchantId, changes, proposedBy: userId } as const;
  await insertProposal(tx, { ...proposed, ...pendingUntilExpiry(at) });
  const change = await findProposal(tx, 'policy_change', merchantId, id);
  if (!change) throw new Error(`proposal ${id} was not found after it was created`);
  const others = (await listMembers(tx, merchantId)).filter((member) => member.userId !== userId);
  return { kind: 'waiting', change, hasSecondPerson: others.some(({ roles }) => holdsOneOf(roles, ['admin'])) };
}

/** The pending policy changes that this person proposed. */
function ownOf({ person: { merchantId, userId } }: ActedBy) {
  return { merchantId, userId: null, proposer: userId, withRemovals: true };
}
