// Payments whose state and transfers disagree: none unless somebody bypassed the database's checks.
import type { MerchantId } from '../../domain/ids.ts';
import { statement, type Queryable } from '../platform/database.ts';

/** The rows of a check: after the one id, up to the other. */
export type IdRange = { readonly after: string; readonly to: string };

/** The entries of an account: after the one number, up to the other. */
export type EntryRange = { readonly accountId: string; readonly after: bigint; readonly entry: bigint };

export type UnpostedPayment = { readonly id: string; readonly merchantId: MerchantId };

// Payments and transfers are read by one range of an index each and brought together here: a join would go down an index for each payment,
// and the deeper the more transfers there ever were. A payment's own row has its state and no kind, a transfer's has a kind and no state.
// `which` says of a column with the payment's id which are looked at; the parameters are its own.
const WITH_TRANSFERS = (table: 'collections' | 'payouts', which: (id: string) => string) => {
  const id = table === 'collections' ? 'collection_id' : 'payout_id';
  return `SELECT id, max(merchant_id) AS merchant_id FROM (
      SELECT id, merchant_id, state, amount_minor, NULL AS kind FROM ${table} WHERE ${which('id')}
      UNION ALL
      SELECT ${id}, NULL, NULL, amount_minor, kind FROM ledger_transfers WHERE ${which(id)}) AS rows
    GROUP BY id HAVING min(amount_minor) <> max(amount_minor)`;
};

const SELECT_COLLECTIONS = (which: (id: string) => string) =>
  `${WITH_TRANSFERS('collections', which)}
      OR (max(state) IN ('succeeded', 'reversed')) <> (count(*) FILTER (WHERE kind = 'collection_paid') > 0)
      OR (max(state) = 'reversed') <> (count(*) FILTER (WHERE kind = 'collection_reversed') > 0) ORDER BY id`;

const SELECT_PAYOUTS = (which: (id: string) => string) =>
  `${WITH_TRANSFERS('payouts', which)}
      OR coalesce(array_agg(kind ORDER BY kind) FILTER (WHERE kind IS NOT NULL), '{}') <>
       CASE WHEN max(state) IN ('queued', 'released', 'reconciling') THEN ARRAY['payout_held']
            WHEN max(state) = 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
            WHEN max(state) = 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
            ELSE ARRAY['payout_held', 'payout_voided'] END ORDER BY id`;

const inRange = (id: string) => `${id} > $1 AND ${id} <= $2`;
const COLLECTIONS = statement('ledger_collections_against_transfers', `${SELECT_COLLECTIONS(inRange)} LIMIT 100`);
const PAYOUTS = statement('ledger_payouts_against_transfers', `${SELECT_PAYOUTS(inRange)} LIMIT 100`);

const inList = (id: string) => `${id} = ANY($1::text[])`;
const LISTED_COLLECTIONS = statement('ledger_listed_collections', SELECT_COLLECTIONS(inList));
const LISTED_PAYOUTS = statement('ledger_listed_payouts', SELECT_PAYOUTS(inList));

// An entry's side is read by the index with its number: with a limit it cannot be joined in any other way.
const sideOf = (side: 'credit' | 'debit') =>
  `SELECT t.collection_id, t.payout_id FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS moved (account_id, after, entry)
   CROSS JOIN LATERAL (
     SELECT collection_id, payout_id FROM ledger_transfers
     WHERE ${side}_account_id = moved.account_id AND ${side}_entry > moved.after AND ${side}_entry <= moved.entry
     ORDER BY ${side}_entry LIMIT moved.entry - moved.after) AS t`;

const PAYMENTS_OF_ENTRIES = statement(
  'ledger_payments_of_entries',
  `SELECT DISTINCT * FROM (${sideOf('credit')} UNION ALL ${sideOf('debit')}) AS payments`,
);

const PAYMENTS_OF_EVENTS = statement(
  'ledger_payments_of_events',
  'SELECT DISTINCT collection_id, payout_id FROM events WHERE id > $1 AND id <= $2',
);

type PaymentIds = { readonly collectionId: string | null; readonly payoutId: string | null };

/** Of the collections of the range, at most 100. */
export async function findUnpostedCollections(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return db.run<UnpostedPayment>(COLLECTIONS, [after, to]);
}

/** The same for payouts. */
export async function findUnpostedPayouts(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return db.run<UnpostedPayment>(PAYOUTS, [after, to]);
}

/** All of those that the events of the range report. */
export async function findUnpostedOfEvents(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return findListed(db, await db.run<PaymentIds>(PAYMENTS_OF_EVENTS, [after, to]));
}

/** All of those that the entries belong to: what has a fault must not get a checkpoint. */
export async function findUnpostedOfEntries(db: Queryable, ranges: readonly EntryRange[]): Promise<UnpostedPayment[]> {
  const column = <Key extends keyof EntryRange>(key: Key) => ranges.map((range) => range[key]);
  const values = [column('accountId'), column('after'), column('entry')];
  return findListed(db, await db.run<PaymentIds>(PAYMENTS_OF_ENTRIES, values));
}

async function findListed(db: Queryable, payments: readonly PaymentIds[]): Promise<UnpostedPayment[]> {
  const collections = payments.flatMap(({ collectionId }) => collectionId ?? []);
  const payouts = payments.flatMap(({ payoutId }) => payoutId ?? []);
  return [
    ...(await db.run<UnpostedPayment>(LISTED_COLLECTIONS, [collections])),
    ...(await db.run<UnpostedPayment>(LISTED_PAYOUTS, [payouts])),
  ];
}
