// Money that goes out, from recorded to final: wait for people to decide, send it, wait for the operator's outcome, record it.
import { condition, defineSignal, setHandler, sleep } from '@temporalio/workflow';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { isRecheckable } from '../src/domain/payments/payment.ts';
import { awaitOutcome, recheck } from './await-outcome.ts';
import { DECISION_RECORDED } from './contract.ts';
import { describeQueue } from './details.ts';
import {
  continueAsNewIfLong,
  countSignals,
  reloadPayment,
  recordTransition,
  sendPayment,
  type LoadedPayment,
  type Payment,
  type PendingSignals,
} from './payment.ts';
import { showDetails, showState } from './shown-state.ts';

const decisionRecorded = defineSignal(DECISION_RECORDED);

type MoneyOut = 'payout' | 'reversal';

/**
 * Loads the payout or refund, ends when it is final, and returns it. The row is the truth: a run that is lost and started again
 * continues from the state that it finds. A run for a payment with an outcome rechecks it once.
 */
export async function payOut<Kind extends MoneyOut>(
  load: () => Promise<LoadedPayment<Kind>>,
): Promise<PaymentSnapshot<Kind>> {
  const signals = countSignals();
  setHandler(decisionRecorded, () => {
    signals.decisions += 1;
  });
  const loadedAfter = signals.decisions;
  const loaded = await load();
  const { payment } = loaded;
  if (isRecheckable(loaded.snapshot.state)) return recheck(payment, loaded.snapshot, signals);
  showState(payment, loaded.snapshot);
  const from: Loaded<Kind> = { snapshot: loaded.snapshot, loadedAfter };
  let snapshot = await awaitDecision(payment, from, signals);
  if (snapshot.state === 'released') {
    showDetails(payment, 'Released. Sending it to the operator: see the pending activity.');
    snapshot = await sendPayment(payment, snapshot);
  }
  return awaitOutcome(payment, snapshot, signals);
}

/** A payment as it was loaded, with the number of decisions that had been signalled before: later ones may be missing. */
type Loaded<Kind extends MoneyOut> = { readonly snapshot: PaymentSnapshot<Kind>; readonly loadedAfter: number };

async function awaitDecision<Kind extends MoneyOut>(
  payment: Payment<Kind>,
  from: Loaded<Kind>,
  signals: PendingSignals,
): Promise<PaymentSnapshot<Kind>> {
  let { snapshot, loadedAfter } = from;
  while (snapshot.state === 'queued') {
    await continueAsNewIfLong(payment, signals.decisions > loadedAfter);
    const seen = loadedAfter;
    const waitMs = snapshot.expiresAtMs - Date.now();
    if (waitMs <= 0) {
      snapshot = await recordTransition(payment, 'approval_expired');
      // The clock of the process that records the expiry decides, and it may be a little behind.
      if (snapshot.state === 'queued')
        await sleep(payment.clocks.minimumQueryGapMs, { summary: 'approval expires: try again' });
      continue;
    }
    showDetails(payment, describeQueue(snapshot));
    await condition(() => signals.decisions > seen, waitMs, { summary: 'approval expires' });
    loadedAfter = signals.decisions;
    snapshot = await reloadPayment(payment);
  }
  return snapshot;
}
