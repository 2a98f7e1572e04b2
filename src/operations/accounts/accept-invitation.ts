// Makes the person who accepts an invitation a member: a new user, or one who has an account already.
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/database.ts';
import {
  findInvitationByToken,
  listOpenInvitations,
  markInvitationAccepted,
  type InvitationTokens,
} from '../../db/accounts/invitation.ts';
import { findMember, listMembers, lockMembers, putMember } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { noteFailedLogIn } from '../../db/accounts/failed-log-in.ts';
import { useTotpCode } from '../../db/accounts/second-factor.ts';
import { deleteMemberSessions } from '../../db/accounts/session.ts';
import { findUserByEmail, findUserLocked, insertUser } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import { newId, type UserId } from '../../domain/ids.ts';
import { type Invitation, invitationNotFound, type Member, notAuthenticated } from '../../domain/accounts/member.ts';
import { approvalOf, mayStillGrant } from '../../domain/accounts/member-change.ts';
import type { CountedAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';

export type AcceptInvitation = CountedAttempt & {
  readonly invitation: Invitation;
  /** The tokens that the person presents. They are looked up again under the lock. */
  readonly tokens: InvitationTokens;
  readonly person:
    | { readonly kind: 'new'; readonly name: string; readonly passwordHash: string }
    | {
        readonly kind: 'known';
        /** The hash that the given password matches; null: it does not match. */
        readonly verifiedHash: string | null;
        /** Needed, and used up, if the person has a second factor: here too, the password alone is not enough. */
        readonly code: string | null;
        readonly keyRing: KeyRing;
      };
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

/**
 * The new member. An invitation is accepted once, also by two people at the same moment. The person who sent it must
 * still be allowed to grant its roles and, if it needs a second person's approval, that approval must still be valid.
 * Throws `invitation_not_found`; `permission_denied` for a wrong password or one-time code, which the audit log then
 * records; and `state_conflict` when somebody registered with the e-mail in the meantime.
 */
export async function acceptInvitation(db: Database, input: AcceptInvitation): Promise<Member> {
  const accepted = await db.withTransaction(async (tx) => {
    const { invitation, at } = input;
    await lockMembers(tx, invitation.merchantId);
    const userId = await identify(tx, input);
    if (userId === null) {
      const known = await findUserByEmail(tx, invitation.email);
      if (known) await noteFailedLogIn(tx, known.id, at, input.address);
      await record(tx, input, null);
      return null;
    }
    if (!(await isStillValid(tx, input))) throw invitationNotFound();
    const { merchantId, roles } = invitation;
    // False: the person became a member in another way in the meantime, and keeps the roles that they have.
    if (!(await putMember(tx, { merchantId, userId, roles, createdAt: at }))) throw invitationNotFound();
    // Otherwise a session from a log-in that raced with an earlier removal of the person would become valid again.
    await deleteMemberSessions(tx, { merchantId, userId }, null);
    if (!(await markInvitationAccepted(tx, invitation.id, userId, at))) throw invitationNotFound();
    await uncountAttempts(tx, input.counted, at);
    await record(tx, input, userId);
    return findMember(tx, merchantId, userId);
  });
  if (accepted) return accepted;
  throw notAuthenticated('wrong password or one-time code');
}

/** The user; null when their password or one-time code is wrong. */
async function identify(tx: Tx, { invitation, person, at }: AcceptInvitation): Promise<UserId | null> {
  if (person.kind === 'known') {
    const found = await findUserByEmail(tx, invitation.email);
    const user = found && (await findUserLocked(tx, found.id));
    if (user === null) return null;
    if (user.passwordHash !== person.verifiedHash) return null;
    const isVerified = user.totpSecretSealed === null || (await useTotpCode(tx, user, person.code, { ...person, at }));
    return isVerified ? user.id : null;
  }
  const id = newId('usr', at.getTime());
  const { name, passwordHash } = person;
  const isNew = await insertUser(tx, {
    id,
    email: invitation.email,
    name,
    passwordHash,
    totpSecretSealed: null,
    createdAt: at,
  });
  if (isNew) return id;
  throw new DomainError('state_conflict', 'Somebody has this e-mail by now. Try again with their password.');
}

// Since then the sender or approver may have been removed or lost a role, and a second administrator may have joined.
async function isStillValid(tx: Tx, { tokens, at }: AcceptInvitation): Promise<boolean> {
  const invitation = await findInvitationByToken(tx, tokens, at);
  if (!invitation) return false;
  const members = await listMembers(tx, invitation.merchantId);
  const invitations = await listOpenInvitations(tx, invitation.merchantId, at);
  return mayStillGrant(invitation, members) && approvalOf(invitation, { members, invitations }).state !== 'waiting';
}

function record(tx: Tx, input: AcceptInvitation, userId: UserId | null): Promise<void> {
  const { id, merchantId, roles, approvedBy } = input.invitation;
  return insertAuditEntry(tx, {
    merchantId,
    userId,
    action: 'invitation.accepted',
    outcome: userId === null ? 'refused' : 'done',
    subjectId: id,
    after:
      userId === null ? { reason: 'wrong password or one-time code' } : { roles, approved_by: approvedBy?.id ?? null },
    address: input.address,
    requestId: input.requestId,
    at: input.at,
  });
}
