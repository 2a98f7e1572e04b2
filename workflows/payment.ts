// The steps that the workflows of collections, payouts and reversals share: load, send, query the status, record.
import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { PaymentActivities } from '../activities/payment.ts';
import type { PaymentClocks } from '../src/domain/clocks.ts';
import type { PaymentSnapshot, TransitionInput } from '../src/domain/payments/lifecycle.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import type { PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';
import { OPERATOR_CALLED_BACK, SEARCH_ATTRIBUTES, type PaymentWorkflowInput } from './contract.ts';
import { OWN_TRANSACTION, queryingStatus, QUICK_STATUS_QUERY, sendingPayment } from './policies.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const own = proxyLocalActivities<PaymentActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<PaymentActivities>(QUICK_STATUS_QUERY);

/** A payment with the durations that its run keeps to. */
export type Payment<Kind extends PaymentKind = PaymentKind> = {
  readonly kind: Kind;
  readonly input: PaymentWorkflowInput;
  readonly clocks: PaymentClocks;
};

/** How many signals came. They carry nothing: each is a reason to look, and who sends one by hand moves no money. */
export type PendingSignals = { decisions: number; callbacks: number };

/** Counts callbacks from now on. Called first in a workflow, so that no signal is lost. */
export function countSignals(): PendingSignals {
  const signals: PendingSignals = { decisions: 0, callbacks: 0 };
  setHandler(operatorCalledBack, () => {
    signals.callbacks += 1;
  });
  return signals;
}

/** The payment as it is recorded. The first step of every run: it brings the durations into the history. */
export async function loadPayment<Kind extends PaymentKind>(
  input: PaymentWorkflowInput & { readonly kind: Kind },
): Promise<{ readonly payment: Payment<Kind>; readonly snapshot: PaymentSnapshot<Kind> }> {
  const { snapshot, clocks } = await own.loadPayment.executeWithOptions({ summary: 'load the recorded payment' }, [
    input,
  ]);
  return { payment: { kind: input.kind, input, clocks }, snapshot: snapshot as PaymentSnapshot<Kind> };
}

/** The payment as it is recorded by now. */
export async function reloadPayment<Kind extends PaymentKind>(payment: Payment<Kind>): Promise<PaymentSnapshot<Kind>> {
  const summary = 'load the recorded payment';
  const { snapshot } = await own.loadPayment.executeWithOptions({ summary }, [payment.input]);
  return snapshot as PaymentSnapshot<Kind>;
}

const SEND_SUMMARY: Readonly<Record<PaymentKind, string>> = {
  collection: 'raise the prompt at',
  payout: 'send the payout to',
  reversal: 'request the refund at',
};

/** Sends the payment, with retries until its deadline, and records what is known of the send; returns what is then recorded. */
export async function sendPayment<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  const { input, clocks } = payment;
  const { sendWithOperator } = proxyActivities<PaymentActivities>(sendingPayment(input.kind, clocks));
  const isFirstSend = await recordSendBegun(input);
  const summary = `${SEND_SUMMARY[input.kind]} ${input.operator}`;
  const result = await orNull(sendWithOperator.executeWithOptions({ summary }, [{ ref: input, isFirstSend }]));
  // The tries ran out: the operator may have accepted one of them.
  if (result === null) return recordTransition(payment, { kind: 'outcome_unknown' }, null);
  switch (result.kind) {
    case 'accepted':
      return recordAccepted(payment, snapshot);
    case 'refused': {
      const { failureCode, attested } = result;
      return recordTransition(payment, { kind: 'declined', failureCode }, attested);
    }
    case 'not_sent':
      return snapshot;
  }
}

/** Whether no send of this payment began before. A collection keeps no note of it: its tries are counted within one run. */
async function recordSendBegun(input: PaymentRef): Promise<boolean> {
  if (input.kind === 'collection') return true;
  return own.recordSendBegun.executeWithOptions({ summary: 'record that the send begins' }, [input]);
}

