// A merchant's policy: read it, change it or propose a change, decide on one, withdraw one.
import { policyObject, type ServiceLimits } from '../../../domain/accounts/policy.ts';
import { changePolicy, getPolicy } from '../../../operations/accounts/change-policy.ts';
import { decideProposal, withdrawProposal } from '../../../operations/accounts/decide-proposal.ts';
import { routeUnder, type RouteDeps, type UnboundRoute } from '../../route.ts';
import {
  changePolicySchema,
  policyChangeObject,
  policyChangeSchema,
  policySchema,
  policyValuesSchema,
  proposedPolicyChangeSchema,
} from '../../schemas/accounts/policy.ts';
import { definedFields } from '../../validation.ts';

const route = routeUnder<PolicyDeps>('Console policy');
const PATH = '/v1/console/policy';
const ROLES = ['admin'] as const;

export type PolicyDeps = RouteDeps & {
  /** The rules that apply if a merchant's policy has none. */
  readonly serviceLimits: ServiceLimits;
};

export const policyRoutes: readonly UnboundRoute<PolicyDeps>[] = [
  route(`GET ${PATH}`, {
    operationId: 'getPolicy',
    summary: 'Read the policy and its proposed changes',
    access: 'session',
    response: { status: 200, description: 'The policy in force.', schema: policySchema },
    handle: async ({ merchantId }, deps) => {
      const { policy, pending } = await getPolicy(deps.db, merchantId, new Date());
      return { body: { ...policyObject(policy), pending_changes: pending.map(policyChangeObject) } };
    },
  }),
  route(`PATCH ${PATH}`, {
    operationId: 'changePolicy',
    summary: 'Change the policy, or propose it',
    description:
      'A change that loosens no rule applies at once. A change that loosens any rule waits up to 7 days for the ' +
      'approval of a second owner or admin. Either change replaces your pending proposal. In a form an empty field is ' +
      'null.',
    access: { roles: ROLES },
    needsStepUp: true,
    body: changePolicySchema,
    response: { status: 200, description: 'The policy, now in force.', schema: policyValuesSchema },
    waitingResponse: { description: 'Proposed. The policy is unchanged.', schema: proposedPolicyChangeSchema },
    handle: async ({ body, by }, deps) => {
      const { serviceLimits } = deps;
      const changed = await changePolicy(deps.db, { changes: definedFields(body), serviceLimits, by, at: new Date() });
      if (changed.kind === 'changed') return { body: policyObject(changed.policy) };
      const { change, hasSecondPerson } = changed;
      return { status: 202, body: { ...policyChangeObject(change), needs_second_person: !hasSecondPerson } };
    },
  }),
  decideRoute('approve'),
  decideRoute('reject'),
  route(`DELETE ${PATH}/changes/{id}`, {
    operationId: 'withdrawPolicyChange',
    summary: 'Withdraw a change of the policy that you proposed',
    access: { roles: ROLES },
    idPrefix: 'pch',
    response: { status: 204, description: 'Nobody can approve the proposal any more.' },
    errors: ['state_conflict'],
    handle: ({ id, by }, deps) => withdrawProposal(deps.db, { kind: 'policy_change', id, by, at: new Date() }),
  }),
];

function decideRoute(verb: 'approve' | 'reject'): UnboundRoute<PolicyDeps> {
  return route(`POST ${PATH}/changes/{id}/${verb}`, {
    operationId: `${verb}PolicyChange`,
    summary: verb === 'approve' ? 'Approve a proposed change of the policy' : 'Reject a proposed change of the policy',
    description:
      verb === 'approve'
        ? 'The proposer cannot approve the change.'
        : 'The proposer cannot reject the change, but can withdraw it.',
    access: { roles: ROLES },
    // Rejecting is never kept from anybody.
    ...(verb === 'approve' && { needsStepUp: true }),
    idPrefix: 'pch',
    response: { status: 200, description: 'The decided proposal.', schema: policyChangeSchema },
    errors: ['state_conflict'],
    handle: async ({ id, by }, deps) => {
      const decision = verb === 'approve' ? 'approved' : 'rejected';
      const input = { kind: 'policy_change', id, decision, by, at: new Date() } as const;
      return { body: policyChangeObject((await decideProposal(deps.db, input)).proposal) };
    },
  });
}
