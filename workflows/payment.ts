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
import type { SendResult } from '../activities/attestation.ts';
import type { PaymentActivities } from '../activities/payment.ts';
import type { QueriedStatus } from '../activities/status-query.ts';
import type { PaymentClocks } from '../src/domain/clocks.ts';
import { LIFECYCLES, type PaymentSnapshot, type TransitionInput } from '../src/domain/payments/lifecycle.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import type { PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';
import { OPERATOR_CALLED_BACK, type PaymentWorkflowInput } from './contract.ts';
import { inWords } from './details.ts';
import { OWN_TRANSACTION, queryingStatus, QUICK_STATUS_QUERY, sendingAtOnce, sendingPayment } from './policies.ts';
import { showOperatorAwaited, showState } from './shown-state.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const own = proxyLocalActivities<PaymentActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<PaymentActivities>(QUICK_STATUS_QUERY);

/** A payment with the durations that its run uses. */
export type Payment<Kind extends PaymentKind = PaymentKind> = {
  readonly kind: Kind;
  readonly input: PaymentWorkflowInput;
  readonly clocks: PaymentClocks;
  /** Of the workflow code that began the run; 0 for those of before. */
  readonly version: number;
};

/** A payment as it is recorded, with the durations that its run uses. */
export type LoadedPayment<Kind extends PaymentKind = PaymentKind> = {
  readonly payment: Payment<Kind>;
  readonly snapshot: PaymentSnapshot<Kind>;
};

/** How many signals came. A signal carries no data and moves no money: it makes the workflow load or query again. */
export type PendingSignals = { decisions: number; callbacks: number };

/** Counts the callbacks from now on. A workflow calls it first, so that no signal is lost. */
export function countSignals(): PendingSignals {
  const signals: PendingSignals = { decisions: 0, callbacks: 0 };
  setHandler(operatorCalledBack, () => {
    signals.callbacks += 1;
  });
  return signals;
}

/** The payment as it is recorded. The first step of every run, which brings the durations into its history. */
export async function loadPayment<Kind extends PaymentKind>(
  input: PaymentWorkflowInput & { readonly kind: Kind },
): Promise<LoadedPayment<Kind>> {
  const { snapshot, clocks, version = 0 } = await load(input);
  const payment = { kind: input.kind, input, clocks, version };
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

/** Sends the payment, with retries until its deadline, and records the result; returns the payment as it is then. */
export async function sendPayment<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  if (LIFECYCLES[payment.kind].isNeverSent(snapshot, Date.now())) return recordNeverSent(payment);
  const result = (await sendAtOnce(payment)) ?? (await sendWithRetries(payment));
  if (result === null) {
    // No try is left. If one began, the operator may have accepted it.
    const left = await reloadPayment(payment);
    return left.isSendBegun ? recordTransition(payment, { kind: 'outcome_unknown' }, null) : left;
  }
  const recorded = recordedIn(payment, result);
  if (recorded) return recorded;
  switch (result.kind) {
    case 'accepted':
      return recordAccepted(payment, snapshot, result.attested);
    case 'refused': {
      const { failureCode, attested } = result;
      return recordTransition(payment, { kind: 'declined', failureCode }, attested);
    }
    case 'busy':
    case 'not_sent':
      // Something else may have moved the payment since this run loaded it.
      return reloadPayment(payment);
  }
}

const SENT_AT_ONCE_SINCE_VERSION = 2;

/**
 * Raises a collection's prompt within the workflow task, which saves an activity and another task. Null: it has to be sent by an
 * activity, whose retries the Temporal UI shows: the operator's answer is unknown, or enough other workflow tasks wait for sends.
 */
async function sendAtOnce({ kind, input, clocks, version }: Payment): Promise<SendResult | null> {
  if (kind !== 'collection' || version < SENT_AT_ONCE_SINCE_VERSION) return null;
  const { sendWithOperator } = proxyLocalActivities<PaymentActivities>(sendingAtOnce(clocks));
  const summary = `${SEND_SUMMARY[kind]} ${input.operator}`;
  const result = await orNull(sendWithOperator.executeWithOptions({ summary }, [input]));
  if (result?.kind === 'busy') return null;
  if (result === null) await sleep(clocks.promptRetryMs, { summary: `next try in ${inWords(clocks.promptRetryMs)}` });
  return result;
}

function sendWithRetries({ input, clocks }: Payment): Promise<SendResult | null> {
  const { sendWithOperator } = proxyActivities<PaymentActivities>(sendingPayment(input.kind, clocks));
  const summary = `${SEND_SUMMARY[input.kind]} ${input.operator}`;
  return orNull(sendWithOperator.executeWithOptions({ summary }, [input]));
}

/** Records that nobody tried to send the payment in time, unless the row says otherwise; returns it as it is then. */
export async function recordNeverSent<Kind extends PaymentKind>(
  payment: Payment<Kind>,
): Promise<PaymentSnapshot<Kind>> {
  return recordTransition(payment, { kind: 'never_sent' }, null);
}

/** Records that the operator has the payment: a collection has a state for that, other payments a time on their row. */
export async function recordAccepted<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
  attested: AttestedStatus,
): Promise<PaymentSnapshot<Kind>> {
  const { input: ref } = payment;
  if (ref.kind === 'collection') {
    return recordTransition(payment, { kind: 'prompt_accepted' } as TransitionInput<Kind>, attested);
  }
  const summary = 'record that the operator accepted it';
  await own.recordAccepted.executeWithOptions({ summary }, [{ ref, attested }]);
  // The snapshot may be of before the send, and what was accepted was sent.
  return { ...snapshot, isSendBegun: true, isAccepted: true };
}

