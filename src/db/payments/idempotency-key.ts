// Idempotency keys and the responses stored under them.
import { DomainError } from '../../domain/errors.ts';
import { IDEMPOTENCY_KEPT_FOR_MS } from '../../domain/payments/payment-request.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { StoredOutcome, StoredResponse } from '../../domain/payments/stored-outcome.ts';
import type { KeyedRequest } from '../../security/request-fingerprint.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { findOne, readCount, statement, type Database, type Queryable, type Tx } from '../platform/database.ts';

/**
 * A condition that takes the lock of a merchant's key and holds it until the transaction or its connection ends. False while another
 * call with this key is in flight. A call with another key of the same digest makes it false too, which does no harm.
 */
export function tryLockKey(merchantId: string, key: string): string {
  return `pg_try_advisory_xact_lock(hashtextextended(${merchantId} || ' ' || ${key}, 0))`;
}

const TRY_LOCK = statement('idempotency_key_try_lock')`SELECT ${tryLockKey('$1', '$2')} AS is_locked`;

export async function tryLockIdempotencyKey(tx: Tx, merchantId: MerchantId, key: string): Promise<boolean> {
  return (await findOne<{ isLocked: boolean }>(tx, TRY_LOCK, [merchantId, key]))?.isLocked === true;
}

const FIND = statement('idempotency_key_find')`
  SELECT request_sha256 AS fingerprint, response_status AS status, response_body AS body FROM idempotency_keys
  WHERE merchant_id = $1 AND key = $2 AND created_at >= $3`;

type StoredRow = StoredResponse & { readonly fingerprint: Buffer };

const LIST_USED = statement('idempotency_key_list_used')`
  SELECT key FROM idempotency_keys WHERE merchant_id = $1 AND key = ANY($2) AND created_at >= $3`;

/** The keys that have a stored response which has not expired. */
export async function listUsedKeys(
  db: Queryable,
  merchantId: MerchantId,
  keys: readonly string[],
  at: Date,
): Promise<Set<string>> {
  const rows = await db.run<{ key: string }>(LIST_USED, [merchantId, keys, storedSince(at)]);
  return new Set(rows.map(({ key }) => key));
}

/**
 * An INSERT that stores the response of each of `rows` (merchant, key, fingerprint, status, body and time, in this order) and returns
 * merchant and key of each response that it stored. A key that has an unexpired response is skipped. A key whose response has expired
 * may be used again before the sweep removes it.
 */
export function putKey(rows: string): string {
  return `INSERT INTO idempotency_keys (merchant_id, key, request_sha256, response_status, response_body, created_at)
   ${rows}
   ON CONFLICT (merchant_id, key) DO UPDATE
     SET request_sha256 = excluded.request_sha256, response_status = excluded.response_status,
         response_body = excluded.response_body, created_at = excluded.created_at
     WHERE idempotency_keys.created_at < excluded.created_at - interval '${IDEMPOTENCY_KEPT_FOR_MS} milliseconds'
   RETURNING merchant_id, key`;
}

/** A condition: the key has a stored response that has not expired at `at`, as of the snapshot of the statement. */
export function hasResponse(merchantId: string, key: string, at: string): string {
  return `EXISTS (SELECT FROM idempotency_keys WHERE merchant_id = ${merchantId} AND key = ${key}
    AND created_at >= ${at}::timestamptz - interval '${IDEMPOTENCY_KEPT_FOR_MS} milliseconds')`;
}

const PUT = statement('idempotency_key_put')`${putKey('VALUES ($1, $2, $3, $4, $5, $6)')}`;

/**
 * The response that is stored for the same request, or null: then this transaction has the key until it ends. Throws
 * `idempotency_key_in_flight` while another call has the key, and `idempotency_key_reused` if the key was used for another request.
 */
export async function claimIdempotencyKey(tx: Tx, request: KeyedRequest): Promise<StoredResponse | null> {
  const { merchantId, key, fingerprint, at } = request;
  if (!(await tryLockIdempotencyKey(tx, merchantId, key))) throw inFlight();
  const row = await findOne<StoredRow>(tx, FIND, [merchantId, key, storedSince(at)]);
  if (row === null) return null;
  const { fingerprint: stored, ...response } = row;
  if (stored.equals(fingerprint)) return response;
  throw new DomainError(
    'idempotency_key_reused',
    'This Idempotency-Key was already used with different parameters. Use a new key for a new request.',
  );
}

/**
 * In one transaction, claims the key, calls `act` to do what the request asks for, and stores the response: all or nothing. A repeated
 * request gets the stored response. Throws the errors of `claimIdempotencyKey` and `act`; nothing is stored then.
 */
export function respondOnce<Given extends StoredOutcome>(
  db: Database,
  request: KeyedRequest,
  act: (tx: Tx) => Promise<Given>,
): Promise<Given | { readonly kind: 'replayed'; readonly response: StoredResponse }> {
  return db.withTransaction(async (tx) => {
    const response = await claimIdempotencyKey(tx, request);
    if (response) return { kind: 'replayed', response };
    const outcome = await act(tx);
    await storeResponse(tx, request, outcome.response);
    return outcome;
  });
}

const COUNT_OF_KEY = statement('payment_count_of_key')`
  SELECT count(*)::int AS count FROM payments
  WHERE lower(idempotency_key) = lower($3 COLLATE "C") AND idempotency_key = $3 AND merchant_id = $1 AND kind = $2`;

/** How many payments of the kind were created with the key, which this transaction claimed. Rows stay when responses expire. */
export async function countOfKey(
  tx: Tx,
  kind: 'collection' | 'payout',
  { merchantId, idempotencyKey }: { readonly merchantId: MerchantId; readonly idempotencyKey: string },
): Promise<number> {
  return readCount(tx, COUNT_OF_KEY, [merchantId, kind, idempotencyKey]);
}

/** Stores the response to a request whose key was claimed in this transaction. */
async function storeResponse(tx: Tx, request: KeyedRequest, response: StoredResponse): Promise<void> {
  const { merchantId, key, fingerprint, at } = request;
  const rows = await tx.run(PUT, [merchantId, key, fingerprint, response.status, response.body, at]);
  if (rows.length === 0) throw inFlight();
}

/** A response that was stored before this time has expired. */
function storedSince(at: Date): Date {
  return new Date(at.getTime() - IDEMPOTENCY_KEPT_FOR_MS);
}

function inFlight(): DomainError {
  return new DomainError(
    'idempotency_key_in_flight',
    'A request with this Idempotency-Key is still in progress. Wait a second, then send it again with the same key.',
    { retryAfterSeconds: 1 },
  );
}

export const deleteIdempotencyKeys = boundedDelete('idempotency_key_delete_expired', {
  table: 'idempotency_keys',
  key: 'merchant_id, key',
  isOver: 'created_at < $1',
});
