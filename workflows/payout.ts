// One payout from recorded to final: wait for people to decide, send it, wait for the operator's outcome, record it.
import { condition, defineSignal, setCurrentDetails, setHandler, sleep } from '@temporalio/workflow';
import { isRecheckable } from '../src/domain/payments/payment.ts';
import type { PayoutState } from '../src/domain/payments/payout.ts';
import type { PayoutSnapshot } from '../src/domain/payments/payout-progress.ts';
import { awaitOutcome, recheck } from './await-outcome.ts';
import { PAYOUT_DECISION_RECORDED, type PaymentWorkflowInput } from './contract.ts';
import { describeQueue } from './details.ts';
import {
  continueAsNewIfSuggested,
  countSignals,
  finish,
  loadPayment,
  reloadPayment,
  recordTransition,
  sendPayment,
  waitForOperator,
  type Payment,
  type PendingSignals,
} from './payment.ts';

const decisionRecorded = defineSignal(PAYOUT_DECISION_RECORDED);

/**
 * Ends when the payout is final, with its state. The row is the truth: a run that is lost and started again continues
 * from the state that it finds. A run for a payout with an outcome rechecks it once.
 */
export async function payoutWorkflow(input: PaymentWorkflowInput<'payout'>): Promise<PayoutState> {
  const signals = countSignals();
  setHandler(decisionRecorded, () => {
    signals.decisions += 1;
  });
  const loadedAfter = signals.decisions;
  const loaded = await loadPayment(input);
  const { payment } = loaded;
  if (isRecheckable(loaded.snapshot.state)) return finish(await recheck(payment, loaded.snapshot, signals));
  const from: Loaded = { snapshot: loaded.snapshot, loadedAfter };
  let snapshot = await awaitDecision(payment, from, signals);
  if (snapshot.state === 'released') {
    waitForOperator();
    setCurrentDetails('Released. Sending it to the operator: see the pending activity.');
    snapshot = await sendPayment(payment, snapshot);
  }
  return finish(await awaitOutcome(payment, snapshot, signals));
}

/** A payout as it was loaded, with the number of decisions that had been signalled before: later ones may be missing. */
type Loaded = { readonly snapshot: PayoutSnapshot; readonly loadedAfter: number };

async function awaitDecision(
  payment: Payment<'payout'>,
  from: Loaded,
  signals: PendingSignals,
): Promise<PayoutSnapshot> {
  let { snapshot, loadedAfter } = from;
  while (snapshot.state === 'queued') {
    await continueAsNewIfSuggested(payment);
    const seen = loadedAfter;
    const waitMs = snapshot.expiresAtMs - Date.now();
    if (waitMs <= 0) {
      snapshot = await recordTransition(payment, { kind: 'approval_expired' }, null);
      // The clock of the process that records the expiry decides, and it may be a little behind.
      if (snapshot.state === 'queued') await sleep(payment.clocks.minimumQueryGapMs, { summary: 'approval expires' });
      continue;
    }
    setCurrentDetails(describeQueue(snapshot));
    await condition(() => signals.decisions > seen, waitMs);
    loadedAfter = signals.decisions;
    snapshot = await reloadPayment(payment);
  }
  return snapshot;
}
