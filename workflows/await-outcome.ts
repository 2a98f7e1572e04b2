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
import type { AttestedStatus, PaymentTransitionInput } from '../src/domain/payments/operator-status.ts';
import { contradictionIn, type Sending } from '../src/domain/payments/sent-money.ts';
import type { PayoutTimings } from './contract.ts';
import { OWN_TRANSACTION } from './policies.ts';

const { scheduleRecheck, markAccepted, recordDiscrepancy } = proxyLocalActivities<SendingActivities>(OWN_TRANSACTION);

/** Signals carry nothing: each is a reason to look, and who sends one by hand moves no money. */
export type PendingSignals = { decisions: number; callbacks: number };

type CollectionSnapshot = Sending & { readonly state: string };

/** What a payout and a refund have each in their own way. */
export type Settling<Stands extends CollectionSnapshot, Fact extends PaymentTransitionInput> = {
  readonly sent: SentMoney;
  readonly timings: PayoutTimings;
  /** Sent, and its end neither known nor overdue. */
  isFresh(snapshot: Stands): boolean;
  /** Sent, and its end overdue. */
  isOverdue(snapshot: Stands): boolean;
  announce(snapshot: Stands, nextQueryAt: string): void;
  ask(isCalledBack: boolean): Promise<AttestedStatus>;
  /** The fact to record of what was heard, or null to go on waiting. */
  transitionFor(snapshot: Stands, attested: AttestedStatus): Fact | null;
  record(transition: Fact, attested: AttestedStatus): Promise<Stands>;
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
export async function untilSettled<Stands extends CollectionSnapshot, Fact extends PaymentTransitionInput>(
  from: Stands,
  money: Settling<Stands, Fact>,
  pending: PendingSignals,
): Promise<Stands> {
  const { minimumQueryGapMs, reconcileScheduleMs } = money.timings;
  let snapshot = from;
  if (hasEnded(from)) {
    const attested = await queryUntilStatus(() => money.ask(false), reconcileScheduleMs);
    snapshot = await applyStatus(from, attested, money);
  }
  let queriesInState = 0;
  let answered = 0;
  let lastQueryAtMs: number | null = null;
  for (;;) {
    const isOpen = money.isFresh(snapshot) || money.isOverdue(snapshot);
    // One that came while the outcome was being recorded may speak of what followed it.
    if (!isOpen && !(hasEnded(snapshot) && pending.callbacks > answered)) return snapshot;
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await money.continueAsNew();
    }
    if (isOpen) {
      const waitMs = nextWaitMs(snapshot, queriesInState, money);
      money.announce(snapshot, new Date(Date.now() + waitMs).toISOString());
      await Promise.race([
        sleep(waitMs, { summary: 'until the next question' }),
        condition(() => pending.callbacks > answered),
      ]);
    }
    const gapMs = lastQueryAtMs === null ? 0 : lastQueryAtMs + minimumQueryGapMs - Date.now();
    if (gapMs > 0) await sleep(gapMs, { summary: 'callbacks come fast: a gap between questions' });
    const isCalledBack = pending.callbacks > answered;
    answered = pending.callbacks;
    const attested = await money.ask(isCalledBack);
    lastQueryAtMs = Date.now();
    const { state } = snapshot;
    snapshot = await applyStatus(snapshot, attested, money);
    queriesInState = snapshot.state === state ? queriesInState + 1 : 0;
  }
}

/** Records all that follows from the word: what was paid and returned takes two steps. */
async function applyStatus<Stands extends CollectionSnapshot, Fact extends PaymentTransitionInput>(
  from: Stands,
  attested: AttestedStatus,
  money: Settling<Stands, Fact>,
): Promise<Stands> {
  const { kind } = attested.status;
  // That it is under way there means that it has it, whatever our send was answered.
  let snapshot = kind === 'pending' && !from.isAccepted ? await recordAccepted(from, money.sent) : from;
  for (;;) {
    await noteContradiction(snapshot, attested, money.sent);
    const transition = money.transitionFor(snapshot, attested);
    if (transition === null) break;
    const next = await money.record(transition, attested);
    const isMoved = next.state !== snapshot.state;
    snapshot = next;
    if (!isMoved) break;
  }
  await scheduleRecheckWithoutStatus(snapshot, attested, money.sent);
  return snapshot;
}

/** Has it kept, for a person to settle, that the operator says otherwise than how it ended. */
export async function noteContradiction(
  { state }: { readonly state: string },
  attested: AttestedStatus,
  ended: EndedPayment,
): Promise<void> {
  if (contradictionIn(state, attested.status) === null) return;
  const summary = 'the operator contradicts what is booked';
  await recordDiscrepancy.executeWithOptions({ summary }, [{ ended, attested }]);
}

/** Of what has ended the operator says one thing or the other; while it does not, a later sweep has it asked again. */
export async function scheduleRecheckWithoutStatus(
  snapshot: { readonly state: string },
  { status: { kind } }: AttestedStatus,
  ended: EndedPayment,
): Promise<void> {
  if (!hasEnded(snapshot) || (kind !== 'unknown' && kind !== 'pending')) return;
  await scheduleRecheck.executeWithOptions({ summary: 'no answer: it is asked about again later' }, [ended]);
}

/** Notes that the operator has it; where it then stands. */
export async function recordAccepted<Stands extends CollectionSnapshot>(
  snapshot: Stands,
  sent: SentMoney,
): Promise<Stands> {
  await markAccepted.executeWithOptions({ summary: 'the operator has it' }, [sent]);
  return { ...snapshot, isAccepted: true };
}

/** What is said of money that was not asked about, because the asking failed. */
export function noStatus(): AttestedStatus {
  return { status: { kind: 'unknown' }, queriedAtMs: Date.now(), attestation: '' };
}

/** Asks until the operator says something, as often as the schedule has steps. */
export async function queryUntilStatus(
  ask: () => Promise<AttestedStatus>,
  scheduleMs: readonly number[],
): Promise<AttestedStatus> {
  let attested = await ask();
  for (const waitMs of scheduleMs) {
    if (attested.status.kind !== 'unknown') return attested;
    await sleep(waitMs, { summary: 'until the next question' });
    attested = await ask();
  }
  return attested;
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

function nextWaitMs<Stands extends CollectionSnapshot, Fact extends PaymentTransitionInput>(
  snapshot: Stands,
  asked: number,
  money: Settling<Stands, Fact>,
): number {
  const { pollScheduleMs, reconcileScheduleMs, minimumQueryGapMs } = money.timings;
  const isFresh = money.isFresh(snapshot);
  const schedule = isFresh ? pollScheduleMs : reconcileScheduleMs;
  const stepMs = schedule[Math.min(asked, schedule.length - 1)] ?? minimumQueryGapMs;
  // The moment it becomes overdue is one to ask at, not to sleep through.
  return isFresh
    ? Math.min(stepMs, Math.max(minimumQueryGapMs, (snapshot.sendDeadlineAtMs ?? 0) - Date.now()))
    : stepMs;
}
