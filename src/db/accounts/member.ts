// Rows of members: which people act for which merchant, in which roles. Rows of removed members stay, without effect.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Member, Role } from '../../domain/accounts/member.ts';
import { HAS_SECOND_FACTOR } from './second-factor.ts';
import { requireAttestedPeople, withAttestedPeople } from './user.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';

const attestedMembers = attestedTable('members');

const LOCK = statement('member_lock')`SELECT id FROM merchants WHERE id = $1 FOR NO KEY UPDATE`;

/** Locks the merchant's members until this transaction ends. Payments are not blocked. */
export async function lockMembers(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK, [merchantId]);
}

export type Membership = Pick<Member, 'userId' | 'roles'> & {
  /** Since when they have been approvers; null: they are not. */
  readonly approverSince: Date | null;
};

const SELECT_MEMBERSHIP = `SELECT ${attestedMembers.columns} FROM members t WHERE t.removed_at IS NULL`;

/** Throws `permission_denied` for an unattested row. */
async function readMemberships(db: Queryable, query: Statement, values: readonly unknown[]): Promise<Membership[]> {
  const rows = await db.run<Membership & AttestedRow<'members'>>(query, values);
  attestedMembers.require(db, rows);
  return rows;
}

const FIND_MEMBERSHIP = statement('membership_find')`${SELECT_MEMBERSHIP} AND t.merchant_id = $1 AND t.user_id = $2`;

/** Null if the person is not a member now. */
export async function findMembership(
  db: Queryable,
  merchantId: MerchantId,
  userId: UserId,
): Promise<Membership | null> {
  const [membership] = await readMemberships(db, FIND_MEMBERSHIP, [merchantId, userId]);
  return membership ?? null;
}

const LIST_MEMBERSHIPS = statement('membership_list_among')`
  ${SELECT_MEMBERSHIP} AND t.merchant_id = $1 AND t.user_id = ANY($2)`;

/** The memberships of those of these people who are members now. */
export async function listMembershipsAmong(
  db: Queryable,
  merchantId: MerchantId,
  userIds: readonly UserId[],
): Promise<Membership[]> {
  return readMemberships(db, LIST_MEMBERSHIPS, [merchantId, userIds]);
}

const LIST_ATTESTED = statement('membership_list')`${SELECT_MEMBERSHIP} AND t.merchant_id = $1`;

/** The merchant's current members with attested rows. An unattested member has no rights. */
export async function listAttestedMemberships(db: Queryable, merchantId: MerchantId): Promise<Membership[]> {
  return attestedMembers.only(db, await db.run<Membership & AttestedRow<'members'>>(LIST_ATTESTED, [merchantId]));
}

const LOCK_MEMBERSHIP = statement('membership_lock')`
  ${SELECT_MEMBERSHIP} AND t.merchant_id = $1 AND t.user_id = $2 FOR NO KEY UPDATE`;

/** The person's current roles, none if not a member. Nobody changes them or decides as them in this transaction. */
export async function findRolesLocked(tx: Tx, merchantId: MerchantId, userId: UserId): Promise<readonly Role[]> {
  const [membership] = await readMemberships(tx, LOCK_MEMBERSHIP, [merchantId, userId]);
  return membership?.roles ?? [];
}

/** The person's current roles; none if they are not a member now. */
export async function findRoles(db: Queryable, merchantId: MerchantId, userId: UserId): Promise<readonly Role[]> {
  return (await findMembership(db, merchantId, userId))?.roles ?? [];
}

const LIST_OF_USER = statement('membership_list_of_user')`${SELECT_MEMBERSHIP} AND t.user_id = $1`;

/** The person's current roles at all of their merchants. */
export async function listRolesOf(db: Queryable, userId: UserId): Promise<readonly Role[]> {
  const memberships = await readMemberships(db, LIST_OF_USER, [userId]);
  return [...new Set(memberships.flatMap(({ roles }) => roles))];
}

const SELECT = `SELECT ${attestedMembers.columns}, u.name, u.email, ${HAS_SECOND_FACTOR} AS has_second_factor, t.created_at
  FROM members t JOIN users u ON u.id = t.user_id
  WHERE t.merchant_id = $1`;

type MemberRow = Member & AttestedRow<'members'>;

// The removal is read after the row is verified: otherwise a mark made by hand would hide a member.
function toMembers(rows: readonly MemberRow[]): Member[] {
  return rows
    .filter(({ removedAt }) => removedAt === null)
    .map(({ userId, name, email, roles, hasSecondFactor, createdAt }) => {
      return { userId, name, email, roles, hasSecondFactor, createdAt };
    });
}

