// Finds what became of payouts that a list of them names by idempotency key, and what is known around them, before anybody makes them.
import type { Database } from '../../db/platform/database.ts';
import { listUsedKeys } from '../../db/payments/idempotency-key.ts';
import { judgePayouts } from '../../db/payments/payout-judgement.ts';
import { listPayoutsOfKeys, type KeyedPayout } from '../../db/payments/payout.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';
import type { PaymentRequest } from '../../domain/payments/payment-request.ts';
import type { PayoutJudgement } from '../../domain/payments/payout-warnings.ts';

export type KeysOutcome = {
  /** The newest payout that was created with one of the keys; null when none was. */
  readonly payout: KeyedPayout | null;
  /** The first of the keys that can still create a payout; null when each has a stored response, or was used for a payout. */
  readonly unusedKey: string | null;
};

/** For each list of keys, in its order. A key may become used the moment after: its creation decides, not this. */
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

/** A payout that is to be made, and the one that was made of it already, if one was. */
export type PlannedPayout = {
  readonly request: Pick<PaymentRequest, 'phone' | 'amountMinor' | 'reference' | 'payeeName'>;
  readonly existing: KeyedPayout | null;
};

/**
 * What an approver would be told of each if it were made now, in its order; null in the place of null. What was made of a payout already is
 * no other payout, so nobody is warned of it.
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
