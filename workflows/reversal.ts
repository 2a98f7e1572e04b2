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
import type { ReversalState } from '../src/domain/reversal.ts';
import {
  reversalFactToRecord,
  type RefundWord,
  type ReversalFact,
  type ReversalStanding,
} from '../src/domain/reversal-progress.ts';
import { OPERATOR_CALLED_BACK, type ReversalWorkflowInput } from './contract.ts';
import { askingOperator, OWN_TRANSACTION, sendingMoney } from './policies.ts';
import { orNull, untilSettled, type Knocks } from './settling.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { loadReversalStanding, noteRefundSendBegun, noteRefundTaken, recordReversalFact } =
  proxyLocalActivities<ReversalActivities>(OWN_TRANSACTION);

/** Ends when the refund is confirmed or refused. The row is the truth, as for payouts. */
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
  standing = await untilSettled(standing, sentMoney(input), knocks);
  setCurrentDetails(`Settled: ${standing.state}.`);
  return standing.state;
}

async function send(input: ReversalWorkflowInput, standing: ReversalStanding): Promise<ReversalStanding> {
  setCurrentDetails('Asking the operator for the refund: see the pending activity.');
  const { refundWithOperator } = proxyActivities<ReversalActivities>(sendingMoney(input.timings));
  const { reversalId, merchantId } = input;
  const isFirstSend = await noteRefundSendBegun.executeWithOptions({ summary: 'a send begins' }, [
    { reversalId, merchantId },
  ]);
  const sending = refundWithOperator.executeWithOptions({ summary: `ask ${input.operator} for the refund` }, [
    { reversalId, merchantId, isFirstSend },
  ]);
  const result = await orNull(sending);
  // Tries ran out: the operator may have taken one of them.
  if (result === null) return record(input, { fact: 'outcome_unknown' });
  if (result.kind === 'taken') return noteTaken(input);
  return result.kind === 'refused' ? record(input, { fact: 'declined', failureCode: result.failureCode }) : standing;
}

function sentMoney(input: ReversalWorkflowInput) {
  return {
    timings: input.timings,
    isFresh: ({ state }: ReversalStanding) => state === 'requested',
    isOverdue: ({ state }: ReversalStanding) => state === 'reconciling',
    isReversible: () => false,
    overdueAtMs: ({ sendDeadlineAtMs }: ReversalStanding) => sendDeadlineAtMs,
    announce: (_standing: ReversalStanding, nextAskAt: string) => {
      setCurrentDetails(`Waiting for the **operator** to confirm the refund. Asked next at ${nextAskAt}.`);
    },
    ask: () => askOperator(input),
    apply: (standing: ReversalStanding, word: RefundWord) => applyWord(standing, word, input),
    continueAsNew: () => continueAsNew<typeof reversalWorkflow>(input),
  };
}

async function applyWord(
  standing: ReversalStanding,
  word: RefundWord,
  input: ReversalWorkflowInput,
): Promise<ReversalStanding> {
  const known = word.kind === 'pending' && !standing.isTaken ? await noteTaken(input) : standing;
  const fact = reversalFactToRecord(known, word, Date.now(), input.timings.notFoundGraceMs);
  return fact === null ? known : record(input, fact);
}

function noteTaken({ reversalId, merchantId }: ReversalWorkflowInput): Promise<ReversalStanding> {
  return noteRefundTaken.executeWithOptions({ summary: 'the operator has it' }, [{ reversalId, merchantId }]);
}

async function askOperator({ timings, operator, reversalId, merchantId }: ReversalWorkflowInput): Promise<RefundWord> {
  const { getRefundStatusWithOperator } = proxyActivities<ReversalActivities>(askingOperator(timings));
  const asking = getRefundStatusWithOperator.executeWithOptions({ summary: `ask ${operator} about the refund` }, [
    { reversalId, merchantId },
  ]);
  return (await orNull(asking)) ?? { kind: 'unknown' };
}

function record({ reversalId, merchantId }: ReversalWorkflowInput, fact: ReversalFact): Promise<ReversalStanding> {
  return recordReversalFact.executeWithOptions({ summary: `record ${fact.fact}` }, [{ reversalId, merchantId, fact }]);
}
