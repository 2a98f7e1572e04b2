// Rows of payouts, each with its approvals.
import type { Environment } from '../../domain/event.ts';
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { Payout, PayoutState } from '../../domain/payments/payout.ts';
import { entryOf } from '../../domain/payments/state-change.ts';
import { parametersOf } from '../platform/columns.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';
import { insertNewWork, NEW_WORK } from '../work/work-rows.ts';
import { paymentReads, PAYOUT_COLUMNS, toPayout, type PaymentFilter } from './payment-reads.ts';
import {
  announceChange,
  changeStatement,
  consequencesOf,
  consequenceValues,
  type Consequences,
  type RecordedChange,
} from './change-statement.ts';

const reads = paymentReads({ kind: 'payout', prefix: 'pay', columns: PAYOUT_COLUMNS, toPayment: toPayout });

export const findPayout = reads.find;

export const beginPayoutQuery = reads.beginQuery;

/** Throws `payout_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export const getPayout = reads.get;

/** $14 to $34 of a statement with `insertNewPayout`. */
export const NEW_PAYOUT = parametersOf(
  `id, merchant_id, idempotency_key, amount_minor, currency, reference, phone, operator, operator_reference, description, metadata,
   created_by, api_key_id, approvals_required, expires_at, created_at, request_attestation, request_id, payee_name, sends_once, receipt_follows`,
  14,
);

/** An INSERT of a new queued payout if `source` has a row. `onConflict`: the clause for a pending payout with the same key. */
export function insertNewPayout(source: string, onConflict: string): string {
  return `INSERT INTO payments (${NEW_PAYOUT.columns}, kind, state, updated_at)
   SELECT ${NEW_PAYOUT.places}, 'payout', 'queued', ${NEW_PAYOUT.placeOf.createdAt} ${source}
   ${onConflict}
   RETURNING ${NEW_WORK}, version, request_id`;
}

/** $1 to $34 of a statement with `insertNewPayout`. */
export function newPayoutValues(payout: Payout, consequences: Consequences): unknown[] {
  const metadata = JSON.stringify(payout.metadata);
  return [...consequenceValues(consequences), ...NEW_PAYOUT.valuesOf({ ...payout, metadata })];
}

/** The part of a statement with `insertNewPayout` that inserts the work of the payout. */
export const NEW_PAYOUT_WORK = `new_work AS (${insertNewWork('moved')})`;

const INSERT = changeStatement(
  'payout_insert',
  insertNewPayout(
    '',
    `ON CONFLICT (merchant_id, idempotency_key) WHERE kind = 'payout' AND state IN ('queued', 'released', 'reconciling')
     DO NOTHING`,
  ),
  NEW_PAYOUT_WORK,
);

/**
 * Inserts a new payout, `queued`, with its money held. False, and nothing is written, if a payout with this key is
 * still pending. Fails if the amount is more than the available balance.
 */
export async function insertPayout(tx: Tx, payout: Payout, environment: Environment): Promise<boolean> {
  const consequences = consequencesOf(tx, payout, environment);
  const [written] = await tx.run<RecordedChange>(INSERT, newPayoutValues(payout, consequences));
  if (!written) return false;
  announceNewPayout(tx, payout, consequences, written);
  return true;
}

export function announceNewPayout(
  db: Queryable,
  payout: Payout,
  { event }: Consequences,
  written: RecordedChange,
): void {
  announceChange(db, written, entryOf(payout, { from: null, eventId: event?.id ?? null }));
}

const LIST_OF_KEYS = statement('payout_list_of_keys')`
  SELECT DISTINCT ON (idempotency_key) idempotency_key, id, state, created_at FROM payments
  WHERE merchant_id = $1 AND kind = 'payout' AND lower(idempotency_key) = ANY($3) AND idempotency_key = ANY($2) ORDER BY idempotency_key, id DESC`;

/** A payout, and the idempotency key that it was created with. */
export type KeyedPayout = Pick<Payout, 'idempotencyKey' | 'id' | 'state' | 'createdAt'>;

/** The newest payout of each of these idempotency keys, including expired keys. */
export function listPayoutsOfKeys(
  db: Queryable,
  merchantId: MerchantId,
  keys: readonly string[],
): Promise<KeyedPayout[]> {
  // The index has lowercase keys.
  const lowerKeys = keys.map((key) => key.toLowerCase());
  return db.run<KeyedPayout>(LIST_OF_KEYS, [merchantId, keys, lowerKeys]);
}

/** Searches all merchants, and all generations. For callbacks only, because they name only the operator reference. */
export async function findPayoutByOperatorReference(
  db: Queryable,
  operator: OperatorId,
  operatorReference: string,
): Promise<Payout | null> {
  const first = await reads.findByOperatorReference(db, operator, operatorReference);
  return first ?? reads.findBy(db, FIND_BY_LATER_REFERENCE, [operatorReference, operator]);
}

const FIND_BY_LATER_REFERENCE = statement('payout_find_by_later_reference')`
  ${reads.select} WHERE kind = 'payout' AND operator = $2
    AND id = (SELECT payment_id FROM send_generations WHERE operator_reference = $1)`;

export type PayoutFilter = PaymentFilter<PayoutState, PayoutId>;

/** A page of the newest payouts that pass the filter. */
export const listPayouts = reads.list;

export const pagePayouts = reads.page;

export const countPayouts = reads.count;
