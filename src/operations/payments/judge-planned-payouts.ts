// Finds the payouts that a list names by idempotency key, and the facts that an approver would see, before anybody creates them.
import type { Database } from '../../db/platform/database.ts';
import { listUsedKeys } from '../../db/payments/idempotency-key.ts';
import { judgePayouts } from '../../db/payments/payout-judgement.ts';
import { listPayoutsOfKeys, type KeyedPayout } from '../../db/payments/payout.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';
import type { PaymentRequest } from '../../domain/payments/payment-request.ts';
import type { PayoutJudgement } from '../../domain/payments/payout-warnings.ts';

export type KeysOutcome = {
  /** The newest payout that was created with one of the keys; null if there is none. */
  readonly payout: KeyedPayout | null;
  /** The first key that can still create a payout; null if each key has a stored response, or was used for a payout. */
  readonly unusedKey: string | null;
};

/**
 * One outcome for each list of keys, in order. Another request may use a key immediately afterwards: the creation of the payout decides.
 */
export async function findKeysOutcomes(
  db: Database,
  merchantId: MerchantId,
  lists: readonly (readonly string[])[],
  at: Date,
): Promise<KeysOutcome[]> {
  const keys = [...new Set(lists.flat())];
  const used = await listUsedKeys(db, merchantId, keys, at);
  const payouts = new Map(
    (await listPayoutsOfKeys(db, merchantId, keys)).map((payout) => [payout.idempotencyKey, payout] as const),
  );
  return lists.map((list) => {
    const created = list.flatMap((key) => payouts.get(key) ?? []);
    const [newest = null] = created.sort((a, b) => (a.id < b.id ? 1 : -1));
    return { payout: newest, unusedKey: list.find((key) => !used.has(key) && !payouts.has(key)) ?? null };
  });
}

/** A planned payout, and the payout that was already created from the plan, if any. */
export type PlannedPayout = {
  readonly request: Pick<PaymentRequest, 'phone' | 'amountMinor' | 'reference' | 'payeeName'>;
  readonly existing: KeyedPayout | null;
};

/**
 * The judgement of each planned payout if it were created now, in order; null for null. A payout already created from the same plan is not
 * another payout, so it causes no warning.
 */
export async function judgePlannedPayouts(
  db: Database,
  merchantId: MerchantId,
  planned: readonly (PlannedPayout | null)[],
  at: Date,
): Promise<(PayoutJudgement | null)[]> {
  const judged = planned.map((payout) => {
    if (payout === null) return null;
    const { phone, amountMinor, reference, payeeName = null } = payout.request;
    return { id: payout.existing?.id ?? newId('pay'), phone, amountMinor, reference, payeeName, createdAt: at };
  });
  const judgements = await judgePayouts(
    db,
    merchantId,
    judged.filter((payout) => payout !== null),
    at,
  );
  return judged.map((payout) => (payout && judgements.get(payout.id)) ?? null);
}
