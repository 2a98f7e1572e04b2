// What operators say of a payment, the same of collections, payouts and refunds, and what follows from it.
import type { FailureCode } from './failure.ts';

/** What the operator says when asked. `unknown`: it could not be asked, or said nothing we may rely on. */
export type OperatorStatus =
  | { readonly kind: 'paid' | 'returned'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'pending' | 'not_found' | 'unknown' };

/** A word with the moment at which it was asked for, and the proof that a process of ours heard it then. */
export type AttestedStatus = {
  readonly status: OperatorStatus;
  /** Unix milliseconds, before the question was sent: what it says was not yet true of anything later. */
  readonly queriedAtMs: number;
  readonly attestation: string;
};

/** What workflows record, of collections, payouts and refunds together. */
export type PaymentTransitionInput =
  | { readonly kind: 'prompt_accepted' | 'expired' | 'approval_expired' | 'outcome_unknown' | 'returned' | 'refunded' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** Whether recording the fact ends a payment for good, or moves money: only an operator's own word may. */
export function needsOperatorStatus({ kind }: PaymentTransitionInput): boolean {
  return kind !== 'prompt_accepted' && kind !== 'expired' && kind !== 'approval_expired' && kind !== 'outcome_unknown';
}

/** Whether the fact is what the word says. What needs no word follows from any. */
export function followsFrom(transition: PaymentTransitionInput, { status, queriedAtMs }: AttestedStatus): boolean {
  switch (transition.kind) {
    case 'prompt_accepted':
    case 'expired':
    case 'approval_expired':
    case 'outcome_unknown':
      return true;
    case 'paid':
      return (
        (status.kind === 'paid' || status.kind === 'returned') && status.operatorReceipt === transition.operatorReceipt
      );
    case 'refunded':
      return status.kind === 'paid';
    case 'returned':
      return status.kind === 'returned';
    case 'declined':
      return status.kind === 'declined' && status.failureCode === transition.failureCode;
    case 'never_accepted':
      return status.kind === 'not_found' && queriedAtMs === transition.queriedAtMs;
  }
}
