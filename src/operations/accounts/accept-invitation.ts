// Makes the person who accepts an invitation a member: a new user, or one who already has an account.
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import {
  findInvitationByToken,
  listAllOpenInvitations,
  markInvitationAccepted,
  type InvitationTokens,
} from '../../db/accounts/proposal.ts';
import { findMember, listMembers, lockMembers, putMember } from '../../db/accounts/member.ts';
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { noteFailedLogIn } from '../../db/accounts/failed-log-in.ts';
import { refusalOfPasskey, type PasskeyAttempt } from '../../db/accounts/passkey-use.ts';
import { factorsOf, hasAny, useTotpCode } from '../../db/accounts/second-factor.ts';
import { deleteMemberSessions } from '../../db/accounts/session.ts';
import { findUserByEmail, findUserLocked, insertUser } from '../../db/accounts/user.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import { newId, type UserId } from '../../domain/ids.ts';
import { authenticationFailed, type Member } from '../../domain/accounts/member.ts';
import { approvalOf, mayStillGrant } from '../../domain/accounts/member-change.ts';
import type { Invitation } from '../../domain/accounts/proposal.ts';
import type { VerifiedBy } from '../../domain/accounts/session.ts';
import type { CountedAttempt } from '../../security/attempt-limit.ts';
import type { KeyRing } from '../../security/sealing.ts';

export type AcceptInvitation = CountedAttempt & {
  readonly invitation: Invitation;
  /** The tokens that the person presents. They are read again under the lock. */
  readonly tokens: InvitationTokens;
  readonly person:
    | { readonly kind: 'new'; readonly name: string; readonly passwordHash: string }
    | {
        readonly kind: 'known';
        /** The hash that the given password matches; null if it matches none. */
        readonly verifiedHash: string | null;
        /** A code is required, and used up, if the person has a second factor: the password alone is never enough. */
        readonly code: string | null;
        /** Instead of a code; null if none was given. */
        readonly passkey: PasskeyAttempt | null;
        readonly keyRing: KeyRing;
      };
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

/**
 * The new member. An invitation is accepted once, even if two people accept it at the same moment. The person who sent
 * it must still be allowed to grant its roles and, if it needs a second person's approval, that approval must still be
 * valid. Throws `invitation_not_found`; `permission_denied` for a wrong password or one-time code, which the audit log
 * then records; and `state_conflict` if an account with the e-mail was created meanwhile.
 */
export async function acceptInvitation(db: Database, input: AcceptInvitation): Promise<Member> {
  const accepted = await db.withTransaction(async (tx) => {
    const { invitation, at } = input;
    await lockMembers(tx, invitation.merchantId);
    const identified = await identify(tx, input);
    if (identified === null) {
      const known = await findUserByEmail(tx, invitation.email);
      if (known) await noteFailedLogIn(tx, known.id, at, input.address);
      await record(tx, input, null);
      return null;
    }
    const { userId } = identified;
    if (!(await isStillValid(tx, input))) throw notFound('invitation');
    const { merchantId, roles } = invitation;
    // False: the person became a member in another way meanwhile, and keeps their roles.
    if (!(await putMember(tx, { merchantId, userId, roles, createdAt: at }))) throw notFound('invitation');
    // Otherwise a session from a log-in that raced with an earlier removal of the person would become valid again.
    await deleteMemberSessions(tx, { merchantId, userId }, null);
    if (!(await markInvitationAccepted(tx, invitation.id, userId, at))) throw notFound('invitation');
    await uncountAttempts(tx, input.counted, at);
    await record(tx, input, identified);
    return findMember(tx, merchantId, userId);
  });
  if (accepted) return accepted;
  throw authenticationFailed('wrong password or one-time code');
}

type Identified = {
  readonly userId: UserId;
  /** Null: a new person, who has just chosen the password. */
  readonly verifiedBy: VerifiedBy | null;
};

/** The user; null if their password or one-time code is wrong. */
async function identify(tx: Tx, { invitation, person, at }: AcceptInvitation): Promise<Identified | null> {
  if (person.kind === 'known') {
    const found = await findUserByEmail(tx, invitation.email);
    const user = found && (await findUserLocked(tx, found.id));
    if (user === null) return null;
    if (user.passwordHash !== person.verifiedHash) return null;
    const { passkey, code } = person;
    if (passkey !== null) {
      const refusal = await refusalOfPasskey(tx, user.id, passkey, at);
      return refusal === null ? { userId: user.id, verifiedBy: 'passkey' } : null;
    }
    if (!hasAny(factorsOf(user))) return { userId: user.id, verifiedBy: 'password' };
    const isVerified = await useTotpCode(tx, user, code, { ...person, at });
    return isVerified ? { userId: user.id, verifiedBy: 'one_time_code' } : null;
  }
  const id = newId('usr', at.getTime());
  const { name, passwordHash } = person;
  const { email } = invitation;
  const isNew = await insertUser(tx, { id, email, name, passwordHash, totpSecretSealed: null, createdAt: at });
  if (isNew) return { userId: id, verifiedBy: null };
  throw stateConflict('An account with this e-mail address was created in the meantime. Try again with its password.');
}

// Meanwhile the sender or approver may have been removed or lost a role, and a second administrator may have joined.
async function isStillValid(tx: Tx, { tokens, at }: AcceptInvitation): Promise<boolean> {
  const invitation = await findInvitationByToken(tx, tokens, at);
  if (!invitation) return false;
  const members = await listMembers(tx, invitation.merchantId);
  const invitations = await listAllOpenInvitations(tx, invitation.merchantId, at);
  return mayStillGrant(invitation, members) && approvalOf(invitation, { members, invitations }).state !== 'waiting';
}

function record(tx: Tx, input: AcceptInvitation, identified: Identified | null): Promise<void> {
  const { id, merchantId, roles, decidedBy } = input.invitation;
  return insertAuditEntry(tx, {
    merchantId,
    userId: identified?.userId ?? null,
    action: 'invitation.accepted',
    outcome: identified === null ? 'refused' : 'done',
    subjectId: id,
    after:
      identified === null
        ? { reason: 'wrong password or one-time code' }
        : { roles, approved_by: decidedBy?.id ?? null, verified_by: identified.verifiedBy },
    address: input.address,
    requestId: input.requestId,
    at: input.at,
  });
}
