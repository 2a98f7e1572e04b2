// Requeues final payments whose recheck is due: the dispatcher starts their recheck.
import type { Database } from '../db/database.ts';
import { requeueRechecks as requeue } from '../db/work-checks.ts';
import type { Clocks } from '../domain/clocks.ts';
import type { PaymentKind } from '../domain/payments/payment.ts';

export type RequeueRechecks = {
  readonly at: Date;
  readonly clocks: Pick<Clocks, 'lateCheckAgesMs'>;
  readonly limit: number;
};

/** How many of each kind. */
export type RequeuedRechecks = Readonly<Record<PaymentKind, number>>;

/** Requeues up to `limit` of each kind, each kind in one statement. Repeating it requeues the next ones. */
export async function requeueRechecks(db: Database, { at, clocks, limit }: RequeueRechecks): Promise<RequeuedRechecks> {
  const due = { at, lateCheckAgesMs: clocks.lateCheckAgesMs, limit };
  return {
    collection: await requeue(db, 'collection', due),
    payout: await requeue(db, 'payout', due),
    reversal: await requeue(db, 'reversal', due),
  };
}
