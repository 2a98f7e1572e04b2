// The steps that the workflows of collections, payouts and reversals share: load, send, query the status, record.
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { PaymentActivities } from '../activities/payment.ts';
import type { SendResult } from '../activities/send.ts';
import type { PaymentClocks } from '../src/domain/clocks.ts';
import { LIFECYCLES, type InputWithoutStatus, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';
import { OPERATOR_CALLED_BACK, PAYMENT_CHANGED, type PaymentWorkflowInput } from './contract.ts';
import { inWords } from './details.ts';
import {
  OWN_TRANSACTION,
  queryingPayeeName,
  queryingStatus,
  QUICK_STATUS_QUERY,
  SENDING_AT_ONCE,
  sendingPayment,
} from './policies.ts';
import { showState } from './shown-state.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const paymentChanged = defineSignal(PAYMENT_CHANGED);
const own = proxyLocalActivities<PaymentActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<PaymentActivities>(QUICK_STATUS_QUERY);
const atOnce = proxyLocalActivities<PaymentActivities>(SENDING_AT_ONCE);

/** A payment with the durations that its run uses. */
export type Payment<Kind extends PaymentKind = PaymentKind> = {
  readonly kind: Kind;
  readonly input: PaymentWorkflowInput;
  readonly clocks: PaymentClocks;
};

/** A payment as it is recorded, with the durations that its run uses. */
export type LoadedPayment<Kind extends PaymentKind = PaymentKind> = {
  readonly payment: Payment<Kind>;
  readonly snapshot: PaymentSnapshot<Kind>;
};

/** How many signals came. A signal carries no data and moves no money: it makes the workflow load or query again. */
export type PendingSignals = { changes: number; callbacks: number };

/** Counts the signals from now on. A workflow calls this function first, so that no signal is lost. */
export function countSignals(): PendingSignals {
  const signals: PendingSignals = { changes: 0, callbacks: 0 };
  setHandler(operatorCalledBack, () => {
    signals.callbacks += 1;
  });
  setHandler(paymentChanged, () => {
    signals.changes += 1;
  });
  return signals;
}

/** The payment as it is recorded, and the durations, which the history of the run keeps. */
export async function loadPayment<Kind extends PaymentKind>(
  input: PaymentWorkflowInput & { readonly kind: Kind },
): Promise<LoadedPayment<Kind>> {
  const { snapshot, clocks } = await load(input);
  const payment = { kind: input.kind, input, clocks };
  return { payment, snapshot: snapshot as PaymentSnapshot<Kind> };
}

/** The payment as it is recorded now. */
export async function reloadPayment<Kind extends PaymentKind>(payment: Payment<Kind>): Promise<PaymentSnapshot<Kind>> {
  const { snapshot } = await load(payment.input);
  showState(payment, snapshot);
  return snapshot as PaymentSnapshot<Kind>;
}

function load(ref: PaymentRef): ReturnType<PaymentActivities['loadPayment']> {
  return own.loadPayment.executeWithOptions({ summary: 'load the recorded payment' }, [ref]);
}

const SEND_SUMMARY: Readonly<Record<PaymentKind, string>> = {
  collection: 'raise the prompt at',
  payout: 'send the payout to',
  reversal: 'request the refund at',
};

/** Sends the payment, with retries until its deadline; returns the payment after the operator's answer was recorded. */
export async function sendPayment<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  if (LIFECYCLES[payment.kind].isNeverSent(snapshot, Date.now())) return recordTransition(payment, 'never_sent');
  const result = await sendWithRetries(payment);
  if (result?.kind === 'recorded') return shown(payment, result.snapshot);
  // Another process may have changed the payment since this run loaded it.
  const current = await reloadPayment(payment);
  // No try is left. If a try began, the operator may have accepted the payment.
  return result === null && current.isSendBegun ? recordTransition(payment, 'outcome_unknown') : current;
}

/**
 * Raises a collection's prompt as the first step of the run, within the workflow task: that saves a read, an activity and another task. An
 * activity, whose retries the Temporal UI shows, sends the collection if the outcome of the first try is unknown, or if enough other
 * workflow tasks wait for sends. Returns the collection after the operator's answer was recorded; a collection that was sent before is
 * returned as recorded.
 */
export async function sendNewPayment(input: PaymentWorkflowInput<'collection'>): Promise<LoadedPayment<'collection'>> {
  const summary = `${SEND_SUMMARY.collection} ${input.operator}`;
  const result = await orNull(atOnce.sendWithOperator.executeWithOptions({ summary }, [input]));
  if (result?.kind === 'recorded') {
    const { snapshot, clocks } = result;
    const payment = { kind: input.kind, input, clocks };
    return { payment, snapshot: shown<'collection'>(payment, snapshot) };
  }
  const { payment, snapshot } = await loadPayment(input);
  showState(payment, snapshot);
  if (snapshot.state !== 'initiated' || result?.kind === 'no_outcome') return { payment, snapshot };
  if (result === null) {
    const { promptRetryMs } = payment.clocks;
    await sleep(promptRetryMs, { summary: `next try in ${inWords(promptRetryMs)}` });
  }
  return { payment, snapshot: await sendPayment(payment, snapshot) };
}

