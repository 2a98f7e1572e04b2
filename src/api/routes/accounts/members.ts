// The people who act for a merchant: list, change their roles, remove; and decide on what a second person must agree to.
import { changeMember, type ChangedMember } from '../../../operations/accounts/change-member.ts';
import { decideMemberChange } from '../../../operations/accounts/decide-member-change.ts';
import { listMembers } from '../../../queries/accounts/member.ts';
import { withdrawMemberChange } from '../../../operations/accounts/withdraw-member-change.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { readLists } from '../../form.ts';
import { isForm } from '../../middleware/body.ts';
import type { Route } from '../../route.ts';
import {
  changeMemberSchema,
  listedMemberObject,
  memberChangeObject,
  memberChangeSchema,
  memberListSchema,
  memberObject,
  memberSchema,
} from '../../schemas/accounts/member.ts';
import { validate } from '../../validation.ts';

const TAG = 'members';
const PATH = '/v1/console/members';
const ROLES = ['admin'] as const;
const WAITS = { description: 'Proposed; it waits for a second person.', schema: memberChangeSchema } as const;

export function memberRoutes(deps: ApiDeps): Route[] {
  return [
    listRoute(deps),
    changeRoute(deps),
    removeRoute(deps),
    decideRoute('approve', deps),
    decideRoute('reject', deps),
    withdrawRoute(deps),
  ];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listMembers',
      tag: TAG,
      summary: 'List the members, all of them, with what is proposed about them',
      answer: { status: 200, description: 'At most 200.', schema: memberListSchema },
    },
    async (ctx) => {
      const members = await listMembers(deps.db, sessionOf(ctx).person.merchantId, new Date());
      ctx.body = { data: members.map(listedMemberObject) };
    },
  );
}

function changeRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'patch',
      path: `${PATH}/{id}`,
      operationId: 'changeMember',
      tag: TAG,
      summary: 'Change the roles of a member',
      description:
        'Who grants a role holds it; only an owner takes `owner` away, and not from the last one. The new roles count from ' +
        'the person’s next request. Where the merchant has another owner or admin, what gives another member `owner`, `admin`, ' +
        '`maker` or `approver`, or takes `owner` or `admin` away, waits until a second one approved it, within 7 days: an owner, ' +
        'if it makes an owner. A proposal of yours about the same member is replaced.',
      roles: ROLES,
      id: 'usr',
      body: changeMemberSchema,
      answer: { status: 200, description: 'The member.', schema: memberSchema },
      waits: WAITS,
      errors: ['member_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['roles']) : ctx.request.body;
      const { roles } = validate(changeMemberSchema, fields);
      answer(ctx, await changeMember(deps.db, { userId: idOf(ctx), roles, by: auditOf(ctx), at: new Date() }));
    },
  );
}

function removeRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'delete',
      path: `${PATH}/{id}`,
      operationId: 'removeMember',
      tag: TAG,
      summary: 'Remove a member',
      description:
        'Their sessions here end at once, and API keys that they made create no payouts any more. The removal of another owner ' +
        'or admin waits for a second person, who may be the one to be removed; leaving waits for nobody.',
      roles: ROLES,
      id: 'usr',
      answer: { status: 204, description: 'Removed.' },
      waits: WAITS,
      errors: ['member_not_found', 'state_conflict'],
    },
    async (ctx) => {
      answer(ctx, await changeMember(deps.db, { userId: idOf(ctx), roles: null, by: auditOf(ctx), at: new Date() }));
    },
  );
}

function answer(ctx: Parameters<ApiMiddleware>[0], changed: ChangedMember): void {
  if (changed.kind === 'removed') {
    ctx.status = 204;
  } else if (changed.kind === 'changed') {
    ctx.body = memberObject(changed.member);
  } else {
    ctx.status = 202;
    ctx.body = memberChangeObject(changed.change, changed.agreement);
  }
}

function decideRoute(verb: 'approve' | 'reject', deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/changes/{id}/${verb}`,
      operationId: `${verb}MemberChange`,
      tag: TAG,
      summary: verb === 'approve' ? 'Approve a proposed change of a member' : 'Reject a proposed change of a member',
      description:
        verb === 'approve'
          ? 'Never by the person who proposed it; by the member themself, if they are an owner or admin; by an owner, if it makes one.'
          : 'Never by the person who proposed it, who withdraws it, nor by the member whom it is about.',
      roles: ROLES,
      id: 'mch',
      answer: { status: 200, description: 'The proposal, decided.', schema: memberChangeSchema },
      errors: ['member_change_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const decision = verb === 'approve' ? 'approved' : 'rejected';
      const input = { id: idOf(ctx), decision, by: auditOf(ctx), at: new Date() } as const;
      ctx.body = memberChangeObject(await decideMemberChange(deps.db, input), null);
    },
  );
}

function withdrawRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'delete',
      path: `${PATH}/changes/{id}`,
      operationId: 'withdrawMemberChange',
      tag: TAG,
      summary: 'Withdraw a change of a member that you proposed',
      roles: ROLES,
      id: 'mch',
      answer: { status: 204, description: 'Nobody can approve it any more.' },
      errors: ['member_change_not_found', 'state_conflict'],
    },
    async (ctx) => {
      await withdrawMemberChange(deps.db, idOf(ctx), auditOf(ctx), new Date());
      ctx.status = 204;
    },
  );
}
