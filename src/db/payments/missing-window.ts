// Payments of which a restored database may know less than their operators: which they are, and what counts as done to them.
import type { PaymentKind, PaymentState } from '../../domain/payments/payment.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';

const LIST = statement('payment_list_missing')`
  SELECT kind, operator, state, count(*)::int AS count, min(created_at) AS oldest FROM payments
  WHERE state IN ('initiated', 'prompted', 'queued', 'released', 'reconciling')
    OR state IN ('rejected', 'cancelled', 'failed', 'expired') AND updated_at >= coalesce($1, '-infinity'::timestamptz) - interval '1 minute'
  GROUP BY kind, operator, state ORDER BY kind, operator, state`;

export type MissingPayments = {
  readonly kind: PaymentKind;
  readonly operator: string;
  readonly state: PaymentState;
  readonly count: number;
  readonly oldest: Date;
};

/** Everything pending, and what ended without payment near the end of what the database has; with null, ever. */
export function listMissing(db: Queryable, since: Date | null): Promise<MissingPayments[]> {
  return db.run<MissingPayments>(LIST, [since]);
}

// A time before the send deadline, which the row has.
const ASSUME_BEGUN = statement('payment_assume_begun')`
  UPDATE payments SET send_begun_at = updated_at
  WHERE state IN ('initiated', 'released') AND send_begun_at IS NULL AND updated_at < send_deadline_at RETURNING 1`;
const ASSUME_REPEATED = statement('payment_assume_repeated')`
  UPDATE payments SET send_repeated_at = send_begun_at
  WHERE state IN ('initiated', 'released') AND send_begun_at < send_deadline_at AND send_repeated_at IS NULL AND NOT sends_once
  RETURNING 1`;

/**
 * Records that everything which may be sent was sent, and more than once, as it may have been in the missing time: none of it ends as
 * never sent, no refusal of a further try decides, and what is sent once waits for its operator. Returns how many payments changed.
 */
export async function assumeSent(tx: Tx): Promise<number> {
  const begun = await tx.run(ASSUME_BEGUN, []);
  await tx.run(ASSUME_REPEATED, []);
  return begun.length;
}
