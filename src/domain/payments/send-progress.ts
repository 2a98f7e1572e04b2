// How far the send of a payout or refund got, what follows from a status, and what a status says against an outcome. Pure, because
// workflows replay it.
import type { FailureCode } from './failure.ts';
import type { AttestedStatus, OperatorStatus } from './operator-status.ts';
import { isRecheckable, type PaymentKind, type PaymentState } from './payment.ts';

/** Times are Unix milliseconds. */
export type SendProgress = {
  /** Null: it may not be sent yet. */
  readonly sendDeadlineAtMs: number | null;
  /** Whether any try to send it ever began. */
  readonly isSendBegun: boolean;
  /** Whether the operator has confirmed at least once that it has the payment. */
  readonly isAccepted: boolean;
  /** How often in a row it said that it does not know the payment, and whether that is evidence enough. */
  readonly notFoundCount: number;
  readonly hasNotFoundEvidence: boolean;
};

/** The part of a payout or refund from which its workflow decides the next step. */
export type MoneyOutSnapshot<State> = SendProgress & {
  readonly state: State;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
};

/** What the workflow of a payout or refund records a transition from, unless the operator has paid it. */
export type UnpaidInput =
  | { readonly kind: 'approval_expired' | 'outcome_unknown' | 'never_sent' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** A status and the time of its query. */
export type QueriedStatus = Omit<AttestedStatus, 'attestation'>;

/** Whether it is released, and has no outcome. */
export function isBeingSent({ state, sendDeadlineAtMs }: MoneyOutSnapshot<string>): boolean {
  return (state === 'released' || state === 'reconciling') && sendDeadlineAtMs !== null;
}

/** The transition of a payment that is being sent, where the status does not say that it is paid; null to keep waiting. */
export function nextOfUnpaid(
  snapshot: MoneyOutSnapshot<string>,
  { status, queriedAtMs }: QueriedStatus,
  notFoundGraceMs: number,
): UnpaidInput | null {
  if (status.kind === 'declined') return { kind: 'declined', failureCode: status.failureCode };
  const isProvenNotFound = status.kind === 'not_found' && snapshot.hasNotFoundEvidence;
  if (isProvenNotFound && isNeverAccepted(snapshot, queriedAtMs, notFoundGraceMs)) {
    return { kind: 'never_accepted', queriedAtMs };
  }
  const isOverdue = snapshot.sendDeadlineAtMs !== null && queriedAtMs >= snapshot.sendDeadlineAtMs;
  const isUnknown = snapshot.state === 'released' && (isOverdue || status.kind === 'paid_otherwise');
  return isUnknown ? { kind: 'outcome_unknown' } : null;
}

/** Whether nobody tried to send the payment, and nobody may any more: no operator need be queried about it. */
export function isNeverSent(
  { sendDeadlineAtMs, isSendBegun }: Pick<SendProgress, 'sendDeadlineAtMs' | 'isSendBegun'>,
  atMs: number,
): boolean {
  return !isSendBegun && sendDeadlineAtMs !== null && atMs >= sendDeadlineAtMs;
}

/**
 * Whether `not_found`, queried at that time, can mean that the operator did not and will not accept the payment: it never
 * confirmed that it has it, and `notFoundGraceMs` after the send deadline no send can still be on its way. It takes more
 * than one such status.
 */
export function isNeverAccepted(
  { sendDeadlineAtMs, isAccepted }: Pick<SendProgress, 'sendDeadlineAtMs' | 'isAccepted'>,
  queriedAtMs: number,
  notFoundGraceMs: number,
): boolean {
  return sendDeadlineAtMs !== null && !isAccepted && queriedAtMs >= sendDeadlineAtMs + notFoundGraceMs;
}

/**
 * What the status adds to the evidence that the operator never accepted a pending payment: a `not_found` counts once no
 * send can still be on its way; an answer that says nothing may hide that it has it, so the count begins again.
 */
export function notFoundStep(
  progress: SendProgress,
  { status, queriedAtMs }: Pick<AttestedStatus, 'status' | 'queriedAtMs'>,
  notFoundGraceMs: number,
): 'count' | 'reset' | null {
  if (!progress.isSendBegun || !isNeverAccepted(progress, queriedAtMs, notFoundGraceMs)) return null;
  if (status.kind === 'not_found') return 'count';
  return status.kind === 'unknown' && progress.notFoundCount > 0 ? 'reset' : null;
}

/** An operator status that contradicts what is recorded: the outcome, or the money requested. No posting may follow from it by itself. */
export type Contradiction =
  | 'paid_after_failed' // the merchant has the money back, and the operator paid it too
  | 'paid_otherwise' // the operator paid another amount, or in another currency, than was requested
  | 'declined_after_paid'; // the money left the merchant's balance, and the operator did not pay it, or has it back

export function contradictionIn(kind: PaymentKind, state: PaymentState, status: OperatorStatus): Contradiction | null {
  if (status.kind === 'paid_otherwise') return 'paid_otherwise';
  if (state === 'failed' && status.kind === 'paid') return 'paid_after_failed';
  // A collection or payout that is returned has a state for that; a refund that came back to us has none.
  const isNotPaid = status.kind === 'declined' || (status.kind === 'returned' && kind === 'reversal');
  return state === 'succeeded' && isNotPaid ? 'declined_after_paid' : null;
}

/** Whether the status leaves open what it was queried for. Of what expired, `pending` says that it is still not paid. */
export function isStatusMissing(state: PaymentState, { kind }: OperatorStatus): boolean {
  return kind === 'unknown' || kind === 'unreadable' || (kind === 'pending' && isRecheckable(state));
}
