// How a workflow waits for an operator's word on money that was sent, by callback or by poll, for as long as it takes; and
// what it makes of each word.
import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  isCancellation,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { EndedPayment, SendingActivities, SentMoney } from '../activities/sending.ts';
import type { Heard, RecordedFact } from '../src/domain/payments/operator-status.ts';
import { contradictionIn, type Sending } from '../src/domain/payments/sent-money.ts';
import type { PayoutTimings } from './contract.ts';
import { OWN_TRANSACTION } from './policies.ts';

const { lookAgainLater, noteTaken, recordDiscrepancy } = proxyLocalActivities<SendingActivities>(OWN_TRANSACTION);

/** Signals carry nothing: each is a reason to look, and who sends one by hand moves no money. */
export type Knocks = { decisions: number; callbacks: number };

type Standing = Sending & { readonly state: string };

/** What a payout and a refund have each in their own way. */
export type Settling<Stands extends Standing, Fact extends RecordedFact> = {
  readonly sent: SentMoney;
  readonly timings: PayoutTimings;
  /** Sent, and its end neither known nor overdue. */
  isFresh(standing: Stands): boolean;
  /** Sent, and its end overdue. */
  isOverdue(standing: Stands): boolean;
  announce(standing: Stands, nextAskAt: string): void;
  ask(isCalledBack: boolean): Promise<Heard>;
  /** The fact to record of what was heard, or null to go on waiting. */
  factOf(standing: Stands, heard: Heard): Fact | null;
  record(fact: Fact, heard: Heard): Promise<Stands>;
  continueAsNew(): Promise<never>;
};

/** It ended, and yet the operator may come to say more of it: somebody who calls back about it is listened to. */
export function hasEnded({ state }: { readonly state: string }): boolean {
  return state === 'succeeded' || state === 'failed';
}

/**
 * Asks and records until the money has its end and no callback is unanswered; returns where it then stands. Money that
 * had its end before is asked about once: that is what the run was started for.
 */
export async function untilSettled<Stands extends Standing, Fact extends RecordedFact>(
  from: Stands,
  money: Settling<Stands, Fact>,
  knocks: Knocks,
): Promise<Stands> {
  const { minimumAskGapMs, reconcileScheduleMs } = money.timings;
  let standing = from;
  if (hasEnded(from)) {
    const heard = await askUntilAnswered(() => money.ask(false), reconcileScheduleMs);
    standing = await applyHeard(from, heard, money);
  }
  let askedInState = 0;
  let answered = 0;
  let lastAskAtMs: number | null = null;
  for (;;) {
    const isOpen = money.isFresh(standing) || money.isOverdue(standing);
    // One that came while the outcome was being recorded may speak of what followed it.
    if (!isOpen && !(hasEnded(standing) && knocks.callbacks > answered)) return standing;
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
    const heard = await money.ask(isCalledBack);
    lastAskAtMs = Date.now();
    const { state } = standing;
    standing = await applyHeard(standing, heard, money);
    askedInState = standing.state === state ? askedInState + 1 : 0;
  }
}

/** Records all that follows from the word: what was paid and returned takes two steps. */
async function applyHeard<Stands extends Standing, Fact extends RecordedFact>(
  from: Stands,
  heard: Heard,
  money: Settling<Stands, Fact>,
): Promise<Stands> {
  const { kind } = heard.word;
  // That it is under way there means that it has it, whatever our send was answered.
  let standing = kind === 'pending' && !from.isTaken ? await taken(from, money.sent) : from;
  for (;;) {
    await noteContradiction(standing, heard, money.sent);
    const fact = money.factOf(standing, heard);
    if (fact === null) break;
    const next = await money.record(fact, heard);
    const isMoved = next.state !== standing.state;
    standing = next;
    if (!isMoved) break;
  }
  await lookAgainUnlessAnswered(standing, heard, money.sent);
  return standing;
}

/** Has it kept, for a person to settle, that the operator says otherwise than how it ended. */
export async function noteContradiction(
  { state }: { readonly state: string },
  heard: Heard,
  ended: EndedPayment,
): Promise<void> {
  if (contradictionIn(state, heard.word) === null) return;
  const summary = 'the operator contradicts what is booked';
  await recordDiscrepancy.executeWithOptions({ summary }, [{ ended, heard }]);
}

/** Of what has ended the operator says one thing or the other; while it does not, a later sweep has it asked again. */
export async function lookAgainUnlessAnswered(
  standing: { readonly state: string },
  { word: { kind } }: Heard,
  ended: EndedPayment,
): Promise<void> {
  if (!hasEnded(standing) || (kind !== 'unknown' && kind !== 'pending')) return;
  await lookAgainLater.executeWithOptions({ summary: 'no answer: it is asked about again later' }, [ended]);
}

/** Notes that the operator has it; where it then stands. */
export async function taken<Stands extends Standing>(standing: Stands, sent: SentMoney): Promise<Stands> {
  await noteTaken.executeWithOptions({ summary: 'the operator has it' }, [sent]);
  return { ...standing, isTaken: true };
}

/** What is said of money that was not asked about, because the asking failed. */
export function unheard(): Heard {
  return { word: { kind: 'unknown' }, askedAtMs: Date.now(), proof: '' };
}

/** Asks until the operator says something, as often as the schedule has steps. */
export async function askUntilAnswered(ask: () => Promise<Heard>, scheduleMs: readonly number[]): Promise<Heard> {
  let heard = await ask();
  for (const waitMs of scheduleMs) {
    if (heard.word.kind !== 'unknown') return heard;
    await sleep(waitMs, { summary: 'until the next question' });
    heard = await ask();
  }
  return heard;
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

function nextWaitMs<Stands extends Standing, Fact extends RecordedFact>(
  standing: Stands,
  asked: number,
  money: Settling<Stands, Fact>,
): number {
  const { pollScheduleMs, reconcileScheduleMs, minimumAskGapMs } = money.timings;
  const isFresh = money.isFresh(standing);
  const schedule = isFresh ? pollScheduleMs : reconcileScheduleMs;
  const stepMs = schedule[Math.min(asked, schedule.length - 1)] ?? minimumAskGapMs;
  // The moment it becomes overdue is one to ask at, not to sleep through.
  return isFresh ? Math.min(stepMs, Math.max(minimumAskGapMs, (standing.sendDeadlineAtMs ?? 0) - Date.now())) : stepMs;
}
