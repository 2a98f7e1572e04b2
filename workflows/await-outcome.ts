// The one wait loop of all payments: poll and listen for callbacks until the operator has confirmed an outcome.
import { condition, setCurrentDetails, sleep } from '@temporalio/workflow';
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import { isFinal, isRecheckable, type PaymentKind } from '../src/domain/payments/payment.ts';
import { contradictionIn } from '../src/domain/payments/send-progress.ts';
import { describeWait } from './details.ts';
import {
  continueAsNewIfSuggested,
  queryStatus,
  queryStatusAfterCallback,
  recordAccepted,
  recordDiscrepancy,
  recordTransition,
  scheduleRecheck,
  type Payment,
  type PendingSignals,
} from './payment.ts';

/** Waits until the payment is final and no callback about it is unanswered; returns it as it then is. */
export async function awaitOutcome<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  from: PaymentSnapshot<Kind>,
  signals: PendingSignals,
): Promise<PaymentSnapshot<Kind>> {
  const { minimumQueryGapMs } = payment.clocks;
  let snapshot = from;
  // Each state's schedule begins with its first step.
  let pollsInState = 0;
  let seenCallbacks = 0;
  let lastQueryAtMs: number | null = null;
  for (;;) {
    const isPending = !isFinal(snapshot.state);
    // A callback that came while the outcome was being recorded may report what followed it.
    if (!isPending && !(isRecheckable(snapshot.state) && signals.callbacks > seenCallbacks)) return snapshot;
    await continueAsNewIfSuggested(payment);
    // Still `initiated` here means that the prompt deadline passed first: that is queried at once.
    if (isPending && snapshot.state !== 'initiated') {
      const waitMs = nextWaitMs(payment, snapshot, pollsInState);
      setCurrentDetails(describeWait(payment, snapshot, pollsInState, waitMs));
      // The timer that loses the race runs out: cancelling it would cost more.
      await Promise.race([
        sleep(waitMs, { summary: 'next status poll' }),
        condition(() => signals.callbacks > seenCallbacks),
      ]);
    }
    const gapMs = lastQueryAtMs === null ? 0 : lastQueryAtMs + minimumQueryGapMs - Date.now();
    if (gapMs > 0) await sleep(gapMs, { summary: 'shortest gap between status queries' });
    const isCalledBack = signals.callbacks > seenCallbacks;
    seenCallbacks = signals.callbacks;
    const attested = await (isCalledBack ? queryStatusAfterCallback(payment) : queryStatus(payment));
    lastQueryAtMs = Date.now();
    const { state } = snapshot;
    snapshot = await applyStatus(payment, snapshot, attested);
    pollsInState = snapshot.state === state ? pollsInState + 1 : 0;
  }
}

/**
 * Queries the status of a payment that was final when the run began, until the operator gives one or the schedule ends:
 * this is what such a run is started for.
 */
export async function recheck<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  let attested = await queryStatus(payment);
  // The sweep rechecks an expired collection at intervals anyway.
  const waitsMs = snapshot.state === 'expired' ? [] : payment.clocks.reconcileScheduleMs;
  for (const waitMs of waitsMs) {
    if (attested.status.kind !== 'unknown') break;
    await sleep(waitMs, { summary: 'next status poll' });
    attested = await queryStatus(payment);
  }
  return applyStatus(payment, snapshot, attested);
}

/** Records all that follows from the status: a payment that was paid and returned takes two transitions. */
async function applyStatus<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  from: PaymentSnapshot<Kind>,
  attested: AttestedStatus,
): Promise<PaymentSnapshot<Kind>> {
  const lifecycle = LIFECYCLES[payment.kind];
  const { status } = attested;
  const isAccepted = status.kind === 'pending' && lifecycle.isAcceptanceUnrecorded(from);
  let snapshot = isAccepted ? await recordAccepted(payment, from) : from;
  for (;;) {
    if (contradictionIn(snapshot.state, status) !== null) await recordDiscrepancy(payment, attested);
    const transition = lifecycle.next(snapshot, attested, Date.now(), payment.clocks);
    if (transition === null) break;
    const next = await recordTransition(payment, transition, attested);
    const isMoved = next.state !== snapshot.state;
    snapshot = next;
    if (!isMoved) break;
  }
  const isWithoutStatus = status.kind === 'unknown' || status.kind === 'pending';
  if (isRecheckable(snapshot.state) && isWithoutStatus) await scheduleRecheck(payment);
  return snapshot;
}

function nextWaitMs<Kind extends PaymentKind>(
  { kind, clocks }: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
  polls: number,
): number {
  const isOverdue = snapshot.state === 'reconciling';
  const schedule = isOverdue ? clocks.reconcileScheduleMs : clocks.pollScheduleMs;
  const stepMs = schedule[Math.min(polls, schedule.length - 1)] ?? clocks.minimumQueryGapMs;
  const overdueAtMs = LIFECYCLES[kind].overdueAtMs(snapshot);
  if (isOverdue || overdueAtMs === null) return stepMs;
  // The time at which the outcome becomes overdue is one to poll at, not to sleep through.
  return Math.min(stepMs, Math.max(clocks.minimumQueryGapMs, overdueAtMs - Date.now()));
}
