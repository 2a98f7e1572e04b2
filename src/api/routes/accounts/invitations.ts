// Invitations: make, list, agree to, withdraw; and accept, which is how people come to be.
import { accountLimit, addressLimit } from '../../../security/attempt-limit.ts';
import { hashPassword, verifyPassword } from '../../../security/password.ts';
import { hashToken } from '../../../security/token.ts';
import { invitationNotFound } from '../../../domain/accounts/member.ts';
import { acceptInvitation, type AcceptInvitation } from '../../../operations/accounts/accept-invitation.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { createInvitation } from '../../../operations/accounts/create-invitation.ts';
import { decideInvitation } from '../../../operations/accounts/decide-invitation.ts';
import { getInvitation } from '../../../queries/accounts/invitation.ts';
import { listInvitations } from '../../../queries/accounts/invitation.ts';
import { withdrawInvitation } from '../../../operations/accounts/withdraw-invitation.ts';
import { consoleRoute, idOf, openConsoleRoute } from '../../console-route.ts';
import { addressOf, auditOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { readLists } from '../../form.ts';
import { isForm } from '../../middleware/body.ts';
import { refuseOtherSites } from '../../middleware/session.ts';
import type { Route } from '../../route.ts';
import {
  acceptInvitationSchema,
  approvedInvitationSchema,
  createInvitationSchema,
  invitationListSchema,
  invitationObject,
  invitationUrl,
  madeInvitationSchema,
  memberObject,
  memberSchema,
} from '../../schemas/accounts/member.ts';
import { validate } from '../../validation.ts';

const TAG = 'members';
const PATH = '/v1/console/invitations';
const ROLES = ['admin'] as const;

export function invitationRoutes(deps: ApiDeps): Route[] {
  return [
    listRoute(deps),
    createRoute(deps),
    approveRoute(deps),
    rejectRoute(deps),
    withdrawRoute(deps),
    acceptRoute(deps),
  ];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listInvitations',
      tag: TAG,
      summary: 'List the invitations that are open, newest first',
      answer: { status: 200, description: 'All of them, at most 100.', schema: invitationListSchema },
    },
    async (ctx) => {
      const invitations = await listInvitations(deps.db, sessionOf(ctx).person.merchantId, new Date());
      ctx.body = { data: invitations.map(({ invitation, approval }) => invitationObject(invitation, approval)) };
    },
  );
}

function createRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: PATH,
      operationId: 'createInvitation',
      tag: TAG,
      summary: 'Invite a person',
      description:
        'Who grants a role holds it. It expires after 7 days; one for the same e-mail that is open is withdrawn. Where the ' +
        'merchant has another owner or admin, an invitation to be `owner`, `admin`, `maker` or `approver` opens nothing until a ' +
        'second one approved it: an owner, if it makes an owner. So it does while one is expected whom the service invited.',
      roles: ROLES,
      body: createInvitationSchema,
      answer: {
        status: 201,
        description: 'The invitation; its token is shown this once.',
        schema: madeInvitationSchema,
      },
      waits: { description: 'The same; it waits for a second person.', schema: madeInvitationSchema },
      errors: ['state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['roles']) : ctx.request.body;
      const { email, roles } = validate(createInvitationSchema, fields);
      const made = await createInvitation(deps.db, { email, roles, by: auditOf(ctx), at: new Date() });
      ctx.status = made.approval.state === 'waiting' ? 202 : 201;
      const url = invitationUrl(deps.publicUrl, made.token);
      ctx.body = { ...invitationObject(made.invitation, made.approval), token: made.token, url };
    },
  );
}

function approveRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/{id}/approve`,
      operationId: 'approveInvitation',
      tag: TAG,
      summary: 'Approve an invitation',
      description:
        'As a second person: never by who sent it. Make sure that the person is who they are said to be, and hand them the ' +
        'approval token yourself; they need it besides the one that who invited them has.',
      roles: ROLES,
      id: 'inv',
      answer: { status: 200, description: 'It can be accepted now.', schema: approvedInvitationSchema },
      errors: ['invitation_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const input = { id: idOf(ctx), decision: 'approved', by: auditOf(ctx), at: new Date() } as const;
      const decided = await decideInvitation(deps.db, input);
      if (decided.kind !== 'approved') throw new Error('an approval was recorded as a rejection');
      const { invitation, approvalToken } = decided;
      const approval = { state: 'approved', by: invitation.approvedBy } as const;
      ctx.body = { ...invitationObject(invitation, approval), approval_token: approvalToken };
    },
  );
}

function rejectRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/{id}/reject`,
      operationId: 'rejectInvitation',
      tag: TAG,
      summary: 'Reject an invitation that waits',
      description: 'Never by who sent it: they withdraw it.',
      roles: ROLES,
      id: 'inv',
      answer: { status: 204, description: 'Its token will never open anything.' },
      errors: ['invitation_not_found', 'state_conflict'],
    },
    async (ctx) => {
      await decideInvitation(deps.db, { id: idOf(ctx), decision: 'rejected', by: auditOf(ctx), at: new Date() });
      ctx.status = 204;
    },
  );
}

function withdrawRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'delete',
      path: `${PATH}/{id}`,
      operationId: 'withdrawInvitation',
      tag: TAG,
      summary: 'Withdraw an invitation',
      description: 'Not that of an owner or admin whom whoever runs the service invited.',
      roles: ROLES,
      id: 'inv',
      answer: { status: 204, description: 'Its token opens nothing any more.' },
      errors: ['invitation_not_found'],
    },
    async (ctx) => {
      await withdrawInvitation(deps.db, idOf(ctx), auditOf(ctx), new Date());
      ctx.status = 204;
    },
  );
}

function acceptRoute(deps: ApiDeps): Route {
  return openConsoleRoute(
    {
      method: 'post',
      path: `${PATH}/accept`,
      operationId: 'acceptInvitation',
      tag: TAG,
      summary: 'Accept an invitation',
      description:
        'Makes the person a member, and does not log them in. What must be sent, and what is said of it, is the same for a ' +
        'person who is known here and for one who is not; only that a known person’s password must be theirs.',
      body: acceptInvitationSchema,
      answer: { status: 201, description: 'The member.', schema: memberSchema },
      errors: ['invitation_not_found', 'state_conflict'],
    },
    refuseOtherSites(deps),
    accept(deps),
  );
}

function accept(deps: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    const body = validate(acceptInvitationSchema, ctx.request.body);
    const address = addressOf(ctx);
    const at = new Date();
    const tokenSha256 = hashToken(body.token);
    if (tokenSha256 === null) throw invitationNotFound();
    const tokens = { tokenSha256, approvalSha256: hashToken(body.approval_token ?? '') };
    const { invitation, isKnownPerson } = await getInvitation(deps.db, tokens, at);
    const limits = [accountLimit(invitation.email), addressLimit(address)];
    // Counted for a person who is new as well: what anybody can see of it is the same.
    const account = await beginAuthentication(deps.db, { of: { email: invitation.email }, limits, at });
    const counted = limits.map(({ subject }) => subject);
    let person: AcceptInvitation['person'];
    if (isKnownPerson) {
      const passwordHash = account?.passwordHash ?? null;
      const isRight = await verifyPassword(passwordHash, body.password);
      const code = body.totp ?? null;
      person = { kind: 'known', verifiedHash: isRight ? passwordHash : null, code, keyRing: deps.keyRing };
    } else {
      person = { kind: 'new', name: body.name, passwordHash: await hashPassword(body.password) };
    }
    const { requestId } = ctx.state;
    const input = { invitation, tokens, person, counted, address, requestId, at };
    ctx.status = 201;
    ctx.body = memberObject(await acceptInvitation(deps.db, input));
  };
}