/** Records that the operator has the payment: for a collection that is a state, for money that leaves a note on its row. */
export async function recordAccepted<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  const { input: ref } = payment;
  if (ref.kind === 'collection') {
    return recordTransition(payment, { kind: 'prompt_accepted' } as TransitionInput<Kind>, null);
  }
  await own.recordAccepted.executeWithOptions({ summary: 'record that the operator accepted it' }, [ref]);
  return { ...snapshot, isAccepted: true };
}

/** Records a transition; returns the payment as it then is, whatever moved it. */
export async function recordTransition<Kind extends PaymentKind>(
  { input }: Payment<Kind>,
  transition: TransitionInput<Kind>,
  attested: AttestedStatus | null,
): Promise<PaymentSnapshot<Kind>> {
  const summary = `record ${transition.kind}`;
  const snapshot = await own.recordTransition.executeWithOptions({ summary }, [{ ref: input, transition, attested }]);
  if (input.kind === 'collection' && transition.kind === 'outcome_unknown') waitForOperator();
  return snapshot as PaymentSnapshot<Kind>;
}

/** Shows in workflow lists that the operator must act next. */
export function waitForOperator(): void {
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitsFor, value: 'operator' }]);
}

/** One status query, with its retries in view. A query that fails gives `unknown`. */
export async function queryStatus({ input, clocks }: Payment): Promise<AttestedStatus> {
  const { queryStatusWithOperator } = proxyActivities<PaymentActivities>(queryingStatus(clocks));
  const summary = `query status at ${input.operator}`;
  return (await orNull(queryStatusWithOperator.executeWithOptions({ summary }, [input]))) ?? noStatus();
}

/**
 * After a callback the operator nearly always has the status at hand: a query within the workflow task saves a round trip
 * through the engine. Without a useful answer the normal query follows, which shows its retries.
 */
export async function queryStatusAfterCallback(payment: Payment): Promise<AttestedStatus> {
  const { input } = payment;
  // A refund is never urgent, and its callbacks are rare.
  if (input.kind === 'reversal') return queryStatus(payment);
  const summary = `query status at ${input.operator} after its callback`;
  const attested = await orNull(quick.queryStatusWithOperator.executeWithOptions({ summary }, [input]));
  return attested === null || attested.status.kind === 'unknown' ? queryStatus(payment) : attested;
}

function noStatus(): AttestedStatus {
  return { status: { kind: 'unknown' }, queriedAtMs: Date.now(), attestation: '' };
}

/** Keeps a contradiction of the recorded outcome, for a person to settle. */
export async function recordDiscrepancy({ input }: Payment, attested: AttestedStatus): Promise<void> {
  const summary = 'record that the operator contradicts the recorded outcome';
  await own.recordDiscrepancy.executeWithOptions({ summary }, [{ ref: input, attested }]);
}

/** Has the sweep recheck a final payment, because the operator gave no useful status. */
export async function scheduleRecheck({ input }: Payment): Promise<void> {
  await own.scheduleRecheck.executeWithOptions({ summary: 'no status: schedule a recheck' }, [input]);
}

/** Begins a new history where this one has grown long. Everything that a run needs is in the row. */
export async function continueAsNewIfSuggested({ input }: Payment): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  await continueAsNew<(input: PaymentWorkflowInput) => Promise<unknown>>(input);
}

/** The workflow's result: the final state, said in the UI too. */
export function finish<State extends string>({ state }: { readonly state: State }): State {
  setCurrentDetails(`Final: ${state}.`);
  return state;
}

/** What an activity returns, or null when it failed after all its tries. Cancellation, and what a person must see, is thrown. */
async function orNull<Result>(activity: Promise<Result>): Promise<Result | null> {
  try {
    return await activity;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure) || isApprovalMissing(error)) throw error;
    return null;
  }
}

// A payout without its approvals has no outcome to wait for: the workflow fails, red in the Temporal UI.
function isApprovalMissing({ cause }: ActivityFailure): boolean {
  return cause instanceof Error && 'type' in cause && cause.type === 'ApprovalMissing';
}