function sendWithRetries({ input, clocks }: Payment): Promise<SendResult | null> {
  const { sendWithOperator } = proxyActivities<PaymentActivities>(sendingPayment(input.kind, clocks));
  const summary = `${SEND_SUMMARY[input.kind]} ${input.operator}`;
  return orNull(sendWithOperator.executeWithOptions({ summary }, [input]));
}

/** Records a transition that needs no operator status; returns the payment afterwards, even if another process changed it. */
export async function recordTransition<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  transition: InputWithoutStatus,
): Promise<PaymentSnapshot<Kind>> {
  const input = { ref: payment.input, transition: { kind: transition } };
  const snapshot = await own.recordTransition.executeWithOptions({ summary: `record ${transition}` }, [input]);
  return shown(payment, snapshot);
}

function shown<Kind extends PaymentKind>(payment: Payment<Kind>, recorded: PaymentSnapshot): PaymentSnapshot<Kind> {
  showState(payment, recorded);
  return recorded as PaymentSnapshot<Kind>;
}

/** One status query, whose retries the Temporal UI shows; returns the payment after all that follows from the status was recorded. */
export async function queryStatus<Kind extends PaymentKind>(payment: Payment<Kind>): Promise<PaymentSnapshot<Kind>> {
  const { input, clocks } = payment;
  const { queryStatusWithOperator } = proxyActivities<PaymentActivities>(queryingStatus(clocks));
  const summary = `query status at ${input.operator}`;
  for (;;) {
    const queried = await queryStatusWithOperator.executeWithOptions({ summary }, [input]);
    if (queried.kind === 'queried') return shown(payment, queried.snapshot);
    await sleep(queried.waitMs, {
      summary: `status query in ${inWords(queried.waitMs)}, not sooner after the last one`,
    });
  }
}

/**
 * After a callback the operator nearly always has the status, so a query within the workflow task saves a round trip
 * through Temporal. If it gives no status, the normal query follows, whose retries the Temporal UI shows.
 */
export async function queryStatusAfterCallback<Kind extends PaymentKind>(
  payment: Payment<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  const { input } = payment;
  // A refund is never urgent, and its callbacks are rare.
  if (input.kind === 'reversal') return queryStatus(payment);
  const summary = `query status at ${input.operator} after its callback`;
  const queried = await orNull(quick.queryStatusWithOperator.executeWithOptions({ summary }, [input]));
  return queried?.kind === 'queried' && queried.hasStatus ? shown(payment, queried.snapshot) : queryStatus(payment);
}

/**
 * Asks the operator for the name of the payee, with retries that the Temporal UI shows. Never rejects: a payout without a name is released
 * like any other, and a payout that is decided meanwhile needs no name.
 */
export async function queryPayeeName({ input, clocks }: Payment<'payout'>): Promise<void> {
  const { queryPayeeNameWithOperator } = proxyActivities<PaymentActivities>(queryingPayeeName(clocks));
  const summary = `ask for the name of the payee at ${input.operator}`;
  try {
    await queryPayeeNameWithOperator.executeWithOptions({ summary }, [input as PaymentRef<'payout'>]);
  } catch {
    // The activity's failures are in the history, and each try without an answer is an exchange in the payout's timeline.
  }
}

// A worker that takes over a run replays its whole history. After a restart it replays hundreds of runs at once. If one replay exceeds the
// timeout of a workflow task, the next worker begins it again.
const LONGEST_HISTORY = 500;

/**
 * Begins a new history if this history is long. The row has everything that a run needs, except signals without an effect so far: while
 * such a signal waits, a long run continues until Temporal itself asks for a new history.
 */
export async function continueAsNewIfLong({ input }: Payment, isSignalWaiting: boolean): Promise<void> {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  const isLong = historyLength > LONGEST_HISTORY && !isSignalWaiting;
  if (!isLong && !continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  await continueAsNew<(input: PaymentWorkflowInput) => Promise<unknown>>(input);
}

/** The workflow's result: the final state. The Temporal UI shows it, and that nobody has to act. */
export function finish<State extends string>({ state }: { readonly state: State }): State {
  setCurrentDetails(`Final: ${state}. Nobody has to act.`);
  return state;
}

/** The result of the activity, or null if its last try failed. Throws cancellation, and failures that a person must see. */
async function orNull<Result>(activity: Promise<Result>): Promise<Result | null> {
  try {
    return await activity;
  } catch (error) {
    if (isCancellation(error) || !hasFailed(error) || isApprovalMissing(error)) throw error;
    return null;
  }
}

// A failed local activity throws an ActivityFailure in the run itself, but in a replay only the cause of that ActivityFailure. A run must
// behave the same in both cases.
function hasFailed(error: unknown): error is TemporalFailure {
  return error instanceof TemporalFailure;
}

// A payout or refund that lacks its approvals has no outcome to wait for: the workflow fails, red in the Temporal UI.
function isApprovalMissing(error: Error): boolean {
  return [error, error.cause].some((each) => each instanceof ApplicationFailure && each.type === 'ApprovalMissing');
}
