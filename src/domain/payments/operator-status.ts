// The operator status, the same for collections, payouts and refunds.
import type { FailureCode } from './failure.ts';

/** Money as an operator reports it: a decimal string in whole units, and the operator's currency code. */
export type ReportedMoney = { readonly amount: string; readonly currency: string };

/**
 * The operator's answer to a status query or, if `refused`, to the send of a payment. `unknown`: the operator could not be queried, or
 * its answer is unreliable.
 */
export type OperatorStatus =
  /** The receipt is null if it follows later (`receiptFollows` of the payment). */
  | { readonly kind: 'paid'; readonly operatorReceipt: string | null }
  | { readonly kind: 'returned'; readonly operatorReceipt: string }
  /** Paid, or paid and returned, but with other money than requested, or by another phone; null if the value cannot be read. */
  | {
      readonly kind: 'paid_otherwise';
      readonly operatorReceipt: string | null;
      readonly reported: ReportedMoney | null;
    }
  /**
   * `refused` decides the payment only if there was no other try to send it. `isFloatLow`: our own float is too low, so a payout may be
   * sent again.
   */
  | { readonly kind: 'declined' | 'refused'; readonly failureCode: FailureCode; readonly isFloatLow?: true }
  /**
   * `unreadable`: the operator has the payment, and its status cannot be read. `other_payment`: the operator's payment under the reference
   * is not paid, and has another amount, currency or phone than requested. `asked`: the answer comes later, in a message.
   */
  | { readonly kind: 'pending' | 'not_found' | 'unreadable' | 'other_payment' | 'asked' | 'unknown' };

/** A status with the time of its query or send. */
export type QueriedStatus = {
  readonly status: OperatorStatus;
  /** Unix milliseconds, before the call to the operator: the status need not hold for any later time. */
  readonly queriedAtMs: number;
};

/** Whether the status says that the operator has the payment, and nothing else that can be recorded. */
export function isAcceptance({ kind }: OperatorStatus): boolean {
  return ['pending', 'paid_otherwise', 'unreadable', 'other_payment'].includes(kind);
}

/** The recorder's view of the status from which a transition follows. */
export type StatusBasis = { readonly kind: OperatorStatus['kind']; readonly queriedAtMs: number };

export function basisOf({ status, queriedAtMs }: QueriedStatus): StatusBasis {
  return { kind: status.kind, queriedAtMs };
}

/** Whether the status is the answer to a send, which says nothing about other tries. */
export function isRefusedSend(basis: StatusBasis | null): boolean {
  return basis?.kind === 'refused';
}
