// Invitations: create, list, approve, reject, withdraw; and accept, which creates the account of a new person.
import type { z } from 'zod';
import { accountLimits, accountSubject, addressLimit } from '../../../security/attempt-limit.ts';
import { hashPassword, verifyPassword } from '../../../security/password.ts';
import { hashToken } from '../../../security/token.ts';
import { acceptInvitation } from '../../../operations/accounts/accept-invitation.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { createInvitation } from '../../../operations/accounts/create-invitation.ts';
import { decideProposal, withdrawProposal } from '../../../operations/accounts/decide-proposal.ts';
import { getInvitation, listInvitations } from '../../../operations/accounts/read-invitations.ts';
import { passkeyAttempt, type AuthenticationDeps } from '../../own-session.ts';
import { requireHardToGuess } from '../../new-password.ts';
import { route, routesUnder } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import {
  acceptInvitationSchema,
  approvedInvitationSchema,
  createInvitationSchema,
  invitationListSchema,
  invitationObject,
  invitationUrl,
  createdInvitationSchema,
  memberObject,
  memberSchema,
} from '../../schemas/accounts/member.ts';
import { notFound } from '../../../domain/errors.ts';

const ROLES = ['admin'] as const;

export const invitationRoutes = routesUnder<AuthenticationDeps>('Console members', '/v1/console/invitations', [
  route('GET', {
    operationId: 'listInvitations',
    summary: 'List the open invitations, newest first',
    access: 'session',
    response: { status: 200, description: 'All open invitations, at most 100.', schema: invitationListSchema },
    handle: async ({ merchantId }, deps) => {
      const invitations = await listInvitations(deps.db, merchantId, new Date());
      return { body: { data: invitations.map(({ invitation, approval }) => invitationObject(invitation, approval)) } };
    },
  }),
  route('POST', {
    operationId: 'createInvitation',
    summary: 'Invite a person',
    description:
      'You can grant only roles that you hold. The invitation expires after 7 days. It replaces an open invitation for ' +
      'the same e-mail address. If the merchant has another owner or admin, an invitation as `owner`, `admin`, `maker` ' +
      'or `approver` cannot be accepted until a second owner or admin approves it. Only an owner can approve an ' +
      'invitation as `owner`. The same applies while an owner or admin whom the service invited must still accept.',
    access: { roles: ROLES },
    needsStepUp: true,
    body: createInvitationSchema,
    response: {
      status: 201,
      description: 'The invitation. Its token is shown only this once.',
      schema: createdInvitationSchema,
    },
    waitingResponse: {
      description: 'The invitation, which waits for a second person. Its token is shown only this once.',
      schema: createdInvitationSchema,
    },
    errors: ['state_conflict'],
    handle: async ({ body: { email, roles }, by }, deps) => {
      const created = await createInvitation(deps.db, { email, roles, by, at: new Date() });
      const { invitation, approval, token } = created;
      const url = invitationUrl(deps.publicUrl, token);
      const body = { ...invitationObject(invitation, approval), token, url };
      return approval.state === 'waiting' ? { status: 202, body } : { body };
    },
  }),
  route('POST /{id}/approve', {
    operationId: 'approveInvitation',
    summary: 'Approve an invitation',
    description:
      'The sender of the invitation cannot approve it. First verify the identity of the invited person. Then hand them ' +
      'the approval token yourself. They need it in addition to the token that the sender has.',
    access: { roles: ROLES },
    needsStepUp: true,
    ...oneObject('inv', 'The invitation can now be accepted.', approvedInvitationSchema),
    errors: ['state_conflict'],
    handle: async ({ id, by }, deps) => {
      const input = { kind: 'invitation', id, decision: 'approved', by, at: new Date() } as const;
      const { proposal: invitation, approvalToken } = await decideProposal(deps.db, input);
      if (approvalToken === null) throw new Error('an approval was recorded as a rejection');
      const approval = { state: 'approved', by: invitation.decidedBy } as const;
      return { body: { ...invitationObject(invitation, approval), approval_token: approvalToken } };
    },
  }),
  route('POST /{id}/reject', {
    operationId: 'rejectInvitation',
    summary: 'Reject a pending invitation',
    description: 'The sender cannot reject the invitation, but can withdraw it.',
    access: { roles: ROLES },
    idPrefix: 'inv',
    response: { status: 204, description: 'The token of the invitation can never be used.' },
    errors: ['state_conflict'],
    handle: async ({ id, by }, deps) => {
      await decideProposal(deps.db, { kind: 'invitation', id, decision: 'rejected', by, at: new Date() });
    },
  }),
  route('DELETE /{id}', {
    operationId: 'withdrawInvitation',
    summary: 'Withdraw an invitation',
    description: 'An invitation of an owner or admin by the service cannot be withdrawn.',
    access: { roles: ROLES },
    idPrefix: 'inv',
    response: { status: 204, description: 'The token of the invitation can no longer be used.' },
    handle: ({ id, by }, deps) => withdrawProposal(deps.db, { kind: 'invitation', id, by, at: new Date() }),
  }),
  route('POST /accept', {
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'Makes the person a member, and does not log them in. The request and the responses are the same whether or not ' +
      'the person has an account; a person with an account must send their own password. If the roles require a second ' +
      'factor, the first log-in leads to its enrolment.',
    access: 'anyone',
    body: acceptInvitationSchema,
    response: { status: 201, description: 'The member.', schema: memberSchema },
    errors: ['invitation_not_found', 'state_conflict'],
    handle: async ({ body, address, requestId }, deps) => {
      const at = new Date();
      const tokenSha256 = hashToken(body.token);
      if (tokenSha256 === null) throw notFound('invitation');
      const tokens = { tokenSha256, approvalSha256: hashToken(body.approval_token ?? '') };
      const { invitation, merchantName, hasAccount } = await getInvitation(deps.db, tokens, at);
      const limits = [...accountLimits(invitation.email), addressLimit(address)];
      // Counted for a new person as well, so that the response reveals nothing about accounts.
      const claim = { email: invitation.email };
      const account = await beginAuthentication(deps.db, { claim, limits, address, requestId, at });
      // Counted with the attempt: meanwhile this process answers no other request.
      requireHardToGuess('password', body.password, [body.name, invitation.email, merchantName]);
      const counted = limits.map(({ subject }) => subject);
      const member = await deps.limitGuesses(account?.id ?? null, async () => {
        const person = hasAccount
          ? await existingPerson(deps, account?.passwordHash ?? null, { ...body, email: invitation.email })
          : ({ kind: 'new', name: body.name, passwordHash: await hashPassword(body.password) } as const);
        return acceptInvitation(deps.db, { invitation, tokens, person, counted, address, requestId, at });
      });
      return { body: memberObject(member) };
    },
  }),
]);

type Accepting = Pick<z.output<typeof acceptInvitationSchema>, 'password' | 'totp' | 'passkey'> & {
  readonly email: string;
};

async function existingPerson(deps: AuthenticationDeps, passwordHash: string | null, given: Accepting) {
  const { password, totp, passkey, email } = given;
  const isRight = await verifyPassword(passwordHash, password);
  const assertion = passkey === undefined ? null : passkeyAttempt(deps, passkey, 'log_in', accountSubject(email));
  const factor = { code: totp ?? null, passkey: assertion, keyRing: deps.keyRing };
  return { kind: 'known', verifiedHash: isRight ? passwordHash : null, ...factor } as const;
}
