// Rows of members: which people act for which merchant, in which roles. Rows of removed members stay, without effect.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Member, Role } from '../../domain/accounts/member.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';

const LOCK = statement('member_lock', 'SELECT id FROM merchants WHERE id = $1 FOR NO KEY UPDATE');

/** Until this transaction ends, no other one changes the merchant's members. Payments are not blocked. */
export async function lockMembers(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK, [merchantId]);
}

const FIND_ROLES = statement(
  'member_find_roles',
  'SELECT roles FROM members WHERE merchant_id = $1 AND user_id = $2 AND removed_at IS NULL',
);

/** The roles that the person has now; none when they are not, or no longer, a member. */
export async function findRoles(db: Queryable, merchantId: MerchantId, userId: UserId): Promise<readonly Role[]> {
  const [row] = await db.run<{ roles: Role[] }>(FIND_ROLES, [merchantId, userId]);
  return row?.roles ?? [];
}

const LIST_ROLES = statement(
  'member_list_roles',
  `SELECT DISTINCT role FROM members m CROSS JOIN unnest(m.roles) AS role
   WHERE m.user_id = $1 AND m.removed_at IS NULL`,
);

/** The roles that the person has now at any of their merchants. */
export async function listRolesOf(db: Queryable, userId: UserId): Promise<readonly Role[]> {
  return (await db.run<{ role: Role }>(LIST_ROLES, [userId])).map(({ role }) => role);
}

const SELECT = `SELECT m.user_id, u.name, u.email, m.roles, u.totp_secret_sealed IS NOT NULL AS has_second_factor,
    m.created_at
  FROM members m JOIN users u ON u.id = m.user_id
  WHERE m.merchant_id = $1 AND m.removed_at IS NULL`;

const FIND = statement('member_find', `${SELECT} AND m.user_id = $2`);

export async function findMember(db: Queryable, merchantId: MerchantId, userId: UserId): Promise<Member | null> {
  return findOne<Member>(db, FIND, [merchantId, userId]);
}

const LIST = statement('member_list', `${SELECT} ORDER BY m.created_at, m.user_id`);

export async function listMembers(db: Queryable, merchantId: MerchantId): Promise<Member[]> {
  return db.run<Member>(LIST, [merchantId]);
}

const PUT = statement(
  'member_put',
  `INSERT INTO members (merchant_id, user_id, roles, created_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (merchant_id, user_id) DO UPDATE SET roles = excluded.roles, removed_at = NULL
     WHERE members.removed_at IS NOT NULL
   RETURNING 1`,
);

export type NewMember = {
  readonly merchantId: MerchantId;
  readonly userId: UserId;
  readonly roles: readonly Role[];
  readonly createdAt: Date;
};

/** Makes the person a member, also if they were removed before. False when they are a member; then nothing changes. */
export async function putMember(tx: Tx, member: NewMember): Promise<boolean> {
  const rows = await tx.run(PUT, [member.merchantId, member.userId, member.roles, member.createdAt]);
  return rows.length === 1;
}

const SET_ROLES = statement(
  'member_set_roles',
  'UPDATE members SET roles = $3 WHERE merchant_id = $1 AND user_id = $2',
);

export async function setRoles(tx: Tx, merchantId: MerchantId, userId: UserId, roles: readonly Role[]): Promise<void> {
  await tx.run(SET_ROLES, [merchantId, userId, roles]);
}

const REMOVE = statement('member_remove', 'UPDATE members SET removed_at = $3 WHERE merchant_id = $1 AND user_id = $2');

export async function markMemberRemoved(tx: Tx, merchantId: MerchantId, userId: UserId, at: Date): Promise<void> {
  await tx.run(REMOVE, [merchantId, userId, at]);
}

const LIST_MERCHANTS = statement(
  'member_list_merchants',
  `SELECT m.merchant_id AS id, c.name FROM members m JOIN merchants c ON c.id = m.merchant_id
   WHERE m.user_id = $1 AND m.removed_at IS NULL ORDER BY m.created_at, m.merchant_id`,
);

/** The merchants that the person is a member of, in the order in which they joined. */
export async function listMerchantsOf(
  db: Queryable,
  userId: UserId,
): Promise<{ readonly id: MerchantId; readonly name: string }[]> {
  return db.run<{ id: MerchantId; name: string }>(LIST_MERCHANTS, [userId]);
}
