// One reversal that an approver asked for: send the refund, wait for the operator's word, record it.
import {
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { ReversalActivities } from '../activities/reversal.ts';
import type { SendingActivities, SentMoney } from '../activities/sending.ts';
import type { ReversalState } from '../src/domain/payments/reversal.ts';
import {
  nextReversalTransition,
  type ReversalTransitionInput,
  type ReversalSnapshot,
} from '../src/domain/payments/reversal-progress.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import { OPERATOR_CALLED_BACK, type ReversalWorkflowInput } from './contract.ts';
import { queryingOperator, OWN_TRANSACTION, sendingMoney } from './policies.ts';
import { orNull, recordAccepted, noStatus, untilSettled, type PendingSignals, type Settling } from './await-outcome.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { loadReversalSnapshot, recordReversalTransition } = proxyLocalActivities<ReversalActivities>(OWN_TRANSACTION);
const { markSendBegun } = proxyLocalActivities<SendingActivities>(OWN_TRANSACTION);

/** Ends when the refund is confirmed or refused. The row is the truth, and one that has ended is asked about, as for payouts. */
export async function reversalWorkflow(input: ReversalWorkflowInput): Promise<ReversalState> {
  const pending: PendingSignals = { decisions: 0, callbacks: 0 };
  setHandler(operatorCalledBack, () => {
    pending.callbacks += 1;
  });
  const { reversalId, merchantId } = input;
  let snapshot = await loadReversalSnapshot.executeWithOptions({ summary: 'what is recorded' }, [
    { reversalId, merchantId },
  ]);
  if (snapshot.state === 'requested') snapshot = await send(input, snapshot);
  snapshot = await untilSettled(snapshot, settling(input), pending);
  setCurrentDetails(`Settled: ${snapshot.state}.`);
  return snapshot.state;
}

async function send(input: ReversalWorkflowInput, snapshot: ReversalSnapshot): Promise<ReversalSnapshot> {
  setCurrentDetails('Asking the operator for the refund: see the pending activity.');
  const { refundWithOperator } = proxyActivities<ReversalActivities>(sendingMoney(input.timings));
  const { reversalId, merchantId } = input;
  const isFirstSend = await markSendBegun.executeWithOptions({ summary: 'a send begins' }, [sentOf(input)]);
  const sending = refundWithOperator.executeWithOptions({ summary: `ask ${input.operator} for the refund` }, [
    { reversalId, merchantId, isFirstSend },
  ]);
  const result = await orNull(sending);
  // Tries ran out: the operator may have taken one of them.
  if (result === null) return record(input, { kind: 'outcome_unknown' }, null);
  if (result.kind === 'accepted') return recordAccepted(snapshot, sentOf(input));
  if (result.kind === 'not_sent') return snapshot;
  const { attested } = result;
  const transition = nextReversalTransition(
    snapshot,
    attested.status,
    attested.queriedAtMs,
    input.timings.notFoundGraceMs,
  );
  return transition === null ? snapshot : record(input, transition, attested);
}

function settling(input: ReversalWorkflowInput): Settling<ReversalSnapshot, ReversalTransitionInput> {
  return {
    sent: sentOf(input),
    timings: input.timings,
    isFresh: ({ state }) => state === 'requested',
    isOverdue: ({ state }) => state === 'reconciling',
    announce(_snapshot, nextQueryAt) {
      setCurrentDetails(`Waiting for the **operator** to confirm the refund. Asked next at ${nextQueryAt}.`);
    },
    ask: () => queryOperator(input),
    transitionFor: (snapshot, { status, queriedAtMs }) =>
      nextReversalTransition(snapshot, status, queriedAtMs, input.timings.notFoundGraceMs),
    record: (transition, attested) => record(input, transition, attested),
    continueAsNew: () => continueAsNew<typeof reversalWorkflow>(input),
  };
}

function sentOf({ reversalId: id, merchantId }: ReversalWorkflowInput): SentMoney {
  return { table: 'reversals', id, merchantId };
}

async function queryOperator({
  timings,
  operator,
  reversalId,
  merchantId,
}: ReversalWorkflowInput): Promise<AttestedStatus> {
  const { getRefundStatusWithOperator } = proxyActivities<ReversalActivities>(queryingOperator(timings));
  const query = getRefundStatusWithOperator.executeWithOptions({ summary: `ask ${operator} about the refund` }, [
    { reversalId, merchantId },
  ]);
  return (await orNull(query)) ?? noStatus();
}

function record(
  { reversalId, merchantId }: ReversalWorkflowInput,
  transition: ReversalTransitionInput,
  attested: AttestedStatus | null,
): Promise<ReversalSnapshot> {
  const summary = `record ${transition.kind}`;
  return recordReversalTransition.executeWithOptions({ summary }, [{ reversalId, merchantId, transition, attested }]);
}
