// Reads the other payouts that matter to a decision on a payout: one statement for a whole page of payouts.
import { lowestIdAt, type MerchantId, type PayoutId } from '../../domain/ids.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import {
  MAX_EARLIER,
  SAME_PAYOUT_MS,
  SENT_STATES,
  USUAL_DAYS,
  USUAL_PAYOUTS,
  type EarlierPayouts,
  type PayoutHistory,
  type UsualAmount,
} from '../../domain/payments/payout-warnings.ts';
import { columnsOf } from '../platform/columns.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';

// The same condition as in the indexes.
const IS_SENT = `p.state IN (${SENT_STATES.map((state) => `'${state}'`).join(', ')})`;
/** The most payouts to one phone within two days that are read. */
const LOOKED_THROUGH = 200;
const OF_REFERENCE = 20;

const newestOf = (columns: string, where: string, most: string) =>
  `SELECT ${columns} FROM payments p WHERE p.merchant_id = $1 AND p.kind = 'payout' AND p.id <> asked.id AND ${where} ORDER BY p.id DESC LIMIT ${most}`;
const LIST = statement('payout_history_list')`
  SELECT asked.id, earlier.count, last.id AS last_id, last.created_at AS last_created_at, last.amount_minor AS last_amount_minor,
         last.state AS last_state, same.id AS same_id, same.created_at AS same_created_at, same.state AS same_state,
         referred.ids[1] AS reference_id, referred.phones[1] AS reference_phone, referred.count AS reference_phones
  FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])
    AS asked (id, phone, amount_minor, reference, from_id, to_id)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS count
    FROM (${newestOf('1', `p.phone = asked.phone AND ${IS_SENT}`, `${MAX_EARLIER + 1}`)}) AS p) AS earlier
  LEFT JOIN LATERAL (
    ${newestOf('p.id, p.created_at, p.amount_minor, p.state', `p.phone = asked.phone AND ${IS_SENT}`, '1')}) AS last ON true
  LEFT JOIN LATERAL (
    SELECT p.id, p.created_at, p.state
    FROM (${newestOf('p.*', 'p.phone = asked.phone AND p.id >= asked.from_id AND p.id < asked.to_id', `${LOOKED_THROUGH}`)}) AS p
    WHERE p.amount_minor = asked.amount_minor AND (p.state = 'queued' OR ${IS_SENT}) ORDER BY p.id DESC LIMIT 1) AS same ON true
  CROSS JOIN LATERAL (
    SELECT count(DISTINCT p.phone)::int AS count, array_agg(p.id ORDER BY p.id DESC) AS ids,
           array_agg(p.phone ORDER BY p.id DESC) AS phones
    FROM (${newestOf('p.id, p.phone', `p.reference = asked.reference AND ${IS_SENT}`, `${OF_REFERENCE}`)}) AS p) AS referred`;

type HistoryRow = {
  readonly id: PayoutId;
  readonly count: number;
  readonly lastId: PayoutId | null;
  readonly lastCreatedAt: Date;
  readonly lastAmountMinor: bigint;
  readonly lastState: Payout['state'];
  readonly sameId: PayoutId | null;
  readonly sameCreatedAt: Date;
  readonly sameState: Payout['state'];
  readonly referenceId: PayoutId | null;
  readonly referencePhone: string;
  readonly referencePhones: number;
};

/** Facts about other payouts that matter to a decision on one payout. */
export type OtherPayouts = Omit<PayoutHistory, 'payee'>;

export type JudgedPayout = Pick<Payout, 'id' | 'phone' | 'amountMinor' | 'reference' | 'payeeName' | 'createdAt'>;

export async function listPayoutHistories(
  db: Queryable,
  merchantId: MerchantId,
  payouts: readonly JudgedPayout[],
): Promise<Map<PayoutId, OtherPayouts>> {
  if (payouts.length === 0) return new Map();
  const idAt = ({ createdAt }: JudgedPayout, ms: number) => lowestIdAt('pay', createdAt.getTime() + ms);
  const rows = await db.run<HistoryRow>(LIST, [
    merchantId,
    ...columnsOf(payouts, 'id', 'phone', 'amountMinor', 'reference'),
    payouts.map((payout) => idAt(payout, -SAME_PAYOUT_MS)),
    payouts.map((payout) => idAt(payout, SAME_PAYOUT_MS)),
  ]);
  return new Map(rows.map((row) => [row.id, historyOf(row)]));
}

function historyOf(row: HistoryRow): OtherPayouts {
  const { lastId, sameId, referenceId } = row;
  const last: EarlierPayouts['last'] = lastId && {
    id: lastId,
    createdAt: row.lastCreatedAt,
    amountMinor: row.lastAmountMinor,
    state: row.lastState,
  };
  return {
    earlier: { count: Math.min(row.count, MAX_EARLIER), isAtLeast: row.count > MAX_EARLIER, last },
    same: sameId && { id: sameId, createdAt: row.sameCreatedAt, state: row.sameState },
    ofReference: referenceId && { id: referenceId, phone: row.referencePhone, phones: row.referencePhones },
  };
}

// The state is written as a range and in the order, with the same result: otherwise a generic plan reads the payouts of all merchants by
// id, and for a merchant with few payouts it reads all payouts that exist.
const USUAL = statement('payout_usual_amount')`
  SELECT count(*)::int AS count, percentile_disc(0.5) WITHIN GROUP (ORDER BY amount_minor) AS median_minor
  FROM (SELECT id, amount_minor FROM payments WHERE merchant_id = $1 AND kind = 'payout' AND state >= 'succeeded' AND state <= 'succeeded'
        ORDER BY state, id DESC LIMIT ${USUAL_PAYOUTS}) AS lately WHERE id >= $2`;

/** The usual amount of the merchant's succeeded payouts, as of `at`. */
export async function findUsualAmount(db: Queryable, merchantId: MerchantId, at: Date): Promise<UsualAmount> {
  const since = lowestIdAt('pay', at.getTime() - USUAL_DAYS * 24 * 60 * 60 * 1000);
  return (await findOne<UsualAmount>(db, USUAL, [merchantId, since])) ?? { count: 0, medianMinor: null };
}
