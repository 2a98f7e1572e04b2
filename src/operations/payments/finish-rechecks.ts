// Ends rechecks of final payments: when each is rechecked next, and whether that ends for want of a status.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { finishRechecks as finish, type ClaimedRecheck, type FinishedRecheck } from '../../db/work/rechecks.ts';
import type { PaymentKind } from '../../domain/payments/payment.ts';

export type RecheckResult = FinishedRecheck & {
  /** The operator gave no status for so long that the payment is rechecked no more. */
  readonly isGivenUp: boolean;
};

/**
 * One transaction, which returns the payments that are given up now. Such a payment stands as it is recorded; an entry in
 * the merchant's audit log says that nobody knows whether the operator contradicts it. A callback that still comes has it
 * rechecked again. Repeating this changes nothing.
 */
export async function finishRechecks(
  db: Database,
  kind: PaymentKind,
  results: readonly RecheckResult[],
  at: Date,
): Promise<ClaimedRecheck[]> {
  return db.withTransaction(async (tx) => {
    const over = new Set(await finish(tx, results));
    const givenUp = results.filter(({ recheck, isGivenUp }) => isGivenUp && over.has(recheck.id));
    for (const { recheck } of givenUp) {
      const { id, merchantId } = recheck;
      const act = { action: `${kind}.rechecks_ended`, subjectId: id, after: { reason: 'no_status' }, at } as const;
      await recordServiceAct(tx, merchantId, act);
    }
    return givenUp.map(({ recheck }) => recheck);
  });
}
