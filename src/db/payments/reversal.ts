// Rows of refunds, each with its approvals and the data of its collection.
import type { CollectionId, MerchantId, ReversalId } from '../../domain/ids.ts';
import type { Reversal, ReversalState } from '../../domain/payments/reversal.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { parametersOf } from '../platform/columns.ts';
import { readCount, statement, type Queryable, type Tx } from '../platform/database.ts';
import { insertNewWork, NEW_WORK } from '../work/work-rows.ts';
import { paymentReads, REFUND_COLUMNS, toMoneyOut, type PaymentFilter } from './payment-reads.ts';

const ofCollection = (value: string, name: string) =>
  `(SELECT ${value} FROM payments c WHERE c.id = payments.collection_id) AS ${name}`;

const reads = paymentReads({
  kind: 'reversal',
  prefix: 'rev',
  columns: `${REFUND_COLUMNS}, collection_id, ${ofCollection('c.operator_reference', 'collection_operator_reference')},
    ${ofCollection('c.operator_receipt', 'collection_receipt')},
    ${ofCollection("c.state = 'reversed'", 'is_collection_returned')}`,
  toPayment: toMoneyOut<Reversal>,
});

const NEW = parametersOf(
  `id, merchant_id, collection_id, operator_reference, created_by, approvals_required, created_at, expires_at, request_attestation,
   request_id, operator, amount_minor, currency, phone, reference, sends_once, receipt_follows`,
);
const INSERT = statement('reversal_insert')`
  WITH made AS (
    INSERT INTO payments (${NEW.columns}, kind, state, updated_at)
    VALUES (${NEW.places}, 'reversal', 'queued', ${NEW.placeOf.createdAt})
    ON CONFLICT (collection_id) WHERE collection_id IS NOT NULL AND state NOT IN ('failed', 'rejected', 'cancelled', 'expired')
    DO NOTHING RETURNING ${NEW_WORK}),
  new_work AS (${insertNewWork('made')})
  SELECT FROM made`;

/** False, and nothing is written, if the collection has a pending or succeeded reversal. */
export async function insertReversal(tx: Tx, reversal: Reversal): Promise<boolean> {
  const rows = await tx.run(INSERT, NEW.valuesOf(reversal));
  if (rows.length === 0) return false;
  tx.announce(entryOf(reversal, { from: null, eventId: null }));
  return true;
}

export const findReversal = reads.find;

export const beginReversalQuery = reads.beginQuery;

/** Throws `reversal_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export const getReversal = reads.get;

const FIND_LATEST = statement('reversal_find_latest')`
  ${reads.select} WHERE merchant_id = $1 AND collection_id = $2 ORDER BY id DESC LIMIT 1`;

export function findLatestReversal(
  db: Queryable,
  merchantId: MerchantId,
  collectionId: CollectionId,
): Promise<Reversal | null> {
  return reads.findBy(db, FIND_LATEST, [merchantId, collectionId]);
}

const COUNT = statement('reversal_count')`
  SELECT count(*)::int AS count FROM payments WHERE merchant_id = $1 AND collection_id = $2`;

/** How many refunds of the collection were requested, with any outcome. */
export function countReversals(db: Queryable, merchantId: MerchantId, collectionId: CollectionId): Promise<number> {
  return readCount(db, COUNT, [merchantId, collectionId]);
}

export const findReversalByOperatorReference = reads.findByOperatorReference;

export type ReversalFilter = PaymentFilter<ReversalState, ReversalId>;

/** A page of the newest refunds of the merchant that pass the filter. */
export const listReversals = reads.list;
