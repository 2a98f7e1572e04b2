// Finds the open invitation of a token, and whether the person it is for is known.
import type { Database } from '../db/database.ts';
import { findInvitationByToken } from '../db/invitation.ts';
import { findUserByEmail } from '../db/user.ts';
import { invitationNotFound, type Invitation } from '../domain/member.ts';
import { hashToken } from '../domain/token.ts';

/** Throws `invitation_not_found`. */
export async function getInvitation(
  db: Database,
  token: string,
  at: Date,
): Promise<{ readonly invitation: Invitation; readonly isKnownPerson: boolean }> {
  const sha256 = hashToken(token);
  return db.withTransaction(async (tx) => {
    const invitation = sha256 && (await findInvitationByToken(tx, sha256, at));
    if (!invitation) throw invitationNotFound();
    return { invitation, isKnownPerson: (await findUserByEmail(tx, invitation.email)) !== null };
  });
}
