// Ends rechecks of final payments: when each is rechecked next, and whether that ends for want of a status.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { finishRechecks as finish, type FinishedRecheck } from '../../db/rechecks.ts';
import type { PaymentKind } from '../../domain/payments/payment.ts';

export type RecheckResult = FinishedRecheck & {
  /** The operator gave no status for so long that the payment is rechecked no more. */
  readonly isGivenUp: boolean;
};

/**
 * One transaction. A payment that is given up stands as it is recorded; an entry in the merchant's audit log says that
 * nobody knows whether the operator contradicts it. A callback that still comes has it rechecked again. Repeating this
 * changes nothing.
 */
export async function finishRechecks(
  db: Database,
  kind: PaymentKind,
  results: readonly RecheckResult[],
  at: Date,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    const ended = new Set(await finish(tx, kind, results));
    for (const { recheck, isGivenUp } of results) {
      const { id, merchantId } = recheck;
      if (!isGivenUp || !ended.has(id)) continue;
      const act = { action: `${kind}.rechecks_ended`, subjectId: id, after: { reason: 'no_status' }, at } as const;
      await recordServiceAct(tx, merchantId, act);
    }
  });
}
