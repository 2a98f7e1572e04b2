// Members and invitations on the wire.
import { z } from 'zod';
import { givenCredential } from './passkey.ts';
import type { Member } from '../../../domain/accounts/member.ts';
import type { Agreement, InvitationApproval } from '../../../domain/accounts/member-change.ts';
import type { Invitation, MemberChange } from '../../../domain/accounts/proposal.ts';
import type { ListedMember } from '../../../operations/accounts/list-members.ts';
import { email, givenRoles, namedPerson, newPassword, shownRoles, userId } from './person.ts';
import { idOf, objectSchema, printable, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const waitsFor = z.array(namedPerson).meta({ description: 'Who can approve it at present.' });
const needsSecondPerson = z.boolean().meta({
  description: 'True: it is pending, and no member can approve it. Ask the staff of the service.',
});

export const memberChangeSchema = objectSchema('MemberChange', {
  id: idOf('mch'),
  state: z.enum(['pending', 'approved', 'rejected', 'withdrawn', 'replaced']),
  member: namedPerson,
  roles_before: shownRoles.meta({
    description:
      'The roles at the time of the proposal. A change of roles applies only if the member still has these roles; a removal always applies.',
  }),
  roles_after: shownRoles.nullable().meta({ description: 'Null: the member is to be removed.' }),
  proposed_by: namedPerson,
  created_at: time,
  expires_at: time,
  decided_by: namedPerson.nullable().meta({ description: 'Null, if approved: the staff of the service decided.' }),
  decided_at: time.nullable(),
  waits_for: waitsFor,
  needs_second_person: needsSecondPerson,
});

export const memberSchema = objectSchema('Member', {
  id: userId,
  name: z.string(),
  email: z.string(),
  roles: shownRoles,
  has_second_factor: z.boolean(),
  created_at: time,
});

export const memberListSchema = objectSchema('MemberList', {
  data: z.array(
    objectSchema('ListedMember', {
      ...memberSchema.shape,
      waiting_changes: z
        .array(memberChangeSchema)
        .meta({ description: 'Proposed for this member, and not yet decided.' }),
    }),
  ),
});

export const changeMemberSchema = objectSchema('ChangeMember', { roles: givenRoles });

export const createInvitationSchema = objectSchema('CreateInvitation', { email, roles: givenRoles });

const invitationSchema = objectSchema('Invitation', {
  id: idOf('inv'),
  email: z.string(),
  roles: shownRoles,
  created_by: namedPerson.nullable().meta({ description: 'Null: the staff of the service.' }),
  created_at: time,
  expires_at: time,
  approval: z.enum(['not_needed', 'waiting', 'approved']).meta({
    description: 'While the invitation waits for a second person, its token cannot be used.',
  }),
  approved_by: namedPerson.nullable().meta({ description: 'Null, if approved: the staff of the service decided.' }),
  waits_for: waitsFor,
  needs_second_person: needsSecondPerson,
});

export const approvedInvitationSchema = objectSchema('ApprovedInvitation', {
  ...invitationSchema.shape,
  approval_token: z.string().meta({
    description:
      'Needed in addition to the token that the sender of the invitation has. Shown only this once: hand it to the person yourself.',
  }),
});

export const invitationListSchema = objectSchema('InvitationList', { data: z.array(invitationSchema) });

export const createdInvitationSchema = objectSchema('MadeInvitation', {
  ...invitationSchema.shape,
  token: z.string().meta({
    description: 'The token that accepts the invitation, once. Shown only this once: hand it to the person yourself.',
  }),
  url: z.string().meta({ description: 'The same token as a link to the console.' }),
});

export const acceptInvitationSchema = objectSchema('AcceptInvitation', {
  token: z.string().max(200),
  approval_token: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'For an invitation that a second person approved: the token that they handed over.' }),
  name: printable('name', 100).meta({ description: 'For a person without an account. Others keep their name.' }),
  password: newPassword('password').meta({
    description:
      'The new password of a person without an account, or the existing password of others. 12 to 200 characters.',
  }),
  totp: z
    .string()
    .max(20)
    .optional()
    .meta({ description: 'The one-time code of a person who has an account with a second factor.' }),
  passkey: givenCredential.optional(),
});

export function memberObject(member: Member) {
  return wireObject(memberSchema, { ...member, id: member.userId });
}

export function listedMemberObject({ member, waiting }: ListedMember) {
  const changes = waiting.map(({ change, agreement }) => memberChangeObject(change, agreement));
  return { ...memberObject(member), waiting_changes: changes };
}

/** `agreement` is null for a decided change. */
export function memberChangeObject(change: MemberChange, agreement: Agreement | null) {
  const roles = { rolesBefore: change.before, rolesAfter: change.after };
  return wireObject(memberChangeSchema, { ...change, ...roles, ...waitingFields(agreement) });
}

function waitingFields(agreement: Agreement | null) {
  return { waitsFor: agreement?.people ?? [], needsSecondPerson: agreement?.people.length === 0 };
}

export function invitationObject(invitation: Invitation, approval: InvitationApproval) {
  return wireObject(invitationSchema, {
    ...invitation,
    createdBy: invitation.proposedBy,
    approval: approval.state,
    approvedBy: approval.state === 'approved' ? approval.by : null,
    ...waitingFields(approval.state === 'waiting' ? approval.agreement : null),
  });
}

/** The token stands after the `#`: browsers do not send that part, so no server logs it. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/console/invitation#token=${token}`;
}
