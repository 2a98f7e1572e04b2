// The row of one payment in the model: the statements of the service with the conditions that their SQL has, each in one step.
import type { Clocks } from '../../../src/domain/clocks.ts';
import { confirmsInput } from '../../../src/domain/payments/collection-progress.ts';
import type { TransitionInput } from '../../../src/domain/payments/lifecycle.ts';
import { isRefusedSend, type StatusBasis } from '../../../src/domain/payments/operator-status.ts';
import { isFinal, type Payment } from '../../../src/domain/payments/payment.ts';
import { changePayment } from '../../../src/domain/payments/payment-change.ts';
import {
  confirmsNeverAccepted,
  confirmsNeverSent,
  confirmsRefundNeverSent,
} from '../../../src/domain/payments/recorded-send.ts';
import { generationOf, nextGeneration } from '../../../src/domain/payments/send-generation.ts';
import { nextQueryDue } from '../../../src/domain/payments/status-schedule.ts';
import type { LateCheckReason } from '../../../src/domain/payments/late-checks.ts';

export type ModelPayment = Payment;

export type ModelStore = {
  row(): ModelPayment;
  /** When the payment is queried next, and how often it was in its state. */
  readonly work: { dueAtMs: number | null; queries: number };
  /** Why a final payment is rechecked. */
  recheckReason(): LateCheckReason | null;
  /** True for the one call that records the first send. */
  beginSend(at: Date, generation: number): boolean;
  repeatSend(at: Date, generation: number): boolean;
  /** Whether a further try of the current generation began. */
  isRepeated(): boolean;
  /** The first send was not processed, and may be made again. */
  takeBackSend(): void;
  /** Records the next generation, unless the payment may not be sent again or another generation is the current one. */
  beginNextGeneration(refused: number, at: Date): 'waits' | 'fails';
  markAccepted(at: Date, generation: number): void;
  countNotFound(queriedAt: Date): void;
  resetNotFounds(queriedAt: Date): void;
  /** The payment after it, whether or not the row confirmed the input. */
  record(input: TransitionInput, recording: ModelRecording): ModelPayment;
  /** Every state that it was in. */
  readonly states: ModelPayment['state'][];
};

type ModelRecording = {
  readonly at: Date;
  readonly basis: StatusBasis | null;
  /** Absent: the input follows from no answer. */
  readonly generation?: number;
};

const MAX_AHEAD_MS = 60_000;

