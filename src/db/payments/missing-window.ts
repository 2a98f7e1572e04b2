// Payments of which a restored database may know less than their operators.
import type { PaymentKind, PaymentState } from '../../domain/payments/payment.ts';
import { statement, type Queryable } from '../platform/database.ts';

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
