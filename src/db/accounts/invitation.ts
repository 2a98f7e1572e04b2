// Rows of invitations: who is invited to join a merchant, in which roles, and whether they accepted.
import type { InvitationId, MerchantId, UserId } from '../../domain/ids.ts';
import type { Invitation } from '../../domain/accounts/member.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';
import { named } from './named.ts';

const INSERT = statement(
  'invitation_insert',
  `INSERT INTO invitations (id, merchant_id, email, roles, token_sha256, created_by, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export type NewInvitation = Omit<Invitation, 'createdBy' | 'approvedAt' | 'approvedBy'> & {
  readonly createdBy: UserId | null;
  readonly tokenSha256: Buffer;
};

export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  await tx.run(INSERT, [
    invitation.id,
    invitation.merchantId,
    invitation.email,
    invitation.roles,
    invitation.tokenSha256,
    invitation.createdBy,
    invitation.createdAt,
    invitation.expiresAt,
  ]);
}

const SELECT = `SELECT i.id, i.merchant_id, i.email, i.roles, ${named('u')} AS created_by, i.created_at,
    i.expires_at, i.approved_at, ${named('a')} AS approved_by
  FROM invitations i LEFT JOIN users u ON u.id = i.created_by LEFT JOIN users a ON a.id = i.approved_by`;
const IS_OPEN = 'i.accepted_at IS NULL AND i.withdrawn_at IS NULL';

const LIST_OPEN = statement(
  'invitation_list_open',
  `${SELECT} WHERE i.merchant_id = $1 AND ${IS_OPEN} AND i.expires_at > $2 ORDER BY i.id DESC`,
);

export async function listOpenInvitations(db: Queryable, merchantId: MerchantId, at: Date): Promise<Invitation[]> {
  return db.run<Invitation>(LIST_OPEN, [merchantId, at]);
}

const FIND_BY_TOKEN = statement(
  'invitation_find_by_token',
  `${SELECT} WHERE i.token_sha256 = $1 AND (i.approval_sha256 IS NULL OR i.approval_sha256 = $2)
     AND ${IS_OPEN} AND i.expires_at > $3`,
);

/** Digests of the tokens that a person presents. */
export type InvitationTokens = {
  readonly tokenSha256: Buffer;
  /** The token of the second person who approved the invitation, if the person presents one. */
  readonly approvalSha256: Buffer | null;
};

/** The open invitation with this token. An approved invitation is found only with its approval token too. */
export async function findInvitationByToken(
  db: Queryable,
  { tokenSha256, approvalSha256 }: InvitationTokens,
  at: Date,
): Promise<Invitation | null> {
  return findOne<Invitation>(db, FIND_BY_TOKEN, [tokenSha256, approvalSha256, at]);
}

const FIND_OPEN = statement(
  'invitation_find_open',
  `${SELECT} WHERE i.merchant_id = $1 AND i.id = $2 AND ${IS_OPEN} AND i.expires_at > $3`,
);

export async function findOpenInvitation(
  db: Queryable,
  merchantId: MerchantId,
  id: InvitationId,
  at: Date,
): Promise<Invitation | null> {
  return findOne<Invitation>(db, FIND_OPEN, [merchantId, id, at]);
}

const APPROVE = statement(
  'invitation_approve',
  `UPDATE invitations i SET approved_by = $2, approved_at = $3, approval_sha256 = $4 WHERE i.id = $1 AND ${IS_OPEN}`,
);

/** Records an approval; it replaces an earlier one that is no longer valid. `by` is null for the service's staff. */
export async function approveInvitation(
  tx: Tx,
  id: InvitationId,
  approval: { readonly by: UserId | null; readonly at: Date; readonly tokenSha256: Buffer },
): Promise<void> {
  await tx.run(APPROVE, [id, approval.by, approval.at, approval.tokenSha256]);
}

const ACCEPT = statement(
  'invitation_accept',
  `UPDATE invitations i SET accepted_by = $2, accepted_at = $3
   WHERE i.id = $1 AND ${IS_OPEN} AND i.expires_at > $3 RETURNING 1`,
);

/** Accepts the invitation if it is still open; returns whether it was. Of two people at once, only one accepts it. */
export async function markInvitationAccepted(tx: Tx, id: InvitationId, by: UserId, at: Date): Promise<boolean> {
  const rows = await tx.run(ACCEPT, [id, by, at]);
  return rows.length === 1;
}

const WITHDRAW = statement(
  'invitation_withdraw',
  `UPDATE invitations i SET withdrawn_at = $3
   WHERE i.merchant_id = $1 AND i.id = $2 AND ${IS_OPEN} AND i.expires_at > $3 RETURNING i.email`,
);

/** Withdraws the open invitation; returns its e-mail, or null when there is none. */
export async function withdrawInvitation(
  tx: Tx,
  merchantId: MerchantId,
  id: InvitationId,
  at: Date,
): Promise<string | null> {
  const [row] = await tx.run<{ email: string }>(WITHDRAW, [merchantId, id, at]);
  return row?.email ?? null;
}

const WITHDRAW_OF_EMAIL = statement(
  'invitation_withdraw_of_email',
  `UPDATE invitations i SET withdrawn_at = $3
   WHERE i.merchant_id = $1 AND i.email = $2 AND ${IS_OPEN} AND i.expires_at > $3 RETURNING i.id`,
);

/** Withdraws the open invitations for this e-mail; returns their ids. */
export async function withdrawInvitationsOf(
  tx: Tx,
  merchantId: MerchantId,
  email: string,
  at: Date,
): Promise<InvitationId[]> {
  const rows = await tx.run<{ id: InvitationId }>(WITHDRAW_OF_EMAIL, [merchantId, email, at]);
  return rows.map(({ id }) => id);
}
