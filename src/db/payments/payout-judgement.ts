// Judgements of payouts from other payouts and payee names, for people who make or release payouts.
import type { Queryable } from '../platform/database.ts';
import { listPayeeNames } from './payee-name.ts';
import { findUsualAmount, listPayoutHistories, type JudgedPayout } from './payout-history.ts';
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import { warningsOf, type PayoutJudgement } from '../../domain/payments/payout-warnings.ts';

/** The judgements by payout, as of `at`. A payout need not exist yet. */
export async function judgePayouts(
  db: Queryable,
  merchantId: MerchantId,
  payouts: readonly JudgedPayout[],
  at: Date,
): Promise<Map<PayoutId, PayoutJudgement>> {
  if (payouts.length === 0) return new Map();
  const histories = await listPayoutHistories(db, merchantId, payouts);
  const usual = await findUsualAmount(db, merchantId, at);
  const ids = payouts.map(({ id }) => id);
  const payees = await listPayeeNames(db, ids);
  return new Map(
    payouts.flatMap((payout) => {
      const history = histories.get(payout.id);
      if (!history) return [];
      const payee = payees.get(payout.id) ?? null;
      const warnings = warningsOf(payout, { ...history, payee }, usual);
      return [[payout.id, { earlier: history.earlier, payee, warnings }] as const];
    }),
  );
}
