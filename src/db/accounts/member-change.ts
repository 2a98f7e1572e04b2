// Rows of proposals to change what a member may do, and the change itself.
import type { MemberChangeId, MerchantId, UserId } from '../../domain/ids.ts';
import type { Role } from '../../domain/accounts/member.ts';
import type { MemberChange, MemberChangeState } from '../../domain/accounts/member-change.ts';
import { statement, type Queryable, type Tx } from '../database.ts';
import { markMemberRemoved, setRoles } from './member.ts';
import { deleteSessionsOfMember } from './session.ts';

type MemberChangeRow = {
  id: MemberChangeId;
  merchant_id: MerchantId;
  user_id: UserId;
  member_name: string;
  state: MemberChangeState;
  roles_before: Role[];
  roles_after: Role[] | null;
  proposed_by: UserId;
  proposer_name: string;
  created_at: Date;
  expires_at: Date;
  decided_by: UserId | null;
  decider_name: string | null;
  decided_at: Date | null;
};

const INSERT = statement(
  'member_change_insert',
  `INSERT INTO member_changes (id, merchant_id, user_id, state, roles_before, roles_after, proposed_by, created_at,
                               expires_at)
   VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8)`,
);

export async function insertMemberChange(tx: Tx, change: MemberChange): Promise<void> {
  const { id, merchantId, member, before, after, proposedBy, createdAt, expiresAt } = change;
  await tx.run(INSERT, [id, merchantId, member.id, before, after, proposedBy.id, createdAt, expiresAt]);
}

const REPLACE_PENDING = statement(
  'member_change_replace_pending',
  `UPDATE member_changes SET state = 'replaced', decided_at = $4
   WHERE merchant_id = $1 AND user_id = $2 AND proposed_by = coalesce($3, proposed_by) AND state = 'pending'
     AND (roles_after IS NOT NULL OR $5)
   RETURNING id`,
);

/** Whose roles changed; or of whom `proposer` proposes something else. */
export type OutdatedAbout = { readonly merchantId: MerchantId; readonly userId: UserId } & (
  { readonly proposer: UserId } | { readonly proposer: null; readonly isGone: boolean }
);

/**
 * The pending proposals about a member make way: those of one person for another of theirs; or, as the member is not what they
 * were, all to change their roles, and those to remove them too if they are gone. The ids of those that did.
 */
export async function replaceMemberChanges(tx: Tx, about: OutdatedAbout, at: Date): Promise<MemberChangeId[]> {
  const { merchantId, userId, proposer } = about;
  const values = [merchantId, userId, proposer, at, about.proposer !== null || about.isGone];
  return (await tx.run<{ id: MemberChangeId }>(REPLACE_PENDING, values)).map(({ id }) => id);
}

const SELECT = `SELECT c.id, c.merchant_id, c.user_id, m.name AS member_name, c.state, c.roles_before, c.roles_after,
    c.proposed_by, p.name AS proposer_name, c.created_at, c.expires_at, c.decided_by, d.name AS decider_name, c.decided_at
  FROM member_changes c JOIN users m ON m.id = c.user_id JOIN users p ON p.id = c.proposed_by
    LEFT JOIN users d ON d.id = c.decided_by
  WHERE c.merchant_id = $1`;

const LIST_PENDING = statement(
  'member_change_list_pending',
  `${SELECT} AND c.state = 'pending' AND c.expires_at > $2 ORDER BY c.id`,
);

export async function listPendingMemberChanges(
  db: Queryable,
  merchantId: MerchantId,
  at: Date,
): Promise<MemberChange[]> {
  return (await db.run<MemberChangeRow>(LIST_PENDING, [merchantId, at])).map(toMemberChange);
}

const FIND = statement('member_change_find', `${SELECT} AND c.id = $2`);

export async function findMemberChange(
  db: Queryable,
  merchantId: MerchantId,
  id: MemberChangeId,
): Promise<MemberChange | null> {
  const [row] = await db.run<MemberChangeRow>(FIND, [merchantId, id]);
  return row ? toMemberChange(row) : null;
}

const DECIDE = statement(
  'member_change_decide',
  `UPDATE member_changes SET state = $2, decided_by = $3, decided_at = $4
   WHERE id = $1 AND state = 'pending' AND expires_at > $4 RETURNING 1`,
);

export type MemberChangeEnd = {
  readonly state: 'approved' | 'rejected' | 'withdrawn';
  /** Null of an approval by whoever runs the service, and of what was withdrawn. */
  readonly by: UserId | null;
  readonly at: Date;
};

/** Whether it was still pending; now it is over. Of two who decide at once, one does. */
export async function endMemberChange(tx: Tx, id: MemberChangeId, end: MemberChangeEnd): Promise<boolean> {
  const rows = await tx.run(DECIDE, [id, end.state, end.by, end.at]);
  return rows.length === 1;
}

/** The member has these roles from their next request on; without roles they are none, and their sessions are dead. */
export async function putRoles(
  tx: Tx,
  member: { readonly merchantId: MerchantId; readonly userId: UserId },
  roles: readonly Role[] | null,
  at: Date,
): Promise<void> {
  const { merchantId, userId } = member;
  if (roles !== null) {
    await setRoles(tx, merchantId, userId, roles);
    return;
  }
  await markMemberRemoved(tx, merchantId, userId, at);
  await deleteSessionsOfMember(tx, merchantId, userId);
}

function toMemberChange(row: MemberChangeRow): MemberChange {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    member: { id: row.user_id, name: row.member_name },
    state: row.state,
    before: row.roles_before,
    after: row.roles_after,
    proposedBy: { id: row.proposed_by, name: row.proposer_name },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by === null ? null : { id: row.decided_by, name: row.decider_name ?? '' },
    decidedAt: row.decided_at,
  };
}
