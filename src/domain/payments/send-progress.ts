// The progress of a payout's or refund's send, and the transitions that follow while the operator has not paid. Pure, because workflows
// replay these functions.
import type { FailureCode } from './failure.ts';
import type { QueriedStatus } from './operator-status.ts';

/** Times are Unix milliseconds. */
export type SendProgress = {
  /** Null: the payment may not be sent yet. */
  readonly sendDeadlineAtMs: number | null;
  /** When the outcome is overdue: for an accepted payment perhaps before the send deadline. Absent: at the send deadline. */
  readonly overdueAtMs?: number;
  /** Whether any try to send the payment began. */
  readonly isSendBegun: boolean;
  /** When the payment is sent again that the operator refused for our float. Absent: it does not wait for that. */
  readonly sendAgainAtMs?: number;
  /** Present if a repeated send might pay twice: then `not_found` is no evidence. */
  readonly isSentOnce?: true;
  /** Whether the operator has confirmed at least once that it has the payment. */
  readonly isAccepted: boolean;
  /** How often in a row the operator did not know the payment, and whether the not-found evidence is complete. */
  readonly notFoundCount: number;
  readonly hasNotFoundEvidence: boolean;
};

/** The part of a payout or refund from which its next step is decided. Times are Unix milliseconds. */
export type MoneyOutSnapshot<State> = SendProgress & {
  readonly state: State;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
};

/** The transition inputs of a payout or refund that the operator has not paid. */
export type UnpaidInput =
  | { readonly kind: 'approval_expired' | 'outcome_unknown' }
  | NeverSentInput
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** The recorder itself reads whether the operator was away, for every caller that reports `never_sent`. */
export type NeverSentInput = { readonly kind: 'never_sent'; readonly isOperatorAway?: boolean };

/** When the outcome of a payment that is being sent is overdue; null while it may not be sent. */
export function overdueAtMs({
  overdueAtMs: atMs,
  sendDeadlineAtMs,
}: Pick<SendProgress, 'overdueAtMs' | 'sendDeadlineAtMs'>): number | null {
  return atMs ?? sendDeadlineAtMs;
}

export function isBeingSent({ state, sendDeadlineAtMs }: MoneyOutSnapshot<string>): boolean {
  return (state === 'released' || state === 'reconciling') && sendDeadlineAtMs !== null;
}

/** The transition of a payment that is being sent, from a status that does not report it as paid; null to keep waiting. */
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
  const overdueMs = overdueAtMs(snapshot);
  const isOverdue = overdueMs !== null && queriedAtMs >= overdueMs;
  const isUnknown = snapshot.state === 'released' && (isOverdue || status.kind === 'paid_otherwise');
  return isUnknown ? { kind: 'outcome_unknown' } : null;
}

/** Whether nobody tried to send the payment before its send deadline. No operator needs to be queried about it. */
export function isNeverSent(
  { sendDeadlineAtMs, isSendBegun }: Pick<SendProgress, 'sendDeadlineAtMs' | 'isSendBegun'>,
  atMs: number,
): boolean {
  return !isSendBegun && sendDeadlineAtMs !== null && atMs >= sendDeadlineAtMs;
}

/**
 * Whether `not_found`, queried at this time, can mean that the operator did not and will not accept the payment. The operator
 * never confirmed the payment, and `notFoundGraceMs` after the send deadline no send can still be on its way. One `not_found`
 * is not enough.
 */
export function isNeverAccepted(
  { sendDeadlineAtMs, isAccepted }: Pick<SendProgress, 'sendDeadlineAtMs' | 'isAccepted'>,
  queriedAtMs: number,
  notFoundGraceMs: number,
): boolean {
  return sendDeadlineAtMs !== null && !isAccepted && queriedAtMs >= sendDeadlineAtMs + notFoundGraceMs;
}

/**
 * How the status changes the evidence that the operator never accepted a pending payment. A `not_found` counts once no
 * send can still be on its way. An `unknown` may hide an acceptance, so it resets the count.
 */
export function notFoundStep(
  progress: SendProgress,
  { status, queriedAtMs }: QueriedStatus,
  notFoundGraceMs: number,
): 'count' | 'reset' | null {
  if (progress.isSentOnce || !progress.isSendBegun || !isNeverAccepted(progress, queriedAtMs, notFoundGraceMs))
    return null;
  if (status.kind === 'not_found') return 'count';
  return status.kind === 'unknown' && progress.notFoundCount > 0 ? 'reset' : null;
}
