// How far money that we sent got, and what contradicts its end. Pure, and replayed by workflows.
import type { OperatorStatus } from './operator-status.ts';

/** How far sending got. Times are Unix milliseconds. */
export type Sending = {
  /** Null: it may not be sent yet. */
  readonly sendDeadlineAtMs: number | null;
  /** The operator said once that it has it. */
  readonly isAccepted: boolean;
};

/**
 * Whether "never heard of it", asked at that time, says that the operator never took it and never will: no send of ours
 * can have been on its way any more, `notFoundGraceMs` after the last moment at which one may begin, and it never said
 * that it has it.
 */
export function isNeverAccepted(
  { sendDeadlineAtMs, isAccepted }: Sending,
  queriedAtMs: number,
  notFoundGraceMs: number,
): boolean {
  return sendDeadlineAtMs !== null && !isAccepted && queriedAtMs >= sendDeadlineAtMs + notFoundGraceMs;
}

/** What an operator says of money whose end is recorded otherwise, and that no posting may follow from by itself. */
export type Contradiction =
  | 'paid_after_failed' // the money was given back to the merchant, and the operator paid it too
  | 'declined_after_paid'; // the money left the merchant's balance, and the operator never paid it

export function contradictionIn(state: string, status: OperatorStatus): Contradiction | null {
  if (state === 'failed' && status.kind === 'paid') return 'paid_after_failed';
  return state === 'succeeded' && status.kind === 'declined' ? 'declined_after_paid' : null;
}
