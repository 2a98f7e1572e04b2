// The operator status, the same for collections, payouts and refunds, and which transitions it supports.
import type { CollectionTransitionInput } from './collection-progress.ts';
import type { FailureCode } from './failure.ts';
import type { PayoutOutcomeInput } from './payout-progress.ts';
import type { ReversalTransitionInput } from './reversal-progress.ts';

/**
 * Money as an operator reports it: a decimal string in whole units, and the operator's currency code. On its way from the query to
 * the recorder, through Temporal's histories, the amount is sealed.
 */
export type ReportedMoney = { readonly amount: string; readonly currency: string };

/**
 * What the operator said: in answer to a status query or, `refused`, to the send of a payment. `unknown`: the operator could not be
 * queried, or its answer cannot be relied on.
 */
export type OperatorStatus =
  | { readonly kind: 'paid' | 'returned'; readonly operatorReceipt: string }
  /** Paid, or paid and returned, but not with the money that was requested; null where it cannot be read. */
  | {
      readonly kind: 'paid_otherwise';
      readonly operatorReceipt: string | null;
      readonly reported: ReportedMoney | null;
    }
  /** `refused` says how the payment ended only if there was no other try to send it. */
  | { readonly kind: 'declined' | 'refused'; readonly failureCode: FailureCode }
  /** `unreadable`: the operator has it, and what it says of it cannot be read. */
  | { readonly kind: 'pending' | 'not_found' | 'unreadable' | 'unknown' };

/** A status with the time of its query and the attestation that a process of ours received it. */
export type AttestedStatus = {
  readonly status: OperatorStatus;
  /** Unix milliseconds, before the query was sent: the status need not hold for any later time. */
  readonly queriedAtMs: number;
  readonly attestation: string;
};

/** Whether the status query failed: its status is `unknown`, and no operator said so. */
export function isNoStatus({ attestation }: AttestedStatus): boolean {
  return attestation === '';
}

/** Whether only an operator that has the payment says this. */
export function hasPayment({ kind }: OperatorStatus): boolean {
  return kind !== 'refused' && kind !== 'not_found' && kind !== 'unknown';
}

/** Whether the status says that the operator has the payment, and no more than that which can be recorded. */
export function isAcceptance({ kind }: OperatorStatus): boolean {
  return kind === 'pending' || kind === 'paid_otherwise' || kind === 'unreadable';
}

/** Every transition input that a workflow records. The operations of people record their decisions. */
export type PaymentTransitionInput = CollectionTransitionInput | PayoutOutcomeInput | ReversalTransitionInput;

/** They report nothing that the operator said; what they depend on is in the row. */
const NEEDS_NO_STATUS: ReadonlySet<PaymentTransitionInput['kind']> = new Set([
  'approval_expired',
  'outcome_unknown',
  'never_sent',
]);

/**
 * The input with the fields of its kind and no others. It comes through Temporal, and the operations would write what somebody
 * added there, a send deadline for example.
 */
export function exactInput(input: PaymentTransitionInput): PaymentTransitionInput {
  switch (input.kind) {
    case 'paid':
      return { kind: input.kind, operatorReceipt: input.operatorReceipt };
    case 'declined':
    case 'expired':
      return { kind: input.kind, failureCode: input.failureCode };
    case 'never_accepted':
    case 'undecided':
      return { kind: input.kind, queriedAtMs: input.queriedAtMs };
    case 'prompt_accepted':
    case 'outcome_unknown':
    case 'approval_expired':
    case 'never_sent':
    case 'returned':
    case 'refunded':
      return { kind: input.kind };
  }
}

/** What a recorder needs to know of the status from which a transition follows, once its attestation is verified. */
export type StatusBasis = { readonly kind: OperatorStatus['kind']; readonly queriedAtMs: number };

export function basisOf({ status, queriedAtMs }: AttestedStatus): StatusBasis {
  return { kind: status.kind, queriedAtMs };
}

/** Whether the status is the answer to a send, which says nothing of other tries. */
export function isRefusedSend(basis: StatusBasis | null): boolean {
  return basis?.kind === 'refused';
}

/** Whether the transition is recorded only on an operator status that supports it, because it says or does what the operator decides. */
export function needsOperatorStatus({ kind }: PaymentTransitionInput): boolean {
  return !NEEDS_NO_STATUS.has(kind);
}

/** Whether the status supports the transition. Every status supports a transition that needs none. */
export function followsFrom(transition: PaymentTransitionInput, { status, queriedAtMs }: AttestedStatus): boolean {
  switch (transition.kind) {
    case 'approval_expired':
    case 'outcome_unknown':
    case 'never_sent':
      return true;
    case 'prompt_accepted':
      return hasPayment(status);
    case 'paid':
      return (
        (status.kind === 'paid' || status.kind === 'returned') && status.operatorReceipt === transition.operatorReceipt
      );
    case 'refunded':
      return status.kind === 'paid';
    case 'returned':
      return status.kind === 'returned';
    case 'declined':
      return (status.kind === 'declined' || status.kind === 'refused') && status.failureCode === transition.failureCode;
    case 'expired':
      return status.kind === 'declined' && status.failureCode === transition.failureCode;
    case 'never_accepted':
      return status.kind === 'not_found' && queriedAtMs === transition.queriedAtMs;
    case 'undecided':
      return isUndecided(status) && queriedAtMs === transition.queriedAtMs;
  }
}

function isUndecided(status: OperatorStatus): boolean {
  return isAcceptance(status) || status.kind === 'not_found' || status.kind === 'unknown';
}
