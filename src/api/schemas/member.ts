// Members and invitations on the wire.
import { z } from 'zod';
import type { Invitation, Member } from '../../domain/member.ts';
import { email, givenRoles, namedPerson, newPassword, shownRoles, userId } from './person.ts';
import { printable, time } from './primitives.ts';

export const memberSchema = z
  .strictObject({
    id: userId,
    name: z.string(),
    email: z.string(),
    roles: shownRoles,
    has_second_factor: z.boolean(),
    created_at: time,
  })
  .meta({ id: 'Member' });

export const memberListSchema = z.strictObject({ data: z.array(memberSchema) }).meta({ id: 'MemberList' });
export const changeMemberSchema = z.strictObject({ roles: givenRoles }).meta({ id: 'ChangeMember' });

export const createInvitationSchema = z.strictObject({ email, roles: givenRoles }).meta({ id: 'CreateInvitation' });

const invitationFields = {
  id: z.string().regex(/^inv_/),
  email: z.string(),
  roles: shownRoles,
  created_by: namedPerson.nullable().meta({ description: 'Null: by whoever runs the service.' }),
  created_at: time,
  expires_at: time,
};

export const invitationListSchema = z
  .strictObject({ data: z.array(z.strictObject(invitationFields).meta({ id: 'Invitation' })) })
  .meta({ id: 'InvitationList' });

export const madeInvitationSchema = z
  .strictObject({
    ...invitationFields,
    token: z.string().meta({ description: 'What opens it, once. Shown this once: hand it to the person yourself.' }),
    url: z.string().meta({ description: 'The same as an address of the console.' }),
  })
  .meta({ id: 'MadeInvitation' });

export const acceptInvitationSchema = z
  .strictObject({
    token: z.string().max(200),
    name: printable('name', 100).optional().meta({ description: 'Required of a person who is new here.' }),
    password: z.string().max(1000).meta({
      description: 'To be set by a person who is new here, 12 to 200 characters; that which they have, by others.',
    }),
    totp: z
      .string()
      .max(20)
      .optional()
      .meta({ description: 'The one-time code of a person who is known here and has a second factor.' }),
  })
  .meta({ id: 'AcceptInvitation' });

/** What a person who is new here must give besides. */
export const newPersonSchema = z.object({ name: printable('name', 100), password: newPassword('password') });

export function memberObject(member: Member): z.input<typeof memberSchema> {
  return {
    id: member.userId,
    name: member.name,
    email: member.email,
    roles: [...member.roles],
    has_second_factor: member.hasSecondFactor,
    created_at: member.createdAt.toISOString(),
  };
}

export function invitationObject(invitation: Invitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    roles: [...invitation.roles],
    created_by: invitation.createdBy,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  };
}

/** The token stands behind the `#`: what is there no server log ever sees. */
export function invitationUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/console/invitation#token=${token}`;
}
