// The send of a payment to its operator: raises the prompt of a collection, or sends a payout or refund.
import { ApplicationFailure } from '@temporalio/common';
import { markSendBegun, markSendRepeated } from '../src/db/payments/payment-progress.ts';
import type { Database } from '../src/db/platform/database.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Operator } from '../src/operators/port.ts';
import type { PendingQuery, SendResult, StatusAttestor } from './attestation.ts';
import { isInLocalActivity } from './current-activity.ts';
import type { ExchangeRecorder } from './exchange-recorder.ts';
import { makeExchange, recordExchange, type ExchangeDeps } from './exchanges.ts';
import { withFailures } from './failures.ts';
import type { PaymentKinds } from './payment-kinds.ts';

type SendDeps = ExchangeDeps & {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly attestor: StatusAttestor;
  readonly exchangeRecorder: ExchangeRecorder;
};

/**
 * How many workflow tasks may wait for a send at once. A slow operator holds so many of them and no more, of those that the
 * worker has; further sends are ordinary activities.
 */
const MOST_IN_WORKFLOW_TASKS = 20;

/**
 * One call: raises the prompt, or sends the payout or refund, unless that was done, is too late or not allowed. The
 * row records the first try before it begins, so that no other is taken for it, and that there is another one, after
 * which no refusal counts, whatever becomes of this process and of what it returns. Throws, to be retried, when it is
 * unknown whether the operator accepted it: the reference makes that harmless.
 * Throws `ApprovalMissing`, and shows a person, when the row says that it was released and we did not record that.
 * In a local activity it does nothing, and says `busy`, while twenty others wait for their operator.
 */
export function createSend(deps: SendDeps, kinds: PaymentKinds): (ref: PaymentRef) => Promise<SendResult> {
  let inWorkflowTasks = 0;
  return async (ref) => {
    if (!isInLocalActivity()) return send(ref, deps, kinds);
    if (inWorkflowTasks >= MOST_IN_WORKFLOW_TASKS) return { kind: 'busy' };
    inWorkflowTasks += 1;
    try {
      return await send(ref, deps, kinds);
    } finally {
      inWorkflowTasks -= 1;
    }
  };
}

async function send(ref: PaymentRef, deps: SendDeps, kinds: PaymentKinds): Promise<SendResult> {
  const { db, operators, attestor, exchangeRecorder } = deps;
  const begun = await kinds.beginFirstSend(ref, new Date());
  const payment = begun ?? (await withFailures(() => kinds.load(ref)));
  if (!payment.maySend(new Date())) return { kind: 'not_sent' };
  if (payment.isReleaseUnattested) {
    await kinds.holdUnattested(ref, new Date());
    throw ApplicationFailure.nonRetryable(`this service did not record the release of ${ref.id}`, 'ApprovalMissing');
  }
  const isFirstTry = begun !== null || (!payment.isSendBegun && (await markSendBegun(db, ref, new Date())));
  const mayBegin = isFirstTry || (payment.isSendBegun && (await markSendRepeated(db, ref, new Date())));
  // This process may have been stopped in between, and a call after the deadline would come after what was decided.
  if (!mayBegin || !payment.maySend(new Date())) return { kind: 'not_sent' };
  const query: PendingQuery = { id: ref.id, queriedAtMs: Date.now() };
  const { outcome, made } = await makeExchange(deps, { ref, ...payment }, 'send', () =>
    payment.send(operators[payment.operator]),
  );
  const isRecordedAlone = ref.kind !== 'collection' || outcome.kind === 'unknown';
  if (isRecordedAlone) await recordExchange(deps, ref, made);
  // After a try of unknown outcome a refusal says nothing about that try, so the operator is queried.
  const result = attestor.attestSend(query, outcome, isFirstTry);
  return isRecordedAlone ? result : exchangeRecorder.ofSend(ref, result, made);
}
