// A merchant's policy: read it, propose a change, decide on one.
import { policyObject } from '../../../domain/accounts/policy.ts';
import { decidePolicyChange } from '../../../operations/accounts/decide-policy-change.ts';
import { getPolicy } from '../../../queries/accounts/policy.ts';
import { proposePolicyChange } from '../../../operations/accounts/propose-policy-change.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps } from '../../context.ts';
import { readFlags, readIntegers, readNulls } from '../../form.ts';
import { isForm } from '../../middleware/body.ts';
import type { Route } from '../../route.ts';
import {
  changePolicySchema,
  POLICY_FLAGS,
  POLICY_INTEGERS,
  policyChangeObject,
  policyChangeSchema,
  policySchema,
  proposedPolicyChangeSchema,
  toPolicyChanges,
} from '../../schemas/accounts/policy.ts';
import { validate } from '../../validation.ts';

const TAG = 'policy';
const PATH = '/v1/console/policy';
const ROLES = ['admin'] as const;

export function policyRoutes(deps: ApiDeps): Route[] {
  return [readRoute(deps), proposeRoute(deps), decideRoute('approve', deps), decideRoute('reject', deps)];
}

function readRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'getPolicy',
      tag: TAG,
      summary: 'Read the policy and what is proposed to change in it',
      answer: { status: 200, description: 'The policy in force.', schema: policySchema },
    },
    async (ctx) => {
      const { policy, pending } = await getPolicy(deps.db, sessionOf(ctx).person.merchantId, new Date());
      ctx.body = { ...policyObject(policy), pending_changes: pending.map(policyChangeObject) };
    },
  );
}

function proposeRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'patch',
      path: PATH,
      operationId: 'proposePolicyChange',
      tag: TAG,
      summary: 'Propose a change of the policy',
      description:
        'It counts once a second owner or admin approved it, within 7 days. A proposal of yours that waits is replaced. In a ' +
        'form an empty field is null.',
      roles: ROLES,
      body: changePolicySchema,
      answer: { status: 202, description: 'Proposed; the policy is as it was.', schema: proposedPolicyChangeSchema },
    },
    async (ctx) => {
      const changes = toPolicyChanges(validate(changePolicySchema, fieldsOf(ctx.request.body, isForm(ctx))));
      const input = { changes, by: auditOf(ctx), at: new Date() };
      const { change, hasSecondPerson } = await proposePolicyChange(deps.db, input);
      ctx.status = 202;
      ctx.body = { ...policyChangeObject(change), needs_second_person: !hasSecondPerson };
    },
  );
}

function decideRoute(verb: 'approve' | 'reject', deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/changes/{id}/${verb}`,
      operationId: `${verb}PolicyChange`,
      tag: TAG,
      summary:
        verb === 'approve' ? 'Approve a proposed change of the policy' : 'Reject a proposed change of the policy',
      description: 'Never by the person who proposed it.',
      roles: ROLES,
      id: 'pch',
      answer: { status: 200, description: 'The proposal, decided.', schema: policyChangeSchema },
      errors: ['policy_change_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const decision = verb === 'approve' ? 'approved' : 'rejected';
      const input = { id: idOf(ctx), decision, by: auditOf(ctx), at: new Date() } as const;
      ctx.body = policyChangeObject(await decidePolicyChange(deps.db, input));
    },
  );
}

function fieldsOf(body: unknown, isFromForm: boolean): unknown {
  if (!isFromForm) return body;
  return readNulls(readFlags(readIntegers(body, POLICY_INTEGERS), POLICY_FLAGS), POLICY_INTEGERS);
}
