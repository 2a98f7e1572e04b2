// How far the send of a payout or refund got, and what follows from a status unless the operator has paid it. Pure, because workflows
// replay it.
import type { FailureCode } from './failure.ts';
import type { QueriedStatus } from './operator-status.ts';

/** Times are Unix milliseconds. */
export type SendProgress = {
  /** Null: it may not be sent yet. */
  readonly sendDeadlineAtMs: number | null;
  /** When its outcome is overdue, if the operator has it: earlier than the end of the sends. Absent: then. */
  readonly overdueAtMs?: number;
  /** Whether any try to send it ever began. */
  readonly isSendBegun: boolean;
  /** Present where a repeated send might pay twice: then `not_found` is no evidence. */
  readonly isSentOnce?: true;
  /** Whether the operator has confirmed at least once that it has the payment. */
  readonly isAccepted: boolean;
  /** How often in a row it said that it does not know the payment, and whether that is evidence enough. */
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

/** What a transition of a payout or refund is recorded from, unless the operator has paid it. */
export type UnpaidInput =
  | { readonly kind: 'approval_expired' | 'outcome_unknown' }
  | NeverSentInput
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** Whether it was the operator that took no calls is what the recorder reads, whoever says that nobody tried to send it. */
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
  const overdueMs = overdueAtMs(snapshot);
  const isOverdue = overdueMs !== null && queriedAtMs >= overdueMs;
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
  { status, queriedAtMs }: QueriedStatus,
  notFoundGraceMs: number,
): 'count' | 'reset' | null {
  if (progress.isSentOnce || !progress.isSendBegun || !isNeverAccepted(progress, queriedAtMs, notFoundGraceMs))
    return null;
  if (status.kind === 'not_found') return 'count';
  return status.kind === 'unknown' && progress.notFoundCount > 0 ? 'reset' : null;
}
