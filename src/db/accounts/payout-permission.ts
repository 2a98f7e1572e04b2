// The versions of all rows that decide whether an API key may create payouts: they confirm that none changed since.
import type { ApiKeyId } from '../../domain/ids.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { rowVersionOf } from './api-key.ts';

/**
 * An expression for the versions, in a statement with the key as `k`: of the key, of its merchant's policy, and of its
 * maker and each owner with their membership, account and passkeys. Equal text means that the rows are unchanged and
 * equally many: a missing row is part of the text.
 */
export const PERMISSION_VERSION = `concat(
  ${rowVersionOf('k')}, ';',
  (SELECT ${rowVersionOf('p')} FROM policies p WHERE p.merchant_id = k.merchant_id), ';',
  (SELECT string_agg(
     concat(${rowVersionOf('m')}, ',', ${rowVersionOf('u')}, ',',
       (SELECT string_agg(${rowVersionOf('f')}, ',' ORDER BY f.id) FROM passkeys f WHERE f.user_id = m.user_id)),
     ';' ORDER BY m.user_id)
   FROM members m LEFT JOIN users u ON u.id = m.user_id
   WHERE m.merchant_id = k.merchant_id
     AND (m.user_id = k.created_by OR m.removed_at IS NULL AND 'owner' = ANY (m.roles))))`;

const FIND = statement('payout_permission_find_version')`
  SELECT ${PERMISSION_VERSION} AS version FROM api_keys k WHERE k.id = $1 AND ${rowVersionOf('k')} = $2`;

/** The versions; null if the row of the key has another version. */
export async function findPermissionVersion(db: Queryable, id: ApiKeyId, keyVersion: string): Promise<string | null> {
  return (await findOne<{ version: string }>(db, FIND, [id, keyVersion]))?.version ?? null;
}
