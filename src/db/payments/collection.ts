// Rows of collections.
import type { Collection, CollectionState } from '../../domain/payments/collection.ts';
import type { CollectionId } from '../../domain/ids.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { firstCheckAt } from '../../domain/work.ts';
import { statement, type Tx } from '../database.ts';
import { paymentReads, type PaymentFilter } from './payment-reads.ts';

const INSERT = statement(
  'collection_insert',
  `INSERT INTO collections (id, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator,
     operator_reference, description, metadata, created_at, updated_at, prompt_deadline_at, check_due_at, created_by,
     api_key_id, request_id)
   VALUES ($1, $2, $3, 'initiated', $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15, $16, $17)`,
);

/** Inserts a new collection: `initiated`, version 0. */
export async function insertCollection(tx: Tx, collection: Collection): Promise<void> {
  await tx.run(INSERT, [
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
  ]);
  tx.announce(entryOf('collection', collection, { from: null, eventId: null }));
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
