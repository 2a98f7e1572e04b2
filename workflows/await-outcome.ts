// The wait loop of all payments: polls the operator status, and queries it at callbacks, until the payment is final.
import { condition, sleep } from '@temporalio/workflow';
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { isFinal, isQueriedAfterCallback, type PaymentKind } from '../src/domain/payments/payment.ts';
import { describeWait, inWords } from './details.ts';
import {
  continueAsNewIfLong,
  queryStatus,
  queryStatusAfterCallback,
  recordTransition,
  type Payment,
  type PendingSignals,
} from './payment.ts';
import { showDetails, showState } from './shown-state.ts';

/** When the payment was last queried, and how many callbacks had come by then. */
type LastQuery = { readonly queriedAtMs: number | null; readonly callbacks: number };

/** Waits until the payment is final and every callback about it has led to a query; returns it as it is then. */
export async function awaitOutcome<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  from: PaymentSnapshot<Kind>,
  signals: PendingSignals,
  { queriedAtMs, callbacks }: LastQuery = { queriedAtMs: null, callbacks: 0 },
): Promise<PaymentSnapshot<Kind>> {
  const { minimumQueryGapMs } = payment.clocks;
  const lifecycle = LIFECYCLES[payment.kind];
  let snapshot = from;
  // The schedule begins again in each state.
  let pollsInState = 0;
  let seenCallbacks = callbacks;
  let lastQueryAtMs = queriedAtMs;
  for (;;) {
    if (lifecycle.isNeverSent(snapshot, Date.now())) snapshot = await recordTransition(payment, 'never_sent');
    const isPending = !isFinal(snapshot.state);
    // A callback that came while the outcome was being recorded may report what followed it.
    const isCallbackUnseen = signals.callbacks > seenCallbacks && isQueriedAfterCallback(payment.kind, snapshot.state);
    if (!isPending && !isCallbackUnseen) {
      showState(payment, snapshot);
      return snapshot;
    }
    await continueAsNewIfLong(payment, isCallbackUnseen);
    // A collection that is still `initiated` here has passed its prompt deadline or is in doubt: it is queried at once.
    if (isPending && snapshot.state !== 'initiated') {
      const waitMs = nextWaitMs(payment, snapshot, pollsInState);
      showDetails(payment, describeWait(payment, snapshot, pollsInState, waitMs));
      // A timer that loses the race is left to fire: cancelling it would cost more.
      await Promise.race([
        sleep(waitMs, { summary: `next status poll in ${inWords(waitMs)}` }),
        condition(() => signals.callbacks > seenCallbacks),
      ]);
    }
    const gapMs = lastQueryAtMs === null ? 0 : lastQueryAtMs + minimumQueryGapMs - Date.now();
    if (gapMs > 0) await sleep(gapMs, { summary: `status query in ${inWords(gapMs)}, not sooner after the last one` });
    const isCalledBack = signals.callbacks > seenCallbacks;
    seenCallbacks = signals.callbacks;
    const query = isCalledBack ? queryStatusAfterCallback : queryStatus;
    const { state } = snapshot;
    ({ snapshot } = await query(payment));
    lastQueryAtMs = Date.now();
    pollsInState = snapshot.state === state ? pollsInState + 1 : 0;
  }
}

/**
 * Rechecks a payment that was final when the run began: queries its status until the operator gives one or the schedule
 * ends. Then waits like any other run, for what followed from that and for callbacks that came meanwhile.
 */
export async function recheck<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
  signals: PendingSignals,
): Promise<PaymentSnapshot<Kind>> {
  let { callbacks } = signals;
  let queried = await queryStatus(payment);
  // An expired collection is rechecked at intervals, so one query is enough.
  const waitsMs = snapshot.state === 'expired' ? [] : payment.clocks.reconcileScheduleMs;
  for (const waitMs of waitsMs) {
    if (queried.hasStatus) break;
    await sleep(waitMs, { summary: `next status poll in ${inWords(waitMs)}` });
    callbacks = signals.callbacks;
    queried = await queryStatus(payment);
  }
  return awaitOutcome(payment, queried.snapshot, signals, { queriedAtMs: Date.now(), callbacks });
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
  // The wait ends at the latest when the outcome becomes overdue, so that the operator is queried then.
  return Math.min(stepMs, Math.max(clocks.minimumQueryGapMs, overdueAtMs - Date.now()));
}