/** Records what the status adds to the evidence that the operator never accepted the payment; returns it as it is then. */
export async function recordNotFound<Kind extends PaymentKind>(
  { input: ref }: Payment<Kind>,
  snapshot: PaymentSnapshot<Kind>,
  attested: AttestedStatus,
): Promise<PaymentSnapshot<Kind>> {
  if (ref.kind === 'collection') return snapshot;
  const summary = `record that the operator said ${attested.status.kind}`;
  return (await own.recordNotFound.executeWithOptions({ summary }, [{ ref, attested }])) as PaymentSnapshot<Kind>;
}

/** Records a transition; returns the payment as it is then, whatever changed it. */
export async function recordTransition<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  transition: TransitionInput<Kind>,
  attested: AttestedStatus | null,
): Promise<PaymentSnapshot<Kind>> {
  const { input } = payment;
  const summary = `record ${transition.kind}`;
  const snapshot = await own.recordTransition.executeWithOptions({ summary }, [{ ref: input, transition, attested }]);
  if (input.kind === 'collection' && transition.kind === 'outcome_unknown') showOperatorAwaited(payment);
  return shown(payment, snapshot);
}

const RECORDED_WITH_EXCHANGE_SINCE_VERSION = 3;

/**
 * The payment as the activity that called the operator recorded it, or null: its outcome is still to be recorded. Runs that began before
 * that was done record it themselves, whichever worker makes their calls.
 */
export function recordedIn<Kind extends PaymentKind>(
  payment: Payment<Kind>,
  result: SendResult | QueriedStatus,
): PaymentSnapshot<Kind> | null {
  if (payment.version < RECORDED_WITH_EXCHANGE_SINCE_VERSION || !('recorded' in result)) return null;
  return shown(payment, result.recorded);
}

function shown<Kind extends PaymentKind>(payment: Payment<Kind>, recorded: PaymentSnapshot): PaymentSnapshot<Kind> {
  showState(payment, recorded);
  return recorded as PaymentSnapshot<Kind>;
}

/** One status query, whose retries the Temporal UI shows. A query that fails gives `unknown`. */
export async function queryStatus({ input, clocks }: Payment): Promise<QueriedStatus> {
  const { queryStatusWithOperator } = proxyActivities<PaymentActivities>(queryingStatus(clocks));
  const summary = `query status at ${input.operator}`;
  const beforeMs = Date.now();
  return (await orNull(queryStatusWithOperator.executeWithOptions({ summary }, [input]))) ?? noStatus(beforeMs);
}

/**
 * After a callback the operator nearly always has the status, so a query within the workflow task saves a round trip
 * through Temporal. If it gives no status, the normal query follows, whose retries the Temporal UI shows.
 */
export async function queryStatusAfterCallback(payment: Payment): Promise<QueriedStatus> {
  const { input } = payment;
  // A refund is never urgent, and its callbacks are rare.
  if (input.kind === 'reversal') return queryStatus(payment);
  const summary = `query status at ${input.operator} after its callback`;
  const attested = await orNull(quick.queryStatusWithOperator.executeWithOptions({ summary }, [input]));
  return attested === null || attested.status.kind === 'unknown' ? queryStatus(payment) : attested;
}

function noStatus(queriedAtMs: number): AttestedStatus {
  return { status: { kind: 'unknown' }, queriedAtMs, attestation: '' };
}

/** Records a contradiction of the recorded outcome, for a person to settle. */
export async function recordDiscrepancy({ input }: Payment, attested: AttestedStatus): Promise<void> {
  const summary = 'record that the operator contradicts the recorded outcome';
  await own.recordDiscrepancy.executeWithOptions({ summary }, [{ ref: input, attested }]);
}

/** Has a final payment rechecked soon, because the operator gave no useful status. */
export async function scheduleRecheck({ input }: Payment): Promise<void> {
  await own.scheduleRecheck.executeWithOptions({ summary: 'no status: schedule a recheck' }, [input]);
}

// A worker that takes a run over replays its history whole. After a restart it does so with hundreds of them at once, each of
// which must be done within the time-out of a workflow task, or the next worker begins it anew.
const LONGEST_HISTORY = 500;

/**
 * Begins a new history when this one has grown long. The row has everything that a run needs, except signals that have had no
 * effect yet: while one waits, a run that is long goes on until Temporal itself asks for another.
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

/** What the activity returns, or null when its last try failed. Throws cancellation, and what a person must see. */
async function orNull<Result>(activity: Promise<Result>): Promise<Result | null> {
  try {
    return await activity;
  } catch (error) {
    if (isCancellation(error) || !hasFailed(error) || isApprovalMissing(error)) throw error;
    return null;
  }
}

// A local activity that failed is an ActivityFailure in the run itself; when it is replayed, it is what the ActivityFailure
// would have as its cause. A run must go the same way in both.
function hasFailed(error: unknown): error is TemporalFailure {
  return error instanceof TemporalFailure;
}

// A payout or refund that lacks its approvals has no outcome to wait for: the workflow fails, red in the Temporal UI.
function isApprovalMissing(error: Error): boolean {
  return [error, error.cause].some((each) => each instanceof ApplicationFailure && each.type === 'ApprovalMissing');
}
