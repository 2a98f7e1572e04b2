// The people who act for a merchant: list, change their roles, remove.
import { changeMemberRoles } from '../../operations/change-member-roles.ts';
import { listMembers } from '../../operations/list-members.ts';
import { removeMember } from '../../operations/remove-member.ts';
import { consoleRoute, idOf } from '../console-route.ts';
import { auditOf, sessionOf, type ApiDeps } from '../context.ts';
import { readLists } from '../form.ts';
import { isForm } from '../middleware/body.ts';
import type { Route } from '../route.ts';
import { changeMemberSchema, memberListSchema, memberObject, memberSchema } from '../schemas/member.ts';
import { validate } from '../validation.ts';

const TAG = 'members';
const PATH = '/v1/console/members';
const ROLES = ['admin'] as const;

export function memberRoutes(deps: ApiDeps): Route[] {
  return [listRoute(deps), changeRoute(deps), removeRoute(deps)];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listMembers',
      tag: TAG,
      summary: 'List the members, all of them',
      answer: { status: 200, description: 'At most 200.', schema: memberListSchema },
    },
    async (ctx) => {
      const members = await listMembers(deps.db, sessionOf(ctx).person.merchantId);
      ctx.body = { data: members.map(memberObject) };
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
        'the person’s next request.',
      roles: ROLES,
      id: 'usr',
      body: changeMemberSchema,
      answer: { status: 200, description: 'The member.', schema: memberSchema },
      errors: ['member_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['roles']) : ctx.request.body;
      const { roles } = validate(changeMemberSchema, fields);
      const input = { userId: idOf(ctx), roles, by: auditOf(ctx), at: new Date() };
      ctx.body = memberObject(await changeMemberRoles(deps.db, input));
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
      description: 'Their sessions here end at once, and API keys that they made create no payouts any more.',
      roles: ROLES,
      id: 'usr',
      answer: { status: 204, description: 'Removed.' },
      errors: ['member_not_found', 'state_conflict'],
    },
    async (ctx) => {
      await removeMember(deps.db, idOf(ctx), auditOf(ctx), new Date());
      ctx.status = 204;
    },
  );
}
