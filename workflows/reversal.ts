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
  reversalFactToRecord,
  type ReversalFact,
  type ReversalStanding,
} from '../src/domain/payments/reversal-progress.ts';
import type { Heard } from '../src/domain/payments/operator-status.ts';
import { OPERATOR_CALLED_BACK, type ReversalWorkflowInput } from './contract.ts';
import { askingOperator, OWN_TRANSACTION, sendingMoney } from './policies.ts';
import { orNull, taken, unheard, untilSettled, type Knocks, type Settling } from './await-outcome.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { loadReversalStanding, recordReversalFact } = proxyLocalActivities<ReversalActivities>(OWN_TRANSACTION);
const { noteSendBegun } = proxyLocalActivities<SendingActivities>(OWN_TRANSACTION);

/** Ends when the refund is confirmed or refused. The row is the truth, and one that has ended is asked about, as for payouts. */
export async function reversalWorkflow(input: ReversalWorkflowInput): Promise<ReversalState> {
  const knocks: Knocks = { decisions: 0, callbacks: 0 };
  setHandler(operatorCalledBack, () => {
    knocks.callbacks += 1;
  });
  const { reversalId, merchantId } = input;
  let standing = await loadReversalStanding.executeWithOptions({ summary: 'what is recorded' }, [
    { reversalId, merchantId },
  ]);
  if (standing.state === 'requested') standing = await send(input, standing);
  standing = await untilSettled(standing, settling(input), knocks);
  setCurrentDetails(`Settled: ${standing.state}.`);
  return standing.state;
}

async function send(input: ReversalWorkflowInput, standing: ReversalStanding): Promise<ReversalStanding> {
  setCurrentDetails('Asking the operator for the refund: see the pending activity.');
  const { refundWithOperator } = proxyActivities<ReversalActivities>(sendingMoney(input.timings));
  const { reversalId, merchantId } = input;
  const isFirstSend = await noteSendBegun.executeWithOptions({ summary: 'a send begins' }, [sentOf(input)]);
  const sending = refundWithOperator.executeWithOptions({ summary: `ask ${input.operator} for the refund` }, [
    { reversalId, merchantId, isFirstSend },
  ]);
  const result = await orNull(sending);
  // Tries ran out: the operator may have taken one of them.
  if (result === null) return record(input, { fact: 'outcome_unknown' }, null);
  if (result.kind === 'taken') return taken(standing, sentOf(input));
  if (result.kind === 'not_sent') return standing;
  const { heard } = result;
  const fact = reversalFactToRecord(standing, heard.word, heard.askedAtMs, input.timings.notFoundGraceMs);
  return fact === null ? standing : record(input, fact, heard);
}

function settling(input: ReversalWorkflowInput): Settling<ReversalStanding, ReversalFact> {
  return {
    sent: sentOf(input),
    timings: input.timings,
    isFresh: ({ state }) => state === 'requested',
    isOverdue: ({ state }) => state === 'reconciling',
    announce(_standing, nextAskAt) {
      setCurrentDetails(`Waiting for the **operator** to confirm the refund. Asked next at ${nextAskAt}.`);
    },
    ask: () => askOperator(input),
    factOf: (standing, { word, askedAtMs }) =>
      reversalFactToRecord(standing, word, askedAtMs, input.timings.notFoundGraceMs),
    record: (fact, heard) => record(input, fact, heard),
    continueAsNew: () => continueAsNew<typeof reversalWorkflow>(input),
  };
}

function sentOf({ reversalId: id, merchantId }: ReversalWorkflowInput): SentMoney {
  return { table: 'reversals', id, merchantId };
}

async function askOperator({ timings, operator, reversalId, merchantId }: ReversalWorkflowInput): Promise<Heard> {
  const { getRefundStatusWithOperator } = proxyActivities<ReversalActivities>(askingOperator(timings));
  const asking = getRefundStatusWithOperator.executeWithOptions({ summary: `ask ${operator} about the refund` }, [
    { reversalId, merchantId },
  ]);
  return (await orNull(asking)) ?? unheard();
}

function record(
  { reversalId, merchantId }: ReversalWorkflowInput,
  fact: ReversalFact,
  heard: Heard | null,
): Promise<ReversalStanding> {
  const summary = `record ${fact.fact}`;
  return recordReversalFact.executeWithOptions({ summary }, [{ reversalId, merchantId, fact, heard }]);
}
