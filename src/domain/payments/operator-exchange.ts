// One exchange with an operator, in our own terms: its kind, start, duration and outcome.
import type { FailureCode } from './failure.ts';
import type { PaymentId } from './payment.ts';

/** For a send: whether the operator accepted it. For a status query: the operator status. For a name query: whether a name exists. */
export const EXCHANGE_OUTCOMES = [
  ...(['accepted', 'refused'] as const),
  ...(['pending', 'succeeded', 'failed', 'returned', 'paid_unreadable', 'unreadable', 'not_found', 'asked'] as const),
  ...(['named', 'unnamed'] as const),
  'unknown',
] as const;
export type ExchangeOutcome = (typeof EXCHANGE_OUTCOMES)[number];

export const EXCHANGE_KINDS = ['send', 'status_query', 'name_query'] as const;

export type OperatorExchange = {
  /** A collection or payout, or the reversal of a collection. */
  readonly paymentId: PaymentId;
  readonly kind: (typeof EXCHANGE_KINDS)[number];
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: ExchangeOutcome;
  /** For a payment that the operator refused or failed. */
  readonly failureCode: FailureCode | null;
};
