// Rows of collections.
import type { Collection, CollectionState } from '../../domain/payments/collection.ts';
import type { CollectionId } from '../../domain/ids.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { firstCheckAt } from '../../domain/work.ts';
import { rowVersionOf } from '../accounts/api-key.ts';
import { statement, type Database, type Queryable, type Tx } from '../database.ts';
import { putKey, storedSince, tryLockKey, type KeyedRequest, type StoredResponse } from './idempotency-key.ts';
import { paymentReads, type PaymentFilter } from './payment-reads.ts';

const INSERTED = `id, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator,
  operator_reference, description, metadata, created_at, updated_at, prompt_deadline_at, check_due_at, created_by,
  api_key_id, request_id`;
const VALUES = `$1, $2, $3, 'initiated', $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15, $16, $17`;

function valuesOf(collection: Collection): unknown[] {
  return [
    collection.id,
    collection.merchantId,
    collection.idempotencyKey,
    collection.amountMinor,
    collection.currency,
    collection.reference,
    collection.phone,
    collection.operator,
    collection.operatorReference,
    collection.description,
    JSON.stringify(collection.metadata),
    collection.createdAt,
    collection.promptDeadlineAt,
    firstCheckAt(collection.createdAt, collection.promptDeadlineAt),
    collection.createdBy,
    collection.apiKeyId,
    collection.requestId,
  ];
}

const INSERT = statement('collection_insert', `INSERT INTO collections (${INSERTED}) VALUES (${VALUES})`);

/** Inserts a new collection: `initiated`, version 0. */
export async function insertCollection(tx: Tx, collection: Collection): Promise<void> {
  await tx.run(INSERT, valuesOf(collection));
  announceCreated(tx, collection);
}

// The lock comes before the insert, as in a transaction of several statements, so that no call waits for another.
const ACCEPT = statement(
  'collection_accept',
  `WITH verified AS (
     SELECT FROM api_keys WHERE id = $16 AND ${rowVersionOf('api_keys')} = $18 AND ${tryLockKey('$2', '$3')}),
   claimed AS (${putKey('SELECT $2, $3, $19, $20, $21, $22 FROM verified', '$23')})
   INSERT INTO collections (${INSERTED}) SELECT ${VALUES} FROM claimed RETURNING 1`,
);

export type Acceptance = {
  readonly request: KeyedRequest;
  readonly response: StoredResponse;
  /** Of the row of the collection's API key, when the key was verified. */
  readonly keyVersion: string;
};

/**
 * Claims the idempotency key, stores the response and inserts the collection, in one statement that is a transaction of its
 * own. False, and nothing is written, when the row of the API key was written since it was verified, or the idempotency key
 * has a response or is in use.
 */
export async function acceptCollection(
  db: Database,
  collection: Collection,
  { request, response: { status, body }, keyVersion }: Acceptance,
): Promise<boolean> {
  const response = [request.fingerprint, status, body, request.at, storedSince(request)];
  const rows = await db.run(ACCEPT, [...valuesOf(collection), keyVersion, ...response]);
  if (rows.length === 0) return false;
  announceCreated(db, collection);
  return true;
}

function announceCreated(db: Queryable, collection: Collection): void {
  db.announce(entryOf('collection', collection, { from: null, eventId: null }));
}

const reads = paymentReads<Collection, Collection>({
  kind: 'collection',
  table: 'collections',
  prefix: 'col',
  columns: 'created_by, api_key_id, prompt_deadline_at, send_begun_at, prompt_expires_at',
  toPayment: (collection) => collection,
});

export const findCollection = reads.find;

/** Searches all merchants: only for callbacks, in which an operator names nothing but the operator reference. */
export const findCollectionByOperatorReference = reads.findByOperatorReference;

export type CollectionFilter = PaymentFilter<CollectionState, CollectionId>;

/** The newest collections that pass the filter, at most `limit`. */
export const listCollections = reads.list;

/** The collections of one page of the console's list. */
export const pageCollections = reads.page;

export const countCollections = reads.count;
