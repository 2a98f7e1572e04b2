// Has a final payment rechecked again because the operator gave no usable status, or ends its rechecks.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { scheduleRepeatedRecheck } from '../../db/payments/payment-progress.ts';
import type { Clocks } from '../../domain/clocks.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';

const LONGEST_GAP_MS = 24 * 3_600_000;

export type RepeatRecheck = {
  readonly ref: PaymentRef;
  readonly clocks: Pick<Clocks, 'staleAfterMs' | 'recheckForMs'>;
  readonly at: Date;
};

/**
 * The gaps grow with the age of the outcome, or of the last callback, to a day. Once that is `recheckForMs` ago the rechecks
 * end: the outcome stands as it is recorded, an entry in the merchant's audit log says that nobody knows whether the
 * operator contradicts it, and true is returned. A callback that still comes has it rechecked again. One transaction.
 */
export async function repeatRecheck(db: Database, { ref, clocks, at }: RepeatRecheck): Promise<{ isOver: boolean }> {
  const gaps = { shortestGapMs: clocks.staleAfterMs, longestGapMs: LONGEST_GAP_MS, forMs: clocks.recheckForMs };
  return db.withTransaction(async (tx) => {
    const { isOver } = await scheduleRepeatedRecheck(tx, ref, { at, ...gaps });
    if (isOver) {
      const act = { action: `${ref.kind}.rechecks_ended`, subjectId: ref.id, after: { reason: 'no_status' }, at };
      await recordServiceAct(tx, ref.merchantId, act);
    }
    return { isOver };
  });
}
