// Accepts collections of cached API keys, many in one statement.
import type { StoredResponse } from '../../domain/payments/stored-outcome.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { CollectionId } from '../../domain/ids.ts';
import type { KeyedRequest } from '../../security/request-fingerprint.ts';
import { rowVersionOf } from '../accounts/api-key.ts';
import { isRefusedValue, statement, type Database } from '../platform/database.ts';
import { announceCreated, insertNewFrom, NEW_ROW, newRowOf } from './collection.ts';
import { putKey, tryLockKey } from './idempotency-key.ts';

export type Acceptance = {
  readonly collection: Collection;
  readonly request: KeyedRequest;
  readonly response: StoredResponse;
  /** The version of the API key's row when the key was verified. */
  readonly keyVersion: string;
};

// The subquery looks up the row of the API key by its id for each collection, so the planner cannot choose a scan. The lock comes before
// the insert, as in a transaction of several statements, so that no call waits for another. Of two collections with the same idempotency
// key, only one is inserted.
const ACCEPT = statement('collection_accept')`
  WITH wanted AS (
    SELECT * FROM json_to_recordset($1) AS w (
      ${NEW_ROW}, "keyVersion" text, "fingerprint" bytea, "status" integer, "body" text)),
  verified AS (
    SELECT DISTINCT ON ("merchantId", "idempotencyKey") * FROM wanted
    WHERE (SELECT ${rowVersionOf('k')} FROM api_keys k WHERE k.id = "apiKeyId") = "keyVersion"
      AND ${tryLockKey('"merchantId"', '"idempotencyKey"')}),
  claimed AS (${putKey(
    'SELECT "merchantId", "idempotencyKey", "fingerprint", "status", "body", "createdAt" FROM verified',
  )}),
  ${insertNewFrom('verified JOIN claimed ON claimed.merchant_id = "merchantId" AND claimed.key = "idempotencyKey"')}
  SELECT id FROM made`;

/**
 * Claims the idempotency keys, stores the responses and inserts the collections, in one statement that is its own transaction. Returns
 * the ids of the accepted collections. Nothing is written for a collection if the row of its API key was written since its
 * verification, or if its idempotency key has a response or is in use, even by another of these collections. If PostgreSQL refuses a
 * value of any collection, none is accepted.
 */
export async function acceptCollections(
  db: Database,
  acceptances: readonly Acceptance[],
): Promise<ReadonlySet<CollectionId>> {
  const rows = await insertAll(db, acceptances);
  const accepted = new Set(rows.map(({ id }) => id));
  for (const { collection } of acceptances) if (accepted.has(collection.id)) announceCreated(db, collection);
  return accepted;
}

async function insertAll(db: Database, acceptances: readonly Acceptance[]): Promise<{ id: CollectionId }[]> {
  try {
    return await db.run<{ id: CollectionId }>(ACCEPT, [JSON.stringify(acceptances.map(rowOf))]);
  } catch (error) {
    if (isRefusedValue(error)) return [];
    throw error;
  }
}

function rowOf({ collection, request, response, keyVersion }: Acceptance): object {
  const fingerprint = `\\x${request.fingerprint.toString('hex')}`;
  return { ...newRowOf(collection), keyVersion, fingerprint, ...response };
}
