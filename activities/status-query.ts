// Queries the operator status of a payment after a callback, or after a send of unknown outcome, and records what follows.
import { setTimeout as sleep } from 'node:timers/promises';
import { scheduleQuery } from '../src/db/payments/payment-progress.ts';
import type { NewExchange } from '../src/db/payments/operator-exchange.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import { isStatusMissing } from '../src/domain/payments/late-checks.ts';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { QueriedStatus } from '../src/domain/payments/operator-status.ts';
import { isQueriedAfterCallback, type PaymentRef } from '../src/domain/payments/payment.ts';
import { operatorStatusOf } from '../src/operators/operator-status.ts';
import type { Operator } from '../src/operators/port.ts';
import { isInLocalActivity } from './current-activity.ts';
import { callOperator, recordExchange, type ExchangeDeps, type PaymentAtOperator } from './exchanges.ts';
import { withFailures } from './failures.ts';
import { LONGEST_GRANT_WAIT_MS, type CallPermit, type OperatorCalls } from './operator-calls.ts';
import { createMessages, isAnswerAbout, type Messages, type MessageFindings } from './messages.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';
import { recordUnasked } from './unasked.ts';

export type StatusQueryDeps = ExchangeDeps & {
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly calls: Pick<OperatorCalls, 'permit'>;
  readonly clocks: Clocks;
};

export type StatusQueryResult =
  /** The payment after all that follows from the status was recorded, and whether the operator was asked and gave a status. */
  | { readonly kind: 'queried'; readonly snapshot: PaymentSnapshot; readonly hasStatus: boolean }
  /** The last query, of any process, is less than the minimum gap ago, or the operator takes no more calls now. */
  | { readonly kind: 'too_soon'; readonly waitMs: number };

// A local activity waits for the rest of the minimum gap up to this time: a timer and another workflow task cost more.
const LONGEST_GAP_WAIT_MS = 250;

/**
 * One call, and then one transaction for each consequence of the status. Before the call the row records that the query begins. After an
 * error Temporal runs the activity again, with a new query. In a local activity nothing follows if the operator gives no status: an
 * ordinary activity queries again. A final payment without a usable status is queried again soon. While the operator is unavailable it is
 * not called, and an ordinary activity leaves the query to the queue. If the operator sends messages, the received messages are read first,
 * and no query follows if they decide the status.
 */
export function createStatusQuery(deps: StatusQueryDeps, kinds: PaymentKinds, recorder: OutcomeRecorder) {
  const { db, clocks } = deps;
  const messages = createMessages(deps, kinds, recorder);

  async function query(
    ref: PaymentAtOperator,
    permit: CallPermit,
    findings: MessageFindings | null,
  ): Promise<StatusQueryResult> {
    const { waitMs, payment: read } = await withFailures(() => beginWithinTask(ref, deps, kinds));
    if (waitMs > 0) return { kind: 'too_soon', waitMs };
    const payment = findings?.payment ?? read;
    const { queried, exchange } = await queryOperator(ref, { payment, permit, findings }, { ...deps, messages });
    const { status } = queried;
    const hasStatus = status.kind !== 'unknown';
    if (!hasStatus && isInLocalActivity()) {
      if (exchange !== null) await recordExchange(deps, ref, exchange);
      return { kind: 'queried', snapshot: payment.snapshot, hasStatus };
    }
    const snapshot = await withFailures(() => recorder.recordStatus(ref, payment, queried, exchange));
    // The message with the receipt may have arrived before.
    if (findings !== null && snapshot.state === 'succeeded') await withFailures(() => messages.read(ref, ref.operator));
    if (isQueriedAfterCallback(ref.kind, snapshot.state) && isStatusMissing(snapshot.state, status)) {
      await scheduleQuery(db, ref, new Date(Date.now() + clocks.staleAfterMs));
    }
    return { kind: 'queried', snapshot, hasStatus };
  }

  async function leaveToQueue(ref: PaymentAtOperator): Promise<StatusQueryResult> {
    const snapshot = await withFailures(async () => {
      const recorded = await recordUnasked(ref, await kinds.load(ref), { kinds, clocks });
      await scheduleQuery(db, ref, new Date());
      return recorded;
    });
    return { kind: 'queried', snapshot, hasStatus: false };
  }

  return async (ref: PaymentAtOperator): Promise<StatusQueryResult> => {
    const findings = await withFailures(() => messages.read(ref, ref.operator));
    if (findings !== null && !findings.isAsked)
      return { kind: 'queried', snapshot: findings.payment.snapshot, hasStatus: true };
    const call = { kind: ref.kind, use: 'callback_query', waitMs: LONGEST_GRANT_WAIT_MS } as const;
    const permit = await deps.calls.permit(ref.operator, call);
    if (permit.kind === 'away' && !isInLocalActivity()) return leaveToQueue(ref);
    if (permit.kind !== 'granted') return { kind: 'too_soon', waitMs: LONGEST_GRANT_WAIT_MS };
    try {
      return await query(ref, permit, findings);
    } finally {
      await permit.end();
    }
  };
}

/** As `beginQuery`. In a local activity it waits for the rest of the minimum gap, if the rest is short. */
async function beginWithinTask(ref: PaymentRef, { clocks }: StatusQueryDeps, kinds: PaymentKinds) {
  const begin = () => kinds.beginQuery(ref, clocks.minimumQueryGapMs);
  const begun = await begin();
  if (begun.waitMs === 0 || begun.waitMs > LONGEST_GAP_WAIT_MS || !isInLocalActivity()) return begun;
  await sleep(begun.waitMs);
  return begin();
}

export type PermittedQuery = {
  readonly payment: LoadedPayment;
  readonly permit: CallPermit;
  /** Null: the operator sends no messages. */
  readonly findings: MessageFindings | null;
};

/**
 * One call, or as many as the permit allows if one is not enough; none if the operator could not find the payment. The caller records the
 * exchange, and ends the permit.
 */
export async function queryOperator(
  ref: PaymentRef,
  { payment, permit, findings }: PermittedQuery,
  deps: StatusQueryDeps & { readonly messages: Messages },
): Promise<{ readonly queried: QueriedStatus; readonly exchange: NewExchange | null }> {
  const { operators, log } = deps;
  const queriedAtMs = Date.now();
  if (!payment.isAskable) return { queried: { status: { kind: 'unknown' }, queriedAtMs }, exchange: null };
  const queryId = findings && (await deps.messages.beginQuery(ref, payment, findings.lastMessageId));
  const { outcome, exchange } = await callOperator(deps, { ref, ...payment }, 'status_query', () =>
    payment.queryStatus(operators[payment.operator], { ...payment.sent, queryId }, () => permit.mayCallAgain()),
  );
  await permit.answered(outcome);
  if (outcome.kind === 'unreadable' || outcome.kind === 'paid_unreadable') {
    const { reason } = outcome;
    log.error({ id: ref.id, reason }, 'the operator has the payment, but the status cannot be read');
  }
  const queried = { status: operatorStatusOf(outcome, payment.row), queriedAtMs };
  if (queried.status.kind === 'unknown' || (await isAnswerAbout(deps.db, ref, payment, queried))) {
    return { queried, exchange };
  }
  log.error(
    { id: ref.id },
    'the operator-issued id is lost, and the answer does not prove that it is about this payment: it is ignored',
  );
  return { queried: { status: { kind: 'unknown' }, queriedAtMs }, exchange };
}
