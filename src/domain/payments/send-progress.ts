// How far the send of a payout or refund got, and what contradicts its outcome. Pure, because workflows replay it.
import type { OperatorStatus } from './operator-status.ts';
import type { PaymentState } from './payment.ts';

/** Times are Unix milliseconds. */
export type SendProgress = {
  /** Null: it may not be sent yet. */
  readonly sendDeadlineAtMs: number | null;
  /** Whether any try to send it ever began. */
  readonly isSendBegun: boolean;
  /** Whether the operator has confirmed at least once that it has the payment. */
  readonly isAccepted: boolean;
};

/** Whether nobody tried to send the payment, and nobody may any more: no operator need be queried about it. */
export function isNeverSent(
  { sendDeadlineAtMs, isSendBegun }: Pick<SendProgress, 'sendDeadlineAtMs' | 'isSendBegun'>,
  atMs: number,
): boolean {
  return !isSendBegun && sendDeadlineAtMs !== null && atMs >= sendDeadlineAtMs;
}

/**
 * Whether `not_found`, queried at that time, means that the operator did not and will not accept the payment: it never
 * confirmed that it has it, and `notFoundGraceMs` after the send deadline no send can still be on its way.
 */
export function isNeverAccepted(
  { sendDeadlineAtMs, isAccepted }: Pick<SendProgress, 'sendDeadlineAtMs' | 'isAccepted'>,
  queriedAtMs: number,
  notFoundGraceMs: number,
): boolean {
  return sendDeadlineAtMs !== null && !isAccepted && queriedAtMs >= sendDeadlineAtMs + notFoundGraceMs;
}

/** As a row records it. A refund always has a send deadline, a payout once it is released. */
type RecordedSend = {
  readonly sendDeadlineAt: Date | null;
  readonly sendBegunAt: Date | null;
  readonly acceptedAt: Date | null;
};

/** Whether the row confirms `never_sent`, recorded `at`. The statement that records it checks once more that no try began. */
export function confirmsNeverSent(
  { sendDeadlineAt, sendBegunAt }: Omit<RecordedSend, 'acceptedAt'>,
  at: Date,
): boolean {
  return isNeverSent(
    { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isSendBegun: sendBegunAt !== null },
    at.getTime(),
  );
}

/**
 * Whether the row confirms `never_accepted` from a status queried at that time and recorded `at`. The earlier of the two
 * times counts, because the clock of the process that made the query may be ahead.
 */
export function confirmsNeverAccepted(
  { sendDeadlineAt, acceptedAt }: RecordedSend,
  queriedAtMs: number,
  at: Date,
  notFoundGraceMs: number,
): boolean {
  const progress = { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isAccepted: acceptedAt !== null };
  return isNeverAccepted(progress, Math.min(queriedAtMs, at.getTime()), notFoundGraceMs);
}

/** An operator status that contradicts the recorded outcome. No posting may follow from it by itself. */
export type Contradiction =
  | 'paid_after_failed' // the merchant has the money back, and the operator paid it too
  | 'declined_after_paid'; // the money left the merchant's balance, and the operator did not pay it

export function contradictionIn(state: PaymentState, status: OperatorStatus): Contradiction | null {
  if (state === 'failed' && status.kind === 'paid') return 'paid_after_failed';
  return state === 'succeeded' && status.kind === 'declined' ? 'declined_after_paid' : null;
}