const personOf = ({ userId: id, name, email }: MemberRow) => [{ id, name, email }];

async function readMembers(db: Queryable, query: Statement, values: readonly unknown[]): Promise<Member[]> {
  const rows = await db.run<MemberRow>(query, values);
  if (rows.length === 0) return [];
  attestedMembers.require(db, rows);
  await requireAttestedPeople(db, rows, personOf);
  return toMembers(rows);
}

const FIND = statement('member_find')`${SELECT} AND t.user_id = $2`;

export async function findMember(db: Queryable, merchantId: MerchantId, userId: UserId): Promise<Member | null> {
  const [member] = await readMembers(db, FIND, [merchantId, userId]);
  return member ?? null;
}

const LIST = statement('member_list')`${SELECT} ORDER BY t.created_at, t.user_id`;

/** Throws `permission_denied` if any row is unattested: decisions depend on the other members. */
export async function listMembers(db: Queryable, merchantId: MerchantId): Promise<Member[]> {
  return readMembers(db, LIST, [merchantId]);
}

/** Without members whose row is unattested, who have no rights. For display, not for decisions. */
export async function listAttestedMembers(db: Queryable, merchantId: MerchantId): Promise<Member[]> {
  const rows = attestedMembers.only(db, await db.run<MemberRow>(LIST, [merchantId]));
  return toMembers(await withAttestedPeople(db, rows, personOf));
}

const PUT = statement('member_put')`
  INSERT INTO members (merchant_id, user_id, roles, created_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (merchant_id, user_id) DO UPDATE SET roles = excluded.roles, removed_at = NULL
    WHERE members.removed_at IS NOT NULL
  RETURNING 1`;

export type NewMember = Pick<Member, 'userId' | 'roles' | 'createdAt'> & { readonly merchantId: MerchantId };

/** Makes the person a member, also after a removal. False if they are a member already; then nothing changes. */
export async function putMember(tx: Tx, member: NewMember): Promise<boolean> {
  const { merchantId, userId, roles, createdAt } = member;
  const put = () => tx.run(PUT, [merchantId, userId, roles, createdAt]);
  return (await attestedMembers.change(tx, [merchantId, userId], put)).length === 1;
}

const SET_ROLES = statement('member_set_roles')`UPDATE members SET roles = $3 WHERE merchant_id = $1 AND user_id = $2`;

export async function setRoles(tx: Tx, merchantId: MerchantId, userId: UserId, roles: readonly Role[]): Promise<void> {
  const set = () => tx.run(SET_ROLES, [merchantId, userId, roles]);
  await attestedMembers.change(tx, [merchantId, userId], set);
}

const REMOVE = statement('member_remove')`UPDATE members SET removed_at = $3 WHERE merchant_id = $1 AND user_id = $2`;

export async function markMemberRemoved(tx: Tx, merchantId: MerchantId, userId: UserId, at: Date): Promise<void> {
  const remove = () => tx.run(REMOVE, [merchantId, userId, at]);
  await attestedMembers.change(tx, [merchantId, userId], remove);
}

const LIST_MERCHANTS = statement('member_list_merchants')`
  SELECT ${attestedMembers.columns}, c.name FROM members t JOIN merchants c ON c.id = t.merchant_id
  WHERE t.user_id = $1 ORDER BY t.created_at, t.merchant_id`;

type MerchantRow = AttestedRow<'members'> & { readonly merchantId: MerchantId; readonly name: string };
type NamedMerchant = { readonly id: MerchantId; readonly name: string };

/**
 * The merchants of the person, in the order in which they joined. Throws `permission_denied` if any row is unattested:
 * nobody must hide by hand a merchant that must be told.
 */
export async function listMerchantsOf(db: Queryable, userId: UserId): Promise<NamedMerchant[]> {
  const rows = await db.run<MerchantRow>(LIST_MERCHANTS, [userId]);
  attestedMembers.require(db, rows);
  return toMerchants(rows);
}

/** Without unattested rows. For display to the person, and for the merchants where they can log in. */
export async function listAttestedMerchantsOf(db: Queryable, userId: UserId): Promise<NamedMerchant[]> {
  return toMerchants(attestedMembers.only(db, await db.run<MerchantRow>(LIST_MERCHANTS, [userId])));
}

function toMerchants(rows: readonly MerchantRow[]): NamedMerchant[] {
  return rows.filter(({ removedAt }) => removedAt === null).map(({ merchantId: id, name }) => ({ id, name }));
}
