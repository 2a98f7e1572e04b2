// Rows of API keys: a digest of the key and what it may do, never the key itself.
import type { ListedApiKey } from '../../domain/accounts/api-key.ts';
import { countsAsMaker, permissionDenied, type Role } from '../../domain/accounts/member.ts';
import { notFound } from '../../domain/errors.ts';
import type { ApiKeyId, MerchantId, UserId } from '../../domain/ids.ts';
import type { Currency } from '../../domain/money.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, readCount, statement, type Queryable, type Tx } from '../platform/database.ts';
import { newestPages } from '../platform/page.ts';
import { personColumn } from './names.ts';

const attestedApiKeys = attestedTable('api_keys');
const attestedMembers = attestedTable('members');

export type ApiKey = Pick<
  ListedApiKey,
  'id' | 'environment' | 'scopes' | 'allowedAddresses' | 'lastUsedAt' | 'expiresAt' | 'revokedAt'
> & {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  /** The maker of what the key creates; null if its creator is no longer owner, admin or maker. */
  readonly maker: UserId | null;
  /** Changes with every write to the row, by any writer. */
  readonly rowVersion: string;
};

const insert = insertion(
  'api_key_insert',
  'api_keys',
  `id, merchant_id, name, environment, hint, key_sha256, scopes, created_by, created_at, expires_at, allowed_addresses`,
);

/** With the scope `payouts:write` neither `createdBy` nor `expiresAt` is null. */
export type NewApiKey = Pick<
  ListedApiKey,
  'id' | 'name' | 'environment' | 'hint' | 'scopes' | 'createdAt' | 'expiresAt' | 'allowedAddresses'
> & {
  readonly merchantId: MerchantId;
  readonly sha256: Buffer;
  readonly createdBy: UserId | null;
};

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<void> {
  await insert(tx, { ...key, keySha256: key.sha256 });
  await attestedApiKeys.attest(tx, [key.id]);
}

/**
 * An expression for the version of a row of table `table`: the transaction that wrote it, and its position. Equal text
 * means an unchanged row.
 */
export function rowVersionOf(table: string): string {
  return `${table}.xmin::text || ' ' || ${table}.ctid::text`;
}

const FIND = statement('api_key_find')`
  SELECT ${attestedApiKeys.columns}, uses.last_used_at, m.currency AS merchant_currency, c.user_id, c.roles,
         c.approver_since, c.removed_at, c.attestation AS member_attestation, ${rowVersionOf('t')} AS row_version
  FROM api_keys t
    JOIN merchants m ON m.id = t.merchant_id
    JOIN api_key_uses uses ON uses.api_key_id = t.id
    LEFT JOIN members c ON c.merchant_id = t.merchant_id AND c.user_id = t.created_by AND c.removed_at IS NULL
  WHERE t.key_sha256 = $1`;

type KeyAndCreator = Omit<ApiKey, 'maker'> &
  AttestedRow<'api_keys'> &
  Omit<AttestedRow<'members'>, 'attestation'> & {
    /** The creator, if they are a member now. */
    readonly userId: UserId | null;
    readonly roles: readonly Role[] | null;
    readonly memberAttestation: string | null;
  };

/** Null also for an unattested key. If the creator's row is unattested, the key has no maker. */
export async function findApiKeyByHash(db: Queryable, sha256: Buffer): Promise<ApiKey | null> {
  const row = await findOne<KeyAndCreator>(db, FIND, [sha256]);
  if (row === null || !attestedApiKeys.isAttested(db, row)) return null;
  const { id, merchantId, merchantCurrency, environment, scopes, allowedAddresses } = row;
  const { lastUsedAt, expiresAt, revokedAt, rowVersion } = row;
  const rights = { environment, scopes, maker: makerOf(db, row), allowedAddresses };
  return { id, merchantId, merchantCurrency, ...rights, lastUsedAt, expiresAt, revokedAt, rowVersion };
}

