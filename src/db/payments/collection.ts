// Rows of collections.
import type { Collection, CollectionState } from '../../domain/payments/collection.ts';
import type { CollectionId } from '../../domain/ids.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';
import { insertNewWork, NEW_WORK } from '../work/work-rows.ts';
import { paymentReads, REQUESTED_COLUMNS, type PaymentFilter } from './payment-reads.ts';

/** The columns of a new collection in JSON, named as in `newRowOf`. */
export const NEW_ROW = `"id" text, "merchantId" text, "idempotencyKey" text, "amountMinor" bigint, "currency" text,
  "reference" text, "phone" text, "operator" text, "operatorReference" uuid, "description" text, "metadata" json,
  "createdAt" timestamptz, "promptDeadlineAt" timestamptz, "createdBy" text, "apiKeyId" text,
  "requestId" text, "sendsOnce" boolean, "receiptFollows" boolean`;

/** A new collection as a JSON value. */
export function newRowOf(collection: Collection): object {
  return {
    ...collection,
    // JSON has no integers of this size.
    amountMinor: String(collection.amountMinor),
    amountReversedMinor: undefined,
  };
}

/**
 * Two parts of a statement that insert the new collections of `source`, whose columns are those of `NEW_ROW`, and their work. Each
 * collection is `initiated`, version 0; `made` has the ids.
 */
export function insertNewFrom(source: string): string {
  return `made AS (
     INSERT INTO payments (
       id, kind, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator, operator_reference,
       description, metadata, created_at, updated_at, send_deadline_at, created_by, api_key_id, request_id,
       sends_once, receipt_follows)
     SELECT "id", 'collection', "merchantId", "idempotencyKey", 'initiated', "amountMinor", "currency", "reference", "phone", "operator",
            "operatorReference", "description", "metadata", "createdAt", "createdAt", "promptDeadlineAt",
            "createdBy", "apiKeyId", "requestId", "sendsOnce", "receiptFollows"
     FROM ${source}
     RETURNING ${NEW_WORK}),
   new_work AS (${insertNewWork('made')})`;
}

const INSERT = statement('collection_insert')`
  WITH ${insertNewFrom(`json_to_record($1) AS new (${NEW_ROW})`)} SELECT id FROM made`;

/** Inserts a new collection: `initiated`, version 0. */
export async function insertCollection(tx: Tx, collection: Collection): Promise<void> {
  await tx.run(INSERT, [JSON.stringify(newRowOf(collection))]);
  announceCreated(tx, collection);
}

export function announceCreated(db: Queryable, collection: Collection): void {
  db.announce(entryOf(collection, { from: null, eventId: null }));
}

export const COLLECTION_COLUMNS = `${REQUESTED_COLUMNS}, created_by, send_deadline_at AS prompt_deadline_at, prompt_expires_at`;

const reads = paymentReads<Collection, Collection>({
  kind: 'collection',
  prefix: 'col',
  columns: COLLECTION_COLUMNS,
  toPayment: (collection) => collection,
});

export const findCollection = reads.find;

export const beginCollectionQuery = reads.beginQuery;

/** Throws `collection_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export const getCollection = reads.get;

/** Searches all merchants. For messages only, because their address names only the operator reference. */
export const findCollectionByOperatorReference = reads.findByOperatorReference;

export type CollectionFilter = PaymentFilter<CollectionState, CollectionId>;

/** A page of the newest collections that pass the filter. */
export const listCollections = reads.list;

export const pageCollections = reads.page;

export const countCollections = reads.count;
