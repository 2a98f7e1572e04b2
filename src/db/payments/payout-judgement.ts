// What is known of the payouts around others, for whoever makes or releases those.
import type { Queryable } from '../platform/database.ts';
import { findUsualAmount, listPayoutHistories, type JudgedPayout } from './payout-history.ts';
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import { warningsOf, type PayoutJudgement } from '../../domain/payments/payout-warnings.ts';

/** By payout, as of then. A payout need not exist yet. */
export async function judgePayouts(
  db: Queryable,
  merchantId: MerchantId,
  payouts: readonly JudgedPayout[],
  at: Date,
): Promise<Map<PayoutId, PayoutJudgement>> {
  if (payouts.length === 0) return new Map();
  const histories = await listPayoutHistories(db, merchantId, payouts);
  const usual = await findUsualAmount(db, merchantId, at);
  return new Map(
    payouts.flatMap((payout) => {
      const history = histories.get(payout.id);
      if (!history) return [];
      return [[payout.id, { earlier: history.earlier, warnings: warningsOf(payout, history, usual) }] as const];
    }),
  );
}
