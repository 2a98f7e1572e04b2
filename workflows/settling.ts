// How a workflow waits for an operator's word on money that was sent: by callback or by poll, for as long as it takes.
import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  isCancellation,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { PayoutTimings } from './contract.ts';

/** Signals carry nothing: each is a reason to look, and who sends one by hand moves no money. */
export type Knocks = { decisions: number; callbacks: number };

export type SentMoney<Standing extends { readonly state: string }, Word> = {
  readonly timings: PayoutTimings;
  /** Sent, and its end neither known nor overdue. */
  isFresh(standing: Standing): boolean;
  /** Sent, and its end overdue. */
  isOverdue(standing: Standing): boolean;
  /** Ended, and yet may come to another end: somebody who calls back about it is listened to. */
  isReversible(standing: Standing): boolean;
  /** When a fresh one becomes overdue, in Unix milliseconds. */
  overdueAtMs(standing: Standing): number;
  announce(standing: Standing, nextAskAt: string): void;
  ask(isCalledBack: boolean): Promise<Word>;
  /** Records all that follows from the word. */
  apply(standing: Standing, word: Word): Promise<Standing>;
  continueAsNew(): Promise<never>;
};

/** Asks and records until the money has its end and no callback is unanswered; returns where it then stands. */
export async function untilSettled<Standing extends { readonly state: string }, Word>(
  from: Standing,
  money: SentMoney<Standing, Word>,
  knocks: Knocks,
): Promise<Standing> {
  const { minimumAskGapMs } = money.timings;
  let standing = from;
  let askedInState = 0;
  let answered = 0;
  let lastAskAtMs: number | null = null;
  for (;;) {
    const isOpen = money.isFresh(standing) || money.isOverdue(standing);
    // One that came while the outcome was being recorded may speak of what followed it.
    if (!isOpen && !(money.isReversible(standing) && knocks.callbacks > answered)) return standing;
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await money.continueAsNew();
    }
    if (isOpen) {
      const waitMs = nextWaitMs(standing, askedInState, money);
      money.announce(standing, new Date(Date.now() + waitMs).toISOString());
      await Promise.race([
        sleep(waitMs, { summary: 'until the next question' }),
        condition(() => knocks.callbacks > answered),
      ]);
    }
    const gapMs = lastAskAtMs === null ? 0 : lastAskAtMs + minimumAskGapMs - Date.now();
    if (gapMs > 0) await sleep(gapMs, { summary: 'callbacks come fast: a gap between questions' });
    const isCalledBack = knocks.callbacks > answered;
    answered = knocks.callbacks;
    const word = await money.ask(isCalledBack);
    lastAskAtMs = Date.now();
    const { state } = standing;
    standing = await money.apply(standing, word);
    askedInState = standing.state === state ? askedInState + 1 : 0;
  }
}

/** Asks about a payment that is paid until the operator says something, as often as the schedule has steps. */
export async function askUntilAnswered<Word extends { readonly kind: string }>(
  ask: () => Promise<Word>,
  scheduleMs: readonly number[],
): Promise<Word> {
  let word = await ask();
  for (const waitMs of scheduleMs) {
    if (word.kind !== 'unknown') return word;
    await sleep(waitMs, { summary: 'until the next question' });
    word = await ask();
  }
  return word;
}

/** What an activity says, or null when it failed after all its tries; a cancelled workflow ends. */
export async function orNull<Result>(activity: Promise<Result>): Promise<Result | null> {
  try {
    return await activity;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}

function nextWaitMs<Standing extends { readonly state: string }, Word>(
  standing: Standing,
  asked: number,
  money: SentMoney<Standing, Word>,
): number {
  const { pollScheduleMs, reconcileScheduleMs, minimumAskGapMs } = money.timings;
  const isFresh = money.isFresh(standing);
  const schedule = isFresh ? pollScheduleMs : reconcileScheduleMs;
  const stepMs = schedule[Math.min(asked, schedule.length - 1)] ?? minimumAskGapMs;
  // The moment it becomes overdue is one to ask at, not to sleep through.
  return isFresh ? Math.min(stepMs, Math.max(minimumAskGapMs, money.overdueAtMs(standing) - Date.now())) : stepMs;
}
