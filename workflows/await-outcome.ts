// The wait loop of all payments: queries the operator after callbacks, sends again what waits for our float, and waits for recorded changes,
// until the payment is final.
import { condition } from '@temporalio/workflow';
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { isFinal, isQueriedAfterCallback, type PaymentKind } from '../src/domain/payments/payment.ts';
import { describeWait } from './details.ts';
import {
  continueAsNewIfLong,
  queryStatus,
  queryStatusAfterCallback,
  recordTransition,
  reloadPayment,
  sendPayment,
  type Payment,
  type PendingSignals,
} from './payment.ts';
import { showDetails, showState } from './shown-state.ts';

/**
 * Waits until the payment is final and every callback about it has led to a query; returns the payment as it is then. Others make and
 * record the queries by schedule and at deadlines, and signal the change to the run. `seen` counts the signals that had come when the
 * payment was read.
 */
export async function awaitOutcome<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  from: PaymentSnapshot<Kind>,
  signals: PendingSignals,
  seen: PendingSignals,
): Promise<PaymentSnapshot<Kind>> {
  const lifecycle = LIFECYCLES[payment.kind];
  let snapshot = from;
  let { changes, callbacks } = seen;
  for (;;) {
    if (lifecycle.isNeverSent(snapshot, Date.now())) snapshot = await recordTransition(payment, 'never_sent');
    const isPending = !isFinal(snapshot.state);
    // A callback that came while the outcome was being recorded may report a later event.
    const isCallbackUnseen = signals.callbacks > callbacks && isQueriedAfterCallback(payment.kind, snapshot.state);
    if (!isPending && !isCallbackUnseen) {
      showState(payment, snapshot);
      return snapshot;
    }
    await continueAsNewIfLong(payment, isCallbackUnseen || signals.changes > changes);
    // A collection that is still `initiated` has passed its prompt deadline, or its send has an unknown outcome: it is queried at once.
    const isInDoubt = snapshot.state === 'initiated';
    if (isPending && !isInDoubt) {
      showDetails(payment, describeWait(payment, snapshot));
      const isSignalled = () => signals.callbacks > callbacks || signals.changes > changes;
      const deadlineMs = lifecycle.unsentUntilMs(snapshot);
      if (deadlineMs === null) await condition(isSignalled);
      else {
        const waitMs = Math.max(payment.clocks.minimumQueryGapMs, deadlineMs - Date.now());
        await condition(isSignalled, waitMs, { summary: 'the send is due, or too late' });
      }
    }
    const isCalledBack = signals.callbacks > callbacks;
    ({ changes, callbacks } = signals);
    if (isCalledBack) snapshot = await queryStatusAfterCallback(payment);
    else if (isInDoubt) snapshot = await queryStatus(payment);
    else if (lifecycle.isSendDue(snapshot, Date.now())) snapshot = await sendPayment(payment, snapshot);
    else snapshot = await reloadPayment(payment);
  }
}
