// What a row records of a send, and which ends of a payment it confirms.
import type { Clocks } from '../clocks.ts';
import { OPERATORS, type OperatorId } from './operator-catalogue.ts';
import type { NotFounds } from './payment-fields.ts';
import { isNeverAccepted, isNeverSent, type SendProgress } from './send-progress.ts';

/** As a row records it. The send deadline is set by the release. */
type RecordedSend = NotFounds & {
  readonly operator: OperatorId;
  readonly sendDeadlineAt: Date | null;
  readonly sendBegunAt: Date | null;
  readonly acceptedAt: Date | null;
};

/** The send as the payment's next step is decided from it. */
export function sendProgressOf(row: RecordedSend, notFoundSpanMs: number): SendProgress {
  return {
    sendDeadlineAtMs: row.sendDeadlineAt?.getTime() ?? null,
    isSendBegun: row.sendBegunAt !== null,
    isAccepted: row.acceptedAt !== null,
    notFoundCount: row.notFoundCount,
    hasNotFoundEvidence: hasNotFoundEvidence(row, notFoundSpanMs),
  };
}

/** Whether the row confirms `never_sent`, recorded `at`. The statement that records it checks once more that no try began. */
export function confirmsNeverSent(
  { sendDeadlineAt, sendBegunAt }: Pick<RecordedSend, 'sendDeadlineAt' | 'sendBegunAt'>,
  at: Date,
): boolean {
  return isNeverSent(
    { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isSendBegun: sendBegunAt !== null },
    at.getTime(),
  );
}

/** Whether the operator said often enough, and for long enough, that it does not know the payment. One status may lag. */
export function hasNotFoundEvidence(
  { operator, notFoundCount, notFoundSince, notFoundLastAt }: Pick<RecordedSend, 'operator' | keyof NotFounds>,
  spanMs: number,
): boolean {
  if (notFoundSince === null || notFoundLastAt === null) return false;
  const { notFoundsNeeded } = OPERATORS[operator];
  return notFoundCount >= notFoundsNeeded && notFoundLastAt.getTime() - notFoundSince.getTime() >= spanMs;
}

/**
 * Whether the row confirms `never_accepted` from a status queried at that time and recorded `at`. The earlier of the two
 * times counts, because the clock of the process that made the query may be ahead.
 */
export function confirmsNeverAccepted(
  row: RecordedSend,
  queriedAtMs: number,
  at: Date,
  { notFoundGraceMs, notFoundSpanMs }: Pick<Clocks, 'notFoundGraceMs' | 'notFoundSpanMs'>,
): boolean {
  const progress = { sendDeadlineAtMs: row.sendDeadlineAt?.getTime() ?? null, isAccepted: row.acceptedAt !== null };
  const decidedAtMs = Math.min(queriedAtMs, at.getTime());
  return isNeverAccepted(progress, decidedAtMs, notFoundGraceMs) && hasNotFoundEvidence(row, notFoundSpanMs);
}
