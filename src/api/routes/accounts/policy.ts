// A merchant's policy: read it, change it or propose a change, decide on one, withdraw one.
import { policyObject, type ServiceLimits } from '../../../domain/accounts/policy.ts';
import { changePolicy, getPolicy } from '../../../operations/accounts/change-policy.ts';
import { decideProposal } from '../../../operations/accounts/decide-proposal.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import {
  changePolicySchema,
  policyChangeObject,
  policyChangeSchema,
  policySchema,
  policyValuesSchema,
  proposedPolicyChangeSchema,
} from '../../schemas/accounts/policy.ts';
import { definedFields } from '../../validation.ts';
import { changeProposalRoutes } from './change-proposals.ts';

const ROLES = ['admin'] as const;

export type PolicyDeps = RouteDeps & {
  /** The rules that apply if a merchant's policy has none. */
  readonly serviceLimits: ServiceLimits;
};

const changes = changeProposalRoutes({
  kind: 'policy_change',
  idPrefix: 'pch',
  path: '/changes',
  noun: 'PolicyChange',
  schema: policyChangeSchema,
  decide: async (db, decision) =>
    policyChangeObject((await decideProposal(db, { kind: 'policy_change', ...decision })).proposal),
  texts: {
    changed: 'the policy',
    approve: 'The proposer cannot approve the change.',
    reject: 'The proposer cannot reject the change, but can withdraw it.',
  },
});

export const policyRoutes = routesUnder<PolicyDeps>('Console policy', '/v1/console/policy', [
  route('GET', {
    operationId: 'getPolicy',
    summary: 'Read the policy and its proposed changes',
    access: 'session',
    response: { status: 200, description: 'The policy in force.', schema: policySchema },
    handle: async ({ merchantId }, deps) => {
      const { policy, pending } = await getPolicy(deps.db, merchantId, new Date());
      return { body: { ...policyObject(policy), pending_changes: pending.map(policyChangeObject) } };
    },
  }),
  route('PATCH', {
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
  changes.approve,
  changes.reject,
  changes.withdraw,
]);
