// Invitations: make, list, withdraw; and accept, which is how people come to be.
import { accountLimit, addressLimit } from '../../domain/proof-limit.ts';
import { hashPassword, verifyPassword } from '../../domain/password.ts';
import { acceptInvitation, type AcceptInvitation } from '../../operations/accept-invitation.ts';
import { beginProof } from '../../operations/begin-proof.ts';
import { createInvitation } from '../../operations/create-invitation.ts';
import { getInvitation } from '../../operations/get-invitation.ts';
import { listInvitations } from '../../operations/list-invitations.ts';
import { withdrawInvitation } from '../../operations/withdraw-invitation.ts';
import { consoleRoute, idOf, openConsoleRoute } from '../console-route.ts';
import { addressOf, auditOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../context.ts';
import { readLists } from '../form.ts';
import { isForm } from '../middleware/body.ts';
import { refuseOtherSites } from '../middleware/session.ts';
import type { Route } from '../route.ts';
import {
  acceptInvitationSchema,
  createInvitationSchema,
  invitationListSchema,
  invitationObject,
  invitationUrl,
  madeInvitationSchema,
  memberObject,
  memberSchema,
  newPersonSchema,
} from '../schemas/member.ts';
import { validate } from '../validation.ts';

const TAG = 'members';
const PATH = '/v1/console/invitations';
const ROLES = ['admin'] as const;

export function invitationRoutes(deps: ApiDeps): Route[] {
  return [listRoute(deps), createRoute(deps), withdrawRoute(deps), acceptRoute(deps)];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listInvitations',
      tag: TAG,
      summary: 'List the invitations that wait, newest first',
      answer: { status: 200, description: 'All of them, at most 100.', schema: invitationListSchema },
    },
    async (ctx) => {
      const invitations = await listInvitations(deps.db, sessionOf(ctx).person.merchantId, new Date());
      ctx.body = { data: invitations.map(invitationObject) };
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
        'Who grants a role holds it. It expires after 7 days; one for the same e-mail that waits is withdrawn.',
      roles: ROLES,
      body: createInvitationSchema,
      answer: {
        status: 201,
        description: 'The invitation; its token is shown this once.',
        schema: madeInvitationSchema,
      },
      errors: ['state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['roles']) : ctx.request.body;
      const { email, roles } = validate(createInvitationSchema, fields);
      const made = await createInvitation(deps.db, { email, roles, by: auditOf(ctx), at: new Date() });
      ctx.status = 201;
      const url = invitationUrl(deps.publicUrl, made.token);
      ctx.body = { ...invitationObject(made.invitation), token: made.token, url };
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
      description: 'Makes the person a member, and does not log them in.',
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
    const { invitation, isKnownPerson } = await getInvitation(deps.db, body.token, at);
    const limits = [accountLimit(invitation.email), addressLimit(address)];
    let person: AcceptInvitation['person'];
    if (isKnownPerson) {
      const account = await beginProof(deps.db, { of: { email: invitation.email }, limits, at });
      const passwordHash = account?.passwordHash ?? null;
      const isRight = await verifyPassword(passwordHash, body.password);
      const code = body.totp ?? null;
      person = { kind: 'known', verifiedHash: isRight ? passwordHash : null, code, keyRing: deps.keyRing };
    } else {
      const { name, password } = validate(newPersonSchema, body);
      person = { kind: 'new', name, passwordHash: await hashPassword(password) };
    }
    const counted = isKnownPerson ? limits.map(({ subject }) => subject) : [];
    const { requestId } = ctx.state;
    const member = await acceptInvitation(deps.db, { invitation, person, counted, address, requestId, at });
    ctx.status = 201;
    ctx.body = memberObject(member);
  };
}
