// Payments whose state and transfers disagree. There are none unless somebody bypassed the database's checks.
import type { MerchantId } from '../../domain/ids.ts';
import { columnsOf } from '../platform/columns.ts';
import { statement, type Queryable } from '../platform/database.ts';

/** The rows of a check: after the id `after`, up to and including the id `to`. */
export type IdRange = { readonly after: string; readonly to: string };

/** The entries of an account: after the number `after`, up to and including the number `entry`. */
export type EntryRange = { readonly accountId: string; readonly after: bigint; readonly entry: bigint };

export type UnpostedPayment = { readonly id: string; readonly merchantId: MerchantId };

// The statement reads one index range of payments and one of transfers, and groups their rows: a join would search an index for each
// payment, more slowly the more transfers exist. A payment's row has a state and no kind; a transfer's has a kind and no state. `which`
// makes the condition on the column with the payment's id, and has its own parameters.
const unposted = (which: (id: string) => string) =>
  `SELECT id, max(merchant_id) AS merchant_id FROM (
      SELECT id, merchant_id, state, amount_minor, NULL AS kind FROM payments WHERE ${which('id')}
      UNION ALL
      SELECT payment_id, NULL, NULL, amount_minor, kind FROM ledger_transfers WHERE ${which('payment_id')}) AS rows
    GROUP BY id
    HAVING min(amount_minor) <> max(amount_minor)
      OR CASE left(id, 3) WHEN 'col' THEN ${TRANSFERS_OF_COLLECTION} WHEN 'pay' THEN ${TRANSFERS_OF_PAYOUT} ELSE '{}' END
        <> coalesce(array_agg(kind ORDER BY kind) FILTER (WHERE kind IS NOT NULL), '{}')
    ORDER BY id`;

// The transfers of each state. A refund has no transfer of its own: the money leaves by a transfer of its collection.
const TRANSFERS_OF_COLLECTION = `CASE max(state)
        WHEN 'succeeded' THEN ARRAY['collection_paid']
        WHEN 'reversed' THEN ARRAY['collection_paid', 'collection_reversed']
        ELSE '{}' END`;
const TRANSFERS_OF_PAYOUT = `CASE max(state)
        WHEN 'queued' THEN ARRAY['payout_held']
        WHEN 'released' THEN ARRAY['payout_held']
        WHEN 'reconciling' THEN ARRAY['payout_held']
        WHEN 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
        WHEN 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
        ELSE ARRAY['payout_held', 'payout_voided'] END`;

const OF_RANGE = statement('ledger_payments_against_transfers')`
  ${unposted((id) => `${id} > $1 AND ${id} <= $2`)} LIMIT 100`;
const LISTED = statement('ledger_listed_payments')`${unposted((id) => `${id} = ANY($1::text[])`)}`;

// The limit forces the planner to read the index with the number of the entry.
const sideOf = (side: 'credit' | 'debit') =>
  `SELECT t.payment_id FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS moved (account_id, after, entry)
   CROSS JOIN LATERAL (
     SELECT payment_id FROM ledger_transfers
     WHERE ${side}_account_id = moved.account_id AND ${side}_entry > moved.after AND ${side}_entry <= moved.entry
     ORDER BY ${side}_entry LIMIT moved.entry - moved.after) AS t`;

const PAYMENTS_OF_ENTRIES = statement('ledger_payments_of_entries')`
  SELECT DISTINCT payment_id FROM (${sideOf('credit')} UNION ALL ${sideOf('debit')}) AS payments`;

const PAYMENTS_OF_EVENTS = statement('ledger_payments_of_events')`
  SELECT DISTINCT payment_id FROM events WHERE id > $1 AND id <= $2 AND payment_id IS NOT NULL`;

type PaymentId = { readonly paymentId: string };

/** The unposted payments of the range, at most 100. */
export async function findUnposted(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return db.run<UnpostedPayment>(OF_RANGE, [after, to]);
}

/** All unposted payments that events of the range report. */
export async function findUnpostedOfEvents(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return findListed(db, await db.run<PaymentId>(PAYMENTS_OF_EVENTS, [after, to]));
}

/** All unposted payments to which the entries belong: an account with a fault must not get a checkpoint. */
export async function findUnpostedOfEntries(db: Queryable, ranges: readonly EntryRange[]): Promise<UnpostedPayment[]> {
  const values = columnsOf(ranges, 'accountId', 'after', 'entry');
  return findListed(db, await db.run<PaymentId>(PAYMENTS_OF_ENTRIES, values));
}

function findListed(db: Queryable, payments: readonly PaymentId[]): Promise<UnpostedPayment[]> {
  return db.run<UnpostedPayment>(LISTED, [payments.map(({ paymentId }) => paymentId)]);
}
