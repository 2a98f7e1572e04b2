// When the operator is asked next about a pending payment: by the schedule of its state, and at each of its deadlines. Pure.
import type { Clocks } from '../clocks.ts';
import { QUERY_PRIORITY, type QueryDue } from '../work.ts';
import type { MoneyOut, Payment } from './payment.ts';
import type { Collection } from './collection.ts';
import { sentOverdueAt } from './recorded-send.ts';

export type ScheduleClocks = Pick<
  Clocks,
  | 'pollScheduleMs'
  | 'reconcileScheduleMs'
  | 'minimumQueryGapMs'
  | 'reconcileForMs'
  | 'notFoundGraceMs'
  | 'notFoundSpanMs'
  | 'payoutOverdueMs'
>;

/**
 * When the status of the pending payment is queried next. It was queried `queries` times in its state, the last time at `at`. Null in
 * the states in which the operator does not have the payment yet. The wait ends no later than the payment's next deadline: a deadline
 * takes effect only with an answer to a later query.
 */
export function nextQueryDue(payment: Payment, queries: number, at: Date, clocks: ScheduleClocks): QueryDue | null {
  const schedule = scheduleOf(payment, clocks);
  if (schedule === null) return null;
  const stepMs = schedule[Math.min(queries, schedule.length - 1)] ?? clocks.minimumQueryGapMs;
  const byScheduleMs = at.getTime() + stepMs;
  const deadlines = deadlinesOf(payment, clocks).filter((deadlineMs) => deadlineMs > at.getTime());
  const deadlineMs = Math.min(...deadlines);
  if (deadlineMs > byScheduleMs) return { dueAt: new Date(byScheduleMs), priority: QUERY_PRIORITY.scheduled };
  const dueAtMs = Math.max(at.getTime() + clocks.minimumQueryGapMs, deadlineMs);
  return { dueAt: new Date(dueAtMs), priority: QUERY_PRIORITY.deadline };
}

function scheduleOf({ state, sendBegunAt }: Payment, clocks: ScheduleClocks): readonly number[] | null {
  if (state === 'reconciling') return clocks.reconcileScheduleMs;
  const isAwaited = state === 'prompted' || (state === 'released' && sendBegunAt !== null);
  return isAwaited ? clocks.pollScheduleMs : null;
}

/** The times from which an answer may decide more than an earlier answer, in Unix milliseconds. */
function deadlinesOf(payment: Payment, clocks: ScheduleClocks): number[] {
  return payment.kind === 'collection' ? collectionDeadlines(payment, clocks) : moneyOutDeadlines(payment, clocks);
}

function collectionDeadlines(
  { state, promptExpiresAt, promptDeadlineAt }: Collection,
  { reconcileForMs, notFoundGraceMs }: ScheduleClocks,
): number[] {
  if (state === 'prompted') return promptExpiresAt === null ? [] : [promptExpiresAt.getTime()];
  const undecidedAtMs = (promptExpiresAt ?? promptDeadlineAt).getTime() + reconcileForMs;
  return promptExpiresAt === null ? [promptDeadlineAt.getTime() + notFoundGraceMs, undecidedAtMs] : [undecidedAtMs];
}

function moneyOutDeadlines(
  payment: MoneyOut,
  { notFoundGraceMs, notFoundSpanMs, payoutOverdueMs }: ScheduleClocks,
): number[] {
  const { state, sendDeadlineAt, notFoundSince } = payment;
  const overdueAt = sentOverdueAt(payment, payoutOverdueMs);
  if (sendDeadlineAt === null || overdueAt === null) return [];
  if (state === 'released') return [overdueAt.getTime()];
  const provenAt = notFoundSince === null ? [] : [notFoundSince.getTime() + notFoundSpanMs];
  return [sendDeadlineAt.getTime() + notFoundGraceMs, ...provenAt];
}
