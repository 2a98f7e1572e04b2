// Rows of invitations: who is invited to join a merchant, in which roles, and whether they accepted.
import type { InvitationId, MerchantId, UserId } from '../../domain/ids.ts';
import type { Invitation, NamedPerson } from '../../domain/accounts/member.ts';
import {
  attestedColumns,
  attestedOnly,
  attestRow,
  changeAttestedRow,
  isAttested,
  requireAttested,
  type AttestedRow,
} from './attested-rows.ts';
import { statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';
import { personColumn } from './names.ts';
import { requireAttestedPeople, withAttestedPeople } from './user.ts';

const INSERT = statement('invitation_insert')`
  INSERT INTO invitations (id, merchant_id, email, roles, token_sha256, created_by, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

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
  await attestRow(tx, 'invitations', [invitation.id]);
}

const SELECT = `SELECT ${attestedColumns('invitations')}, ${personColumn('u')} AS sender, ${personColumn('a')} AS approver
  FROM invitations t LEFT JOIN users u ON u.id = t.created_by LEFT JOIN users a ON a.id = t.approved_by`;
const IS_OPEN = 't.accepted_at IS NULL AND t.withdrawn_at IS NULL';

type InvitationRow = Omit<Invitation, 'createdBy' | 'approvedBy'> &
  AttestedRow<'invitations'> & { readonly sender: NamedPerson | null; readonly approver: NamedPerson | null };

function toInvitation(row: InvitationRow): Invitation {
  const { id, merchantId, email, roles, sender, createdAt, expiresAt, approvedAt, approver } = row;
  return { id, merchantId, email, roles, createdBy: sender, createdAt, expiresAt, approvedAt, approvedBy: approver };
}

/** Throws `permission_denied` for a row that no process of ours wrote. */
async function readAttested(db: Queryable, query: Statement, values: readonly unknown[]): Promise<InvitationRow[]> {
  const rows = await db.run<InvitationRow>(query, values);
  for (const row of rows) requireAttested(db, 'invitations', row);
  await requireAttestedPeople(db, rows, peopleOf);
  return rows;
}

const peopleOf = ({ sender, approver }: InvitationRow) => [sender, approver];

const LIST = statement('invitation_list')`${SELECT} WHERE t.merchant_id = $1 ORDER BY t.id DESC`;

/** Throws `permission_denied` when one of the rows is by no process of ours: decisions depend on what else is there. */
export async function listOpenInvitations(db: Queryable, merchantId: MerchantId, at: Date): Promise<Invitation[]> {
  return openAmong(await readAttested(db, LIST, [merchantId]), at);
}

/** Without those by no process of ours, which nobody can accept. For what a person is shown, not for decisions. */
export async function listAttestedInvitations(db: Queryable, merchantId: MerchantId, at: Date): Promise<Invitation[]> {
  const rows = attestedOnly(db, 'invitations', await db.run<InvitationRow>(LIST, [merchantId]));
  return openAmong(await withAttestedPeople(db, rows, peopleOf), at);
}

// Those that are open are found among all, once they are verified: otherwise one could be hidden by hand.
function openAmong(rows: readonly InvitationRow[], at: Date): Invitation[] {
  return rows
    .filter((row) => row.acceptedAt === null && row.withdrawnAt === null && row.expiresAt > at)
    .map(toInvitation);
}

const FIND_BY_TOKEN = statement('invitation_find_by_token')`
  ${SELECT} WHERE t.token_sha256 = $1 AND (t.approval_sha256 IS NULL OR t.approval_sha256 = $2)
    AND ${IS_OPEN} AND t.expires_at > $3`;

/** Digests of the tokens that a person presents. */
export type InvitationTokens = {
  readonly tokenSha256: Buffer;
  /** The token of the second person who approved the invitation, if the person presents one. */
  readonly approvalSha256: Buffer | null;
};

/**
 * The open invitation with this token. An approved invitation is found only with its approval token too, and one that no
 * process of ours wrote not at all.
 */
export async function findInvitationByToken(
  db: Queryable,
  { tokenSha256, approvalSha256 }: InvitationTokens,
  at: Date,
): Promise<Invitation | null> {
  const [row] = await db.run<InvitationRow>(FIND_BY_TOKEN, [tokenSha256, approvalSha256, at]);
  return row !== undefined && isAttested(db, 'invitations', row) ? toInvitation(row) : null;
}

const FIND_OPEN = statement('invitation_find_open')`
  ${SELECT} WHERE t.merchant_id = $1 AND t.id = $2 AND ${IS_OPEN} AND t.expires_at > $3`;

export async function findOpenInvitation(
  db: Queryable,
  merchantId: MerchantId,
  id: InvitationId,
  at: Date,
): Promise<Invitation | null> {
  const [row] = await readAttested(db, FIND_OPEN, [merchantId, id, at]);
  return row === undefined ? null : toInvitation(row);
}

const APPROVE = statement('invitation_approve')`
  UPDATE invitations t SET approved_by = $2, approved_at = $3, approval_sha256 = $4 WHERE t.id = $1 AND ${IS_OPEN}`;

/** Records an approval; it replaces an earlier one that is no longer valid. `by` is null for the service's staff. */
export async function approveInvitation(
  tx: Tx,
  id: InvitationId,
  approval: { readonly by: UserId | null; readonly at: Date; readonly tokenSha256: Buffer },
): Promise<void> {
  const { by, at, tokenSha256 } = approval;
  await changeAttestedRow(tx, 'invitations', [id], () => tx.run(APPROVE, [id, by, at, tokenSha256]));
}

const ACCEPT = statement('invitation_accept')`
  UPDATE invitations t SET accepted_by = $2, accepted_at = $3
  WHERE t.id = $1 AND ${IS_OPEN} AND t.expires_at > $3 RETURNING 1`;

/** Accepts the invitation if it is still open; returns whether it was. Of two people at once, only one accepts it. */
export async function markInvitationAccepted(tx: Tx, id: InvitationId, by: UserId, at: Date): Promise<boolean> {
  const rows = await changeAttestedRow(tx, 'invitations', [id], () => tx.run(ACCEPT, [id, by, at]));
  return rows.length === 1;
}

const WITHDRAW = statement('invitation_withdraw')`
  UPDATE invitations t SET withdrawn_at = $3
  WHERE t.merchant_id = $1 AND t.id = $2 AND ${IS_OPEN} AND t.expires_at > $3 RETURNING t.email`;

/** Withdraws the open invitation; returns its e-mail, or null when there is none. */
export async function withdrawInvitation(
  tx: Tx,
  merchantId: MerchantId,
  id: InvitationId,
  at: Date,
): Promise<string | null> {
  const withdraw = () => tx.run<{ email: string }>(WITHDRAW, [merchantId, id, at]);
  const [row] = await changeAttestedRow(tx, 'invitations', [id], withdraw);
  return row?.email ?? null;
}

const LIST_OF_EMAIL = statement('invitation_list_of_email')`
  SELECT t.id FROM invitations t
  WHERE t.merchant_id = $1 AND t.email = $2 AND ${IS_OPEN} AND t.expires_at > $3 ORDER BY t.id`;

/** Withdraws the open invitations for this e-mail; returns their ids. */
export async function withdrawInvitationsOf(
  tx: Tx,
  merchantId: MerchantId,
  email: string,
  at: Date,
): Promise<InvitationId[]> {
  const withdrawn: InvitationId[] = [];
  for (const { id } of await tx.run<{ id: InvitationId }>(LIST_OF_EMAIL, [merchantId, email, at])) {
    if ((await withdrawInvitation(tx, merchantId, id, at)) !== null) withdrawn.push(id);
  }
  return withdrawn;
}

const UNAPPROVE = statement('invitation_unapprove')`
  UPDATE invitations t SET approved_by = NULL, approved_at = NULL, approval_sha256 = NULL WHERE t.id = $1 AND ${IS_OPEN}`;

type WithdrawnOfInvitation = readonly [
  action: 'invitation.withdrawn' | 'invitation.approval_withdrawn',
  id: InvitationId,
];

/**
 * Withdraws the open invitations that the person sent, and their approval of those that others sent: these wait for somebody again.
 * Returns what was done to which. Without those by no process of ours, which nobody can accept.
 */
export async function withdrawInvitationsBy(
  tx: Tx,
  { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
  at: Date,
): Promise<WithdrawnOfInvitation[]> {
  const open = openAmong(attestedOnly(tx, 'invitations', await tx.run<InvitationRow>(LIST, [merchantId])), at);
  const withdrawn: WithdrawnOfInvitation[] = [];
  for (const { id, createdBy, approvedBy } of open) {
    if (createdBy?.id === userId) {
      await withdrawInvitation(tx, merchantId, id, at);
      withdrawn.push(['invitation.withdrawn', id]);
    } else if (approvedBy?.id === userId) {
      await changeAttestedRow(tx, 'invitations', [id], () => tx.run(UNAPPROVE, [id]));
      withdrawn.push(['invitation.approval_withdrawn', id]);
    }
  }
  return withdrawn;
}