function makerOf(db: Queryable, row: KeyAndCreator): UserId | null {
  const { userId, roles, memberAttestation: attestation } = row;
  if (userId === null || roles === null || !countsAsMaker(roles)) return null;
  return attestedMembers.isAttested(db, { ...row, attestation }) ? userId : null;
}

// Of concurrent requests one records the use, and no other waits for it.
const TOUCH = statement('api_key_touch')`
  UPDATE api_key_uses SET last_used_at = $2
  WHERE api_key_id = (
    SELECT api_key_id FROM api_key_uses WHERE api_key_id = $1 AND (last_used_at IS NULL OR last_used_at < $3)
    FOR NO KEY UPDATE SKIP LOCKED)`;

/** Records a use, unless a use at or after `notSince` is recorded. */
export async function touchApiKey(db: Queryable, id: ApiKeyId, at: Date, notSince: Date): Promise<void> {
  await db.run(TOUCH, [id, at, notSince]);
}

const SELECT_LISTED = `SELECT k.id, k.name, k.environment, k.hint, k.scopes, ${personColumn('u')} AS created_by,
    k.allowed_addresses, k.created_at, uses.last_used_at, k.expires_at, k.revoked_at, k.replaced_by
  FROM api_keys k JOIN api_key_uses uses ON uses.api_key_id = k.id LEFT JOIN users u ON u.id = k.created_by
  WHERE k.merchant_id = $1`;

const LIST = statement('api_key_list')`${SELECT_LISTED} AND k.id < coalesce($2, 'key_~') ORDER BY k.id DESC LIMIT $3`;

/** Includes revoked and expired keys. */
export const listApiKeys = newestPages<ListedApiKey>(LIST);

const FIND_ONE = statement('api_key_find_one')`${SELECT_LISTED} AND k.id = $2`;

/** Throws `api_key_not_found`. */
export async function getApiKey(db: Queryable, merchantId: MerchantId, id: ApiKeyId): Promise<ListedApiKey> {
  const key = await findOne<ListedApiKey>(db, FIND_ONE, [merchantId, id]);
  if (!key) throw notFound('api_key');
  return key;
}

const FIND_LOCKED = statement('api_key_find_locked')`${SELECT_LISTED} AND k.id = $2 FOR NO KEY UPDATE OF k`;

/** The key, locked against rolls and revocations. Throws `permission_denied` for an unattested row. */
export async function findApiKeyLocked(tx: Tx, merchantId: MerchantId, id: ApiKeyId): Promise<ListedApiKey | null> {
  const key = await findOne<ListedApiKey>(tx, FIND_LOCKED, [merchantId, id]);
  if (key !== null && (await attestedApiKeys.find(tx, [id])) === null) {
    throw permissionDenied('the row of the key is not attested');
  }
  return key;
}

const COUNT_ACTIVE = statement('api_key_count_active')`
  SELECT count(*)::int AS count FROM api_keys
  WHERE merchant_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`;

export async function countActiveApiKeys(db: Queryable, merchantId: MerchantId, at: Date): Promise<number> {
  return readCount(db, COUNT_ACTIVE, [merchantId, at]);
}

const END = statement('api_key_end')`
  UPDATE api_keys SET expires_at = $2, revoked_at = $3, replaced_by = $4 WHERE id = $1`;

/** When the key was created; null if there is no such key, or its row is unattested. */
export async function findApiKeyCreation(db: Queryable, id: ApiKeyId): Promise<Date | null> {
  return ((await attestedApiKeys.find(db, [id]))?.createdAt as Date | undefined) ?? null;
}

/** Sets when the key ends and which key replaces it, if any. Throws `permission_denied` for an unattested key. */
export async function endApiKey(
  tx: Tx,
  id: ApiKeyId,
  end: Pick<ListedApiKey, 'expiresAt' | 'revokedAt' | 'replacedBy'>,
): Promise<void> {
  const set = () => tx.run(END, [id, end.expiresAt, end.revokedAt, end.replacedBy]);
  await attestedApiKeys.change(tx, [id], set);
}
