// One payout or refund from recorded to final: wait for people to decide, send it, wait for the operator's outcome, record it.
import { condition, sleep } from '@temporalio/workflow';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { MoneyOutKind } from '../src/domain/payments/payment.ts';
import { awaitOutcome } from './await-outcome.ts';
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

/**
 * Loads the payout or refund, ends when it is final, and returns it. The row is the truth: a new run after a lost run continues from the
 * recorded state.
 */
export async function sendMoneyOut<Kind extends MoneyOutKind>(
  load: () => Promise<LoadedPayment<Kind>>,
): Promise<PaymentSnapshot<Kind>> {
  const signals = countSignals();
  const seen = { ...signals };
  const { payment, snapshot: loaded } = await load();
  showState(payment, loaded);
  const from: Loaded<Kind> = { snapshot: loaded, seen };
  const decided = await awaitDecision(payment, from, signals);
  let { snapshot } = decided;
  if (snapshot.state === 'released' && snapshot.sendAgainAtMs === undefined) {
    showDetails(
      payment,
      'Released. It is sent to the operator, or waits for it: see the pending activity and its last failure.',
    );
    snapshot = await sendPayment(payment, snapshot);
  }
  return awaitOutcome(payment, snapshot, signals, decided.seen);
}

/** A loaded payment, and the signals that had come before the load: the payment may lack changes of later signals. */
type Loaded<Kind extends MoneyOutKind> = { readonly snapshot: PaymentSnapshot<Kind>; readonly seen: PendingSignals };

async function awaitDecision<Kind extends MoneyOutKind>(
  payment: Payment<Kind>,
  from: Loaded<Kind>,
  signals: PendingSignals,
): Promise<Loaded<Kind>> {
  let { snapshot, seen } = from;
  while (snapshot.state === 'queued') {
    const { changes } = seen;
    await continueAsNewIfLong(payment, signals.changes > changes);
    const waitMs = snapshot.expiresAtMs - Date.now();
    if (waitMs <= 0) {
      snapshot = await recordTransition(payment, 'approval_expired');
      // The clock of the process that records the expiry decides, and may be a little behind.
      if (snapshot.state === 'queued')
        await sleep(payment.clocks.minimumQueryGapMs, { summary: 'approval expires: try again' });
      continue;
    }
    showDetails(payment, describeQueue(snapshot));
    await condition(() => signals.changes > changes, waitMs, { summary: 'approval expires' });
    seen = { ...signals };
    snapshot = await reloadPayment(payment);
  }
  return { snapshot, seen };
}