export function createModelStore(first: ModelPayment, clocks: Clocks, nowMs: () => number): ModelStore {
  let row = first;
  let isRepeated = false;
  let failedBy: string | null = null;
  const work: ModelStore['work'] = { dueAtMs: null, queries: 0 };
  const states = [first.state];
  const set = (fields: object) => {
    row = { ...row, ...fields };
  };
  const before = (at: Date, ms: number) => new Date(at.getTime() - ms);
  const isPendingWhenSent = () => row.state === 'released' || row.state === 'reconciling';

  return {
    row: () => row,
    work,
    states,
    recheckReason() {
      if (row.state === 'succeeded') return 'may_be_returned';
      const mayBePaid = row.kind === 'collection' ? row.state === 'expired' : failedBy === 'never_accepted';
      return mayBePaid ? 'may_be_paid' : null;
    },
    beginSend(at, generation) {
      if (row.sendBegunAt !== null || !maySend(row, at) || generationOf(row) !== generation) return false;
      set({ sendBegunAt: at });
      const due = row.kind === 'collection' ? null : nextQueryDue(row, 0, at, clocks);
      if (due !== null) work.dueAtMs = due.dueAt.getTime();
      return true;
    },
    repeatSend(at, generation) {
      if (row.sendBegunAt === null || !maySend(row, at) || generationOf(row) !== generation) return false;
      isRepeated = true;
      return true;
    },
    isRepeated: () => isRepeated,
    takeBackSend() {
      if (row.state === 'initiated' || row.state === 'released') set({ sendBegunAt: null });
    },
    beginNextGeneration(refused, at) {
      if (row.kind !== 'payout') return 'fails';
      const isUnsent = row.state === 'released' && row.sendBegunAt === null;
      if (generationOf(row) !== refused || isUnsent) return 'waits';
      const next = nextGeneration(row, 'operator_unavailable', at, clocks);
      if (next === null) return 'fails';
      set({ generation: { ...next, attestation: '' }, sendBegunAt: null, acceptedAt: null });
      isRepeated = false;
      work.dueAtMs = null;
      return 'waits';
    },
    markAccepted(at, generation) {
      if (row.kind !== 'collection' && row.acceptedAt === null && generationOf(row) === generation)
        set({ acceptedAt: at });
    },
    countNotFound(queriedAt) {
      if (row.kind === 'collection' || !isPendingWhenSent() || row.sendBegunAt === null || row.acceptedAt !== null)
        return;
      const { sendDeadlineAt, notFoundLastAt: lastAt, notFoundSince, notFoundCount } = row;
      const isSendOver = sendDeadlineAt !== null && sendDeadlineAt <= before(queriedAt, clocks.notFoundGraceMs);
      const isApart = lastAt === null || lastAt <= before(queriedAt, clocks.notFoundGapMs);
      if (!isSendOver || !isApart || queriedAt.getTime() > nowMs() + MAX_AHEAD_MS) return;
      const notFounds = { notFoundCount: notFoundCount + 1, notFoundSince: notFoundSince ?? queriedAt };
      set({ ...notFounds, notFoundLastAt: queriedAt });
    },
    resetNotFounds(queriedAt) {
      if (row.kind === 'collection' || !isPendingWhenSent() || row.notFoundCount === 0) return;
      const { notFoundLastAt: lastAt } = row;
      if (lastAt === null || lastAt >= queriedAt) return;
      set({ notFoundCount: 0, notFoundSince: null, notFoundLastAt: queriedAt });
    },
    record(input, { at, basis, generation }) {
      if (generation !== undefined && generation !== generationOf(row)) return row;
      if (!isConfirmed(row, input, { at, basis }, clocks)) return row;
      const change = changePayment(row, input as never, at, clocks);
      const isMissed =
        change === null ||
        (isRefusedSend(basis) && isRepeated) ||
        (change.requiresNotAccepted && row.kind !== 'collection' && row.acceptedAt !== null) ||
        (change.requiresNotSent && row.sendBegunAt !== null);
      if (isMissed) return row;
      if (isFinal(change.after.state)) failedBy = change.failedBy;
      row = change.after;
      states.push(row.state);
      work.dueAtMs = change.queryDue?.dueAt.getTime() ?? null;
      work.queries = 0;
      return row;
    },
  };
}

export function maySend(row: ModelPayment, at: Date): boolean {
  if (row.kind === 'collection') return row.state === 'initiated' && row.promptDeadlineAt > at;
  const isPauseOver = row.kind === 'reversal' || row.generation === null || row.generation.sendAfter <= at;
  return row.state === 'released' && row.sendDeadlineAt !== null && row.sendDeadlineAt > at && isPauseOver;
}

// As `recordTransition` asks the row.
function isConfirmed(
  row: ModelPayment,
  input: TransitionInput,
  recording: { readonly at: Date; readonly basis: StatusBasis | null },
  clocks: Clocks,
): boolean {
  const { at } = recording;
  if (row.kind !== 'collection') {
    if (input.kind === 'never_accepted') return confirmsNeverAccepted(row, input.queriedAtMs, at, clocks);
    if (input.kind !== 'never_sent') return true;
    return row.kind === 'payout' ? confirmsNeverSent(row, at) : confirmsRefundNeverSent(row, at);
  }
  const { promptDeadlineAt: sendDeadlineAt, promptExpiresAt, sendBegunAt } = row;
  const send = { sendDeadlineAt, sendBegunAt: sendBegunAt ?? promptExpiresAt };
  if (input.kind === 'never_sent' && !confirmsNeverSent(send, at)) return false;
  return confirmsInput(row, input as TransitionInput<'collection'>, recording, clocks);
}
