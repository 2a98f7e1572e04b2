// The members of a merchant: list, change roles, remove; and approve, reject or withdraw a proposed change.
import { changeMember, type ChangedMember } from '../../../operations/accounts/change-member.ts';
import { decideProposal } from '../../../operations/accounts/decide-proposal.ts';
import { listMembers } from '../../../operations/accounts/list-members.ts';
import { route, routesUnder, type RouteDeps, type RouteResponse } from '../../route.ts';
import {
  changeMemberSchema,
  listedMemberObject,
  memberChangeObject,
  memberChangeSchema,
  memberListSchema,
  memberObject,
  memberSchema,
} from '../../schemas/accounts/member.ts';
import { changeProposalRoutes } from './change-proposals.ts';

const ROLES = ['admin'] as const;
const WAITING = { description: 'Proposed. The change waits for a second person.', schema: memberChangeSchema } as const;

const changes = changeProposalRoutes({
  kind: 'member_change',
  idPrefix: 'mch',
  path: '/member-changes',
  noun: 'MemberChange',
  schema: memberChangeSchema,
  decide: async (db, decision) =>
    memberChangeObject((await decideProposal(db, { kind: 'member_change', ...decision })).proposal, null),
  texts: {
    changed: 'a member',
    approve:
      'The proposer cannot approve the change. The member in question can, if they are an owner or admin. Only an owner can approve a new owner.',
    reject: 'Neither the proposer nor the member in question can reject the change. The proposer can withdraw it.',
  },
});

export const memberRoutes = routesUnder<RouteDeps>('Console members', '/v1/console', [
  route('GET /members', {
    operationId: 'listMembers',
    summary: 'List all members with the changes proposed for them',
    access: 'session',
    response: { status: 200, description: 'At most 200.', schema: memberListSchema },
    handle: async ({ merchantId }, deps) => ({
      body: { data: (await listMembers(deps.db, merchantId, new Date())).map(listedMemberObject) },
    }),
  }),
  route('PATCH /members/{id}', {
    operationId: 'changeMember',
    summary: 'Change the roles of a member',
    description:
      'You can grant only roles that you hold. Only an owner can remove `owner`, and never from the last owner. New ' +
      'roles apply from the next request of the member. If the merchant has another owner or admin, a change that ' +
      'grants another member `owner`, `admin`, `maker` or `approver`, or removes `owner` or `admin`, waits up to 7 ' +
      'days for the approval of a second one. Only an owner can approve a new owner. The change replaces your pending ' +
      'proposal for the same member.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'usr',
    body: changeMemberSchema,
    response: { status: 200, description: 'The member.', schema: memberSchema },
    waitingResponse: WAITING,
    errors: ['state_conflict'],
    handle: async ({ id: userId, body: { roles }, by }, deps) =>
      responseFor(await changeMember(deps.db, { userId, roles, by, at: new Date() })),
  }),
  route('DELETE /members/{id}', {
    operationId: 'removeMember',
    summary: 'Remove a member',
    description:
      'The sessions of the member at this merchant end at once. API keys that the member created create no more ' +
      'payouts. The removal of another owner or admin waits for a second person, who may be the member to be removed. ' +
      'Leaving needs no approval.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'usr',
    response: { status: 204, description: 'Removed.' },
    waitingResponse: WAITING,
    errors: ['state_conflict'],
    handle: async ({ id: userId, by }, deps) =>
      responseFor(await changeMember(deps.db, { userId, roles: null, by, at: new Date() })),
  }),
  changes.approve,
  changes.reject,
  changes.withdraw,
]);

function responseFor(changed: ChangedMember): RouteResponse {
  if (changed.kind === 'removed') return { status: 204 };
  if (changed.kind === 'changed') return { status: 200, body: memberObject(changed.member) };
  return { status: 202, body: memberChangeObject(changed.change, changed.agreement) };
}
