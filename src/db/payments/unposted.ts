// Payments whose state and transfers disagree: none unless somebody bypassed the database's checks.
import type { MerchantId } from '../../domain/ids.ts';
import { statement, type Queryable } from '../database.ts';

/** The rows of a check: after the one id, up to the other. */
export type IdRange = { readonly after: string; readonly to: string };

/** The entries of an account: after the one number, up to the other. */
export type EntryRange = { readonly accountId: string; readonly after: bigint; readonly entry: bigint };

export type UnpostedPayment = { readonly id: string; readonly merchantId: MerchantId };

/** `payments` says which are looked at; the parameters are its own. */
const SELECT_COLLECTIONS = (payments: string) =>
  `SELECT c.id, c.merchant_id FROM collections c
   LEFT JOIN ledger_transfers paid ON paid.collection_id = c.id AND paid.kind = 'collection_paid'
   LEFT JOIN ledger_transfers back ON back.collection_id = c.id AND back.kind = 'collection_reversed'
   WHERE ${payments} AND ((c.state IN ('succeeded', 'reversed')) <> (paid.id IS NOT NULL)
      OR (c.state = 'reversed') <> (back.id IS NOT NULL)
      OR paid.amount_minor <> c.amount_minor OR back.amount_minor <> c.amount_minor) ORDER BY c.id`;

const SELECT_PAYOUTS = (payments: string) =>
  `SELECT p.id, p.merchant_id FROM payouts p LEFT JOIN ledger_transfers t ON t.payout_id = p.id
   WHERE ${payments}
   GROUP BY p.id
   HAVING coalesce(array_agg(t.kind ORDER BY t.kind) FILTER (WHERE t.id IS NOT NULL), '{}') <>
       CASE WHEN p.state IN ('queued', 'released', 'reconciling') THEN ARRAY['payout_held']
            WHEN p.state = 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
            WHEN p.state = 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
            ELSE ARRAY['payout_held', 'payout_voided'] END
      OR bool_or(t.amount_minor <> p.amount_minor) ORDER BY p.id`;

const COLLECTIONS = statement(
  'ledger_collections_against_transfers',
  `${SELECT_COLLECTIONS('c.id > $1 AND c.id <= $2')} LIMIT 100`,
);
const PAYOUTS = statement(
  'ledger_payouts_against_transfers',
  `${SELECT_PAYOUTS('p.id > $1 AND p.id <= $2')} LIMIT 100`,
);

const LISTED_COLLECTIONS = statement('ledger_listed_collections', SELECT_COLLECTIONS('c.id = ANY($1::text[])'));
const LISTED_PAYOUTS = statement('ledger_listed_payouts', SELECT_PAYOUTS('p.id = ANY($1::text[])'));

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
