// The send of a payment to its operator: raises the prompt of a collection, or sends a payout or refund.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/platform/database.ts';
import type { NewExchange } from '../src/db/payments/operator-exchange.ts';
import { markSendBegun, markSendRepeated } from '../src/db/payments/payment-progress.ts';
import { paymentClocks, type Clocks, type PaymentClocks } from '../src/domain/clocks.ts';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import { OPERATORS, type OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import { generationOf } from '../src/domain/payments/send-generation.ts';
import { nextQueryDue } from '../src/domain/payments/status-schedule.ts';
import type { Operator, SendOutcome } from '../src/operators/port.ts';
import type { ReleaseAttestor } from '../src/security/release-attestation.ts';
import { isInLocalActivity } from './current-activity.ts';
import { callOperator, recordExchange, type ExchangeDeps, type PaymentAtOperator } from './exchanges.ts';
import { retriedLater, withFailures } from './failures.ts';
import { LONGEST_GRANT_WAIT_MS, type CallPermit, type OperatorAway, type OperatorCalls } from './operator-calls.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import { isTakeBackProven, leaveToReconciliation, takeBack } from './once-sends.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

export type SendResult =
  /** The payment after the operator's acceptance or refusal was recorded, and the durations that the run uses. */
  | { readonly kind: 'recorded'; readonly snapshot: PaymentSnapshot; readonly clocks: PaymentClocks }
  /** The payment was not sent, or the outcome of the send is unknown: the operator is queried for its status. */
  | { readonly kind: 'no_outcome' }
  /** Nothing was done, because enough workflow tasks wait for sends, or the operator takes no more calls now. */
  | { readonly kind: 'busy' };

type SendDeps = ExchangeDeps & {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly releases: ReleaseAttestor;
  readonly calls: Pick<OperatorCalls, 'permit'>;
  readonly clocks: Clocks;
};

/**
 * How many workflow tasks may wait for a send at once. The limit leaves the worker's other workflow tasks free while an operator is slow;
 * further sends are ordinary activities.
 */
const MOST_IN_WORKFLOW_TASKS = 20;
/** A last try this long after the deadline finds that the payment may no longer be sent. */
const AFTER_DEADLINE_MS = 50;

/**
 * One call: raises the prompt, or sends the payout or refund, unless the payment was sent already, is too late or is not allowed. Then it
 * records the operator's answer. The row records the first try before the call, so that no other try counts as the first. The row also
 * records that a further try follows: no refusal counts from then on, even if this process dies. Throws, to be retried, if it is unknown
 * whether the operator accepted the payment: the reference makes a repeated send harmless. A payment that is sent once becomes
 * `reconciling` instead and is not sent again, unless the operator did not process the send: that send is taken back. After an answer of
 * the operator it never throws, so that the payment is not sent again. Throws `ApprovalMissing`, and shows a person, if the row says that
 * the payment was released but this service did not record the release. In a local activity it does nothing, and returns `busy`, while
 * twenty other sends wait for their operator, or while the operator takes no more calls. While the operator is unavailable it sends
 * nothing, does not record that a send began, and throws, to be retried when the operator may answer again, and at the deadline at the
 * latest.
 */
export function createSend(deps: SendDeps, kinds: PaymentKinds, recorder: OutcomeRecorder) {
  let inWorkflowTasks = 0;
  return async (ref: PaymentAtOperator): Promise<SendResult> => {
    if (!isInLocalActivity()) return send(ref, deps, kinds, recorder);
    if (inWorkflowTasks >= MOST_IN_WORKFLOW_TASKS) return { kind: 'busy' };
    inWorkflowTasks += 1;
    try {
      return await send(ref, deps, kinds, recorder);
    } finally {
      inWorkflowTasks -= 1;
    }
  };
}

async function send(
  ref: PaymentAtOperator,
  deps: SendDeps,
  kinds: PaymentKinds,
  recorder: OutcomeRecorder,
): Promise<SendResult> {
  // The permit comes before the row records that the send begins: a payment without a permit is later sent for the first time.
  const call = { kind: ref.kind, use: 'send', waitMs: LONGEST_GRANT_WAIT_MS } as const;
  const permit = await deps.calls.permit(ref.operator, call);
  if (permit.kind !== 'granted') {
    if (isInLocalActivity()) return { kind: 'busy' };
    if (permit.kind === 'away') return notSent(ref, permit, kinds);
    throw retriedLater('OperatorBusy', 'the operator takes no more calls now');
  }
  try {
    return await sendPermitted({ ref, permit }, deps, kinds, recorder);
  } finally {
    await permit.end();
  }
}

/** Resolves if the payment may no longer be sent, and throws if the payment waits for its operator. */
async function notSent(
  ref: PaymentAtOperator,
  { breaker, waitMs }: OperatorAway,
  kinds: PaymentKinds,
): Promise<SendResult> {
  const payment = await withFailures(() => kinds.load(ref));
  if (!payment.maySend(new Date())) return { kind: 'no_outcome' };
  const untilDeadlineMs = (payment.sendDeadlineAt?.getTime() ?? Infinity) - Date.now() + AFTER_DEADLINE_MS;
  const since = breaker.openedAt.toISOString();
  const reason = `${OPERATORS[payment.operator].name} has been away since ${since} (${breaker.cause}: ${breaker.reason}): it is sent later`;
  throw retriedLater('OperatorAway', reason, Math.max(1, Math.min(waitMs, untilDeadlineMs)));
}

async function sendPermitted(
  { ref, permit }: { readonly ref: PaymentAtOperator; readonly permit: CallPermit },
  deps: SendDeps,
  kinds: PaymentKinds,
  recorder: OutcomeRecorder,
): Promise<SendResult> {
  const { operators, clocks, log } = deps;
  const recordUntilMs = Date.now() + clocks.operatorTimeoutMs;
  const tried = await beginTry(ref, deps, kinds);
  if (tried === null) return { kind: 'no_outcome' };
  const { payment, isFirstTry } = tried;
  const queriedAtMs = Date.now();
  const { outcome, exchange } = await callOperator(deps, { ref, ...payment }, 'send', () =>
    payment.send(operators[payment.operator]),
  );
  await permit.answered(outcome);
  logAnswer(ref, outcome, isFirstTry, log);
  // After a try of unknown outcome a refusal says nothing about the earlier try, so the operator is queried.
  if (outcome.kind === 'refused' && !isFirstTry) {
    await recordExchange(deps, ref, exchange);
    return { kind: 'no_outcome' };
  }
  if (outcome.kind === 'unknown' && (await mayRepeat(ref, tried, outcome, deps))) {
    await recordExchange(deps, ref, exchange);
    throw retriedLater('OperatorUnknown', `unknown whether the operator accepted the payment: ${outcome.reason}`);
  }
  const answer = { ref, payment, outcome, queriedAtMs };
  return recordAnswer(answer, exchange, recordUntilMs, { recorder, clocks, log });
}

/** A try to send the payment that the row records as begun. */
type Try = {
  readonly payment: LoadedPayment;
  readonly isFirstTry: boolean;
  /** Null unless this is the first try. */
  readonly begunAt: Date | null;
};

/** Null if the payment is not sent now, or may never be sent again. */
async function beginTry(ref: PaymentAtOperator, deps: SendDeps, kinds: PaymentKinds): Promise<Try | null> {
  const begun = await kinds.beginFirstSend(ref, new Date());
  const payment = begun ?? (await withFailures(() => kinds.load(ref)));
  const { isSentOnce } = payment;
  if (isSentOnce && begun === null && payment.isSendBegun) {
    await leaveToReconciliation(ref, payment, deps, kinds);
    return null;
  }
  if (begun === null && !payment.maySend(new Date())) return null;
  if (payment.isReleaseUnattested) {
    await kinds.holdUnattested(ref, new Date());
    throw ApplicationFailure.nonRetryable(`this service did not record the release of ${ref.id}`, 'ApprovalMissing');
  }
  let begunAt = begun?.row.sendBegunAt ?? null;
  if (begunAt === null && !payment.isSendBegun) begunAt = await beginFirstSend(ref, payment, deps);
  const isFirstTry = begunAt !== null;
  if (!isFirstTry && !(await beginFurtherTry(ref, payment, deps))) return null;
  // This process may have been stopped in between. A call after the deadline would contradict a decision that the deadline caused.
  if (!payment.maySend(new Date())) {
    if (isSentOnce && begunAt !== null) await takeBack(ref, payment, begunAt, deps);
    return null;
  }
  if (isSentOnce && !(await isTakeBackProven(ref, payment, deps, kinds))) return null;
  return { payment, isFirstTry, begunAt };
}

async function beginFirstSend(ref: PaymentRef, { row }: LoadedPayment, { db, clocks }: SendDeps): Promise<Date | null> {
  const at = new Date();
  const firstQuery = nextQueryDue({ ...row, sendBegunAt: at }, 0, at, clocks);
  return (await markSendBegun(db, ref, at, { firstQuery, generation: generationOf(row) })) ? at : null;
}

async function beginFurtherTry(
  ref: PaymentRef,
  { isSentOnce, isSendBegun, row }: LoadedPayment,
  { db }: SendDeps,
): Promise<boolean> {
  return !isSentOnce && isSendBegun && markSendRepeated(db, ref, new Date(), generationOf(row));
}

/** Whether another try may follow a try of unknown outcome. A payment that is sent once: only after its send was taken back. */
async function mayRepeat(
  ref: PaymentRef,
  { payment, begunAt }: Try,
  { isUnprocessed }: Extract<SendOutcome, { kind: 'unknown' }>,
  deps: SendDeps,
): Promise<boolean> {
  if (!payment.isSentOnce) return true;
  return isUnprocessed === true && begunAt !== null && takeBack(ref, payment, begunAt, deps);
}

function logAnswer(ref: PaymentRef, outcome: SendOutcome, isFirstTry: boolean, log: SendDeps['log']): void {
  if (outcome.kind === 'refused') {
    log.info({ id: ref.id, operatorCode: outcome.operatorCode }, 'the operator refused the payment');
  }
  if (outcome.kind === 'unknown' && outcome.cause === 'account') {
    log.error(
      { id: ref.id, reason: outcome.reason },
      'the operator refuses our account: the payment is sent again later',
    );
  }
  if (outcome.kind === 'accepted' && outcome.isRepeated === true && isFirstTry) {
    // The record of an earlier payment of the same request was lost. The status says whether it is this payment.
    log.warn(
      { id: ref.id },
      'the operator already has a payment with this reference, and we have no record of an earlier send: its status decides',
    );
  }
}

type SendAnswer = {
  readonly ref: PaymentRef;
  readonly payment: LoadedPayment;
  /** `unknown` only for a payment that is sent once. */
  readonly outcome: SendOutcome;
  readonly queriedAtMs: number;
};

const FIRST_RECORD_RETRY_MS = 100;

/**
 * Records the answer, with retries for as long as the activity has time. An answer that is not recorded by then leaves the outcome unknown,
 * as if the process had died: an error would cause another send.
 */
async function recordAnswer(
  { ref, payment, outcome, queriedAtMs }: SendAnswer,
  exchange: NewExchange,
  untilMs: number,
  { recorder, clocks, log }: { readonly recorder: OutcomeRecorder } & Pick<SendDeps, 'clocks' | 'log'>,
): Promise<SendResult> {
  const record = (unrecorded: NewExchange | null): Promise<PaymentSnapshot> => {
    switch (outcome.kind) {
      case 'accepted': {
        const { issuedId } = outcome;
        const queried = {
          status: { kind: 'pending' },
          queriedAtMs,
          ...(issuedId !== undefined && { issuedId }),
        } as const;
        return recorder.recordStatus(ref, payment, queried, unrecorded);
      }
      case 'refused':
        return recorder.recordRefusal(ref, payment, { ...outcome, queriedAtMs }, unrecorded);
      case 'unknown':
        return recorder.recordUnknownOutcome(ref, payment, unrecorded);
    }
  };
  for (let waitMs = FIRST_RECORD_RETRY_MS; ; waitMs *= 2) {
    try {
      // The first try records the exchange in any case.
      const snapshot = await record(waitMs === FIRST_RECORD_RETRY_MS ? exchange : null);
      return { kind: 'recorded', snapshot, clocks: paymentClocks(clocks) };
    } catch (error) {
      log.warn({ error, id: ref.id }, 'the operator’s answer to a send could not be recorded');
      if (Date.now() + waitMs >= untilMs) return { kind: 'no_outcome' };
    }
    await sleep(waitMs);
  }
}
