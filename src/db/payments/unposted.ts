// Payments whose state and transfers disagree: none unless somebody bypassed the database's checks.
import type { MerchantId } from '../../domain/ids.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

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
      OR paid.amount_minor <> c.amount_minor OR back.amount_minor <> c.amount_minor) ORDER BY c.id LIMIT 100`;

const SELECT_PAYOUTS = (payments: string) =>
  `SELECT p.id, p.merchant_id FROM payouts p LEFT JOIN ledger_transfers t ON t.payout_id = p.id
   WHERE ${payments}
   GROUP BY p.id
   HAVING coalesce(array_agg(t.kind ORDER BY t.kind) FILTER (WHERE t.id IS NOT NULL), '{}') <>
       CASE WHEN p.state IN ('queued', 'released', 'reconciling') THEN ARRAY['payout_held']
            WHEN p.state = 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
            WHEN p.state = 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
            ELSE ARRAY['payout_held', 'payout_voided'] END
      OR bool_or(t.amount_minor <> p.amount_minor) ORDER BY p.id LIMIT 100`;

const OF_EVENTS = (payment: 'collection' | 'payout') =>
  `(SELECT ${payment}_id FROM events WHERE id > $1 AND id <= $2 AND ${payment}_id IS NOT NULL)`;

const OF_ENTRIES = (payment: 'collection' | 'payout') =>
  `(SELECT t.${payment}_id FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS moved (account_id, after, entry)
      JOIN ledger_transfers t ON t.credit_account_id = moved.account_id AND t.credit_entry > moved.after
        AND t.credit_entry <= moved.entry
    WHERE t.${payment}_id IS NOT NULL
    UNION
    SELECT t.${payment}_id FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS moved (account_id, after, entry)
      JOIN ledger_transfers t ON t.debit_account_id = moved.account_id AND t.debit_entry > moved.after
        AND t.debit_entry <= moved.entry
    WHERE t.${payment}_id IS NOT NULL)`;

const COLLECTIONS = statement('ledger_collections_against_transfers', SELECT_COLLECTIONS('c.id > $1 AND c.id <= $2'));
const PAYOUTS = statement('ledger_payouts_against_transfers', SELECT_PAYOUTS('p.id > $1 AND p.id <= $2'));

const CHANGED = [
  statement('ledger_changed_collections', SELECT_COLLECTIONS(`c.id IN ${OF_EVENTS('collection')}`)),
  statement('ledger_changed_payouts', SELECT_PAYOUTS(`p.id IN ${OF_EVENTS('payout')}`)),
] as const;

const MOVED = [
  statement('ledger_moved_collections', SELECT_COLLECTIONS(`c.id IN ${OF_ENTRIES('collection')}`)),
  statement('ledger_moved_payouts', SELECT_PAYOUTS(`p.id IN ${OF_ENTRIES('payout')}`)),
] as const;

/** Of the collections of the range, at most 100. */
export async function findUnpostedCollections(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return db.run<UnpostedPayment>(COLLECTIONS, [after, to]);
}

/** The same for payouts. */
export async function findUnpostedPayouts(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return db.run<UnpostedPayment>(PAYOUTS, [after, to]);
}

/** Of the payments that the events of the range report, at most 200. */
export async function findUnpostedOfEvents(db: Queryable, { after, to }: IdRange): Promise<UnpostedPayment[]> {
  return ofBoth(db, CHANGED, [after, to]);
}

/** Of the payments that the entries belong to, at most 200. */
export async function findUnpostedOfEntries(db: Queryable, ranges: readonly EntryRange[]): Promise<UnpostedPayment[]> {
  const column = <Key extends keyof EntryRange>(key: Key) => ranges.map((range) => range[key]);
  return ofBoth(db, MOVED, [column('accountId'), column('after'), column('entry')]);
}

async function ofBoth(
  db: Queryable,
  [collections, payouts]: readonly [Statement, Statement],
  values: readonly unknown[],
): Promise<UnpostedPayment[]> {
  const found = await db.run<UnpostedPayment>(collections, values);
  return [...found, ...(await db.run<UnpostedPayment>(payouts, values))];
}
