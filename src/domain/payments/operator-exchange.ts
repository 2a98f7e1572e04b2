// One exchange with an operator, in words of ours: what was asked, when, how long it took and how it ended.
import type { FailureCode } from './failure.ts';
import type { PaymentId } from './payment.ts';

/** Of a send: whether the operator accepted it. Of a status query: what it says of the payment. Of a name query: whether it has a name. */
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
  /** Of what the operator refused or failed. */
  readonly failureCode: FailureCode | null;
};
