// The send as the payment's row records it, and the ends of a payment that the row confirms.
import type { Clocks } from '../clocks.ts';
import { OPERATORS } from './operator-catalogue.ts';
import type { MoneyOut } from './payment.ts';
import type { NotFounds } from './payment-fields.ts';
import type { Reversal } from './reversal.ts';
import { isRefundNeverSent } from './reversal-progress.ts';
import { isNeverAccepted, isNeverSent, type SendProgress } from './send-progress.ts';

/** The fields of a row that record the send. The release sets the send deadline. */
type RecordedSend = Pick<
  MoneyOut,
  'operator' | 'sendDeadlineAt' | 'sendBegunAt' | 'sendsOnce' | 'acceptedAt' | keyof NotFounds
>;

/** Until when the payment may be sent, and whether a send began, by the row. */
function sendOf({ sendDeadlineAt, sendBegunAt }: Pick<RecordedSend, 'sendDeadlineAt' | 'sendBegunAt'>) {
  return { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isSendBegun: sendBegunAt !== null };
}

export type SendClocks = Pick<Clocks, 'notFoundSpanMs' | 'payoutOverdueMs'>;

/** When the outcome is overdue. An accepted payment is not sent again, so its outcome may be overdue before the send deadline. */
export function sentOverdueAt(
  { sendDeadlineAt, acceptedAt }: Pick<RecordedSend, 'sendDeadlineAt' | 'acceptedAt'>,
  payoutOverdueMs: number,
): Date | null {
  if (sendDeadlineAt === null || acceptedAt === null) return sendDeadlineAt;
  return new Date(Math.min(sendDeadlineAt.getTime(), acceptedAt.getTime() + payoutOverdueMs));
}

/** The progress of the send, from which the payment's next step is decided. */
export function sendProgressOf(row: RecordedSend, { notFoundSpanMs, payoutOverdueMs }: SendClocks): SendProgress {
  const overdueAt = sentOverdueAt(row, payoutOverdueMs);
  return {
    ...sendOf(row),
    ...(overdueAt && { overdueAtMs: overdueAt.getTime() }),
    ...(row.sendsOnce && { isSentOnce: true }),
    isAccepted: row.acceptedAt !== null,
    notFoundCount: row.notFoundCount,
    hasNotFoundEvidence: hasNotFoundEvidence(row, notFoundSpanMs),
  };
}

/** Whether the row confirms `never_sent`, recorded `at`. The recording statement checks again that no try began. */
export function confirmsNeverSent(row: Parameters<typeof sendOf>[0], at: Date): boolean {
  return isNeverSent(sendOf(row), at.getTime());
}

/** Whether the row confirms `never_sent` of a refund, which also is not sent once the operator returned the collection. */
export function confirmsRefundNeverSent(row: Reversal, at: Date): boolean {
  return isRefundNeverSent({ ...sendOf(row), isCollectionReturned: row.isCollectionReturned }, at.getTime());
}

/**
 * Whether the operator said often enough, and for long enough, that it does not know the payment. One status may lag. For a payment that
 * is sent once, no number of statuses is enough: a wrong guess would lead to a second payment.
 */
export function hasNotFoundEvidence(
  {
    operator,
    sendsOnce,
    notFoundCount,
    notFoundSince,
    notFoundLastAt,
  }: Pick<RecordedSend, 'operator' | 'sendsOnce' | keyof NotFounds>,
  spanMs: number,
): boolean {
  if (sendsOnce || notFoundSince === null || notFoundLastAt === null) return false;
  const { notFoundsNeeded } = OPERATORS[operator];
  return notFoundCount >= notFoundsNeeded && notFoundLastAt.getTime() - notFoundSince.getTime() >= spanMs;
}

/**
 * Whether the row confirms `never_accepted` from a status queried at `queriedAtMs` and recorded `at`. The earlier of the two
 * times counts, because the clock of the process that made the query may be ahead.
 */
export function confirmsNeverAccepted(
  row: RecordedSend,
  queriedAtMs: number,
  at: Date,
  { notFoundGraceMs, notFoundSpanMs }: Pick<Clocks, 'notFoundGraceMs' | 'notFoundSpanMs'>,
): boolean {
  const progress = { ...sendOf(row), isAccepted: row.acceptedAt !== null };
  const decidedAtMs = Math.min(queriedAtMs, at.getTime());
  return isNeverAccepted(progress, decidedAtMs, notFoundGraceMs) && hasNotFoundEvidence(row, notFoundSpanMs);
}
