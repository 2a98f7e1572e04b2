// One payout from recorded to settled: wait for people to decide, send it, wait for the operator's word, record it.
import {
  ActivityFailure,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
  allHandlersFinished,
} from '@temporalio/workflow';
import type { PayoutActivities } from '../activities/payout.ts';
import type { SendResult } from '../activities/sending.ts';
import type { PayoutState } from '../src/domain/payout.ts';
import {
  payoutFactToRecord,
  type PayoutStanding,
  type PayoutWord,
  type RecordablePayoutFact,
} from '../src/domain/payout-progress.ts';
import {
  OPERATOR_CALLED_BACK,
  PAYOUT_DECISION_RECORDED,
  SEARCH_ATTRIBUTES,
  type PayoutWorkflowInput,
} from './contract.ts';
import { askingOperator, OWN_TRANSACTION, QUICK_QUESTION, sendingMoney } from './policies.ts';
import { askUntilAnswered, orNull, untilSettled, type Knocks } from './settling.ts';

const decisionRecorded = defineSignal(PAYOUT_DECISION_RECORDED);
const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { loadPayoutStanding, notePayoutSendBegun, notePayoutTaken, recordPayoutFact } =
  proxyLocalActivities<PayoutActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<PayoutActivities>(QUICK_QUESTION);

/**
 * Ends when the payout is settled, with the state it settled in. The row is the truth: a run that is lost and started
 * again goes on from the state it finds. A run for a payout that was paid asks once whether it was returned.
 */
export async function payoutWorkflow(input: PayoutWorkflowInput): Promise<PayoutState> {
  const knocks: Knocks = { decisions: 0, callbacks: 0 };
  setHandler(decisionRecorded, () => {
    knocks.decisions += 1;
  });
  setHandler(operatorCalledBack, () => {
    knocks.callbacks += 1;
  });
  let standing = await untilDecided(input, knocks);
  if (standing.state === 'succeeded') {
    const word = await askUntilAnswered(() => askOperator(input), input.timings.reconcileScheduleMs);
    standing = await applyWord(standing, word, input);
  }
  if (standing.state === 'released') standing = await send(input, standing);
  standing = await untilSettled(standing, sentMoney(input), knocks);
  setCurrentDetails(`Settled: ${standing.state}.`);
  return standing.state;
}

async function untilDecided(input: PayoutWorkflowInput, knocks: Knocks): Promise<PayoutStanding> {
  let standing = await load(input);
  while (standing.state === 'queued') {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof payoutWorkflow>(input);
    }
    const seen = knocks.decisions;
    const waitMs = standing.expiresAtMs - Date.now();
    if (waitMs <= 0) {
      standing = await record(input, { fact: 'lapsed' });
      // The clock of whoever records decides, and it may be a little behind.
      if (standing.state === 'queued') await sleep(input.timings.minimumAskGapMs);
      continue;
    }
    setCurrentDetails(describeQueue(standing));
    await condition(() => knocks.decisions > seen, waitMs);
    standing = await load(input);
  }
  return standing;
}

async function send(input: PayoutWorkflowInput, standing: PayoutStanding): Promise<PayoutStanding> {
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitsFor, value: 'operator' }]);
  setCurrentDetails('Released. Sending it to the operator: see the pending activity.');
  const { sendPayoutWithOperator } = proxyActivities<PayoutActivities>(sendingMoney(input.timings));
  const { payoutId, merchantId } = input;
  const isFirstSend = await notePayoutSendBegun.executeWithOptions({ summary: 'a send begins' }, [
    { payoutId, merchantId },
  ]);
  let result: SendResult;
  try {
    result = await sendPayoutWithOperator.executeWithOptions({ summary: `send the payout to ${input.operator}` }, [
      { payoutId, merchantId, isFirstSend },
    ]);
  } catch (error) {
    if (isCancellation(error) || isApprovalMissing(error) || !(error instanceof ActivityFailure)) throw error;
    // Tries ran out: the operator may have taken one of them. The money stays held until it says so.
    return record(input, { fact: 'outcome_unknown' });
  }
  if (result.kind === 'taken') return noteTaken(input);
  return result.kind === 'refused' ? record(input, { fact: 'declined', failureCode: result.failureCode }) : standing;
}

// No outcome to wait for: the workflow fails, red in the Temporal UI, and somebody looks.
function isApprovalMissing(error: unknown): boolean {
  return error instanceof ActivityFailure && isOfType(error.cause, 'ApprovalMissing');
}

function isOfType(error: unknown, type: string): boolean {
  return error instanceof Error && 'type' in error && error.type === type;
}

function sentMoney(input: PayoutWorkflowInput) {
  return {
    timings: input.timings,
    isFresh: ({ state }: PayoutStanding) => state === 'released',
    isOverdue: ({ state }: PayoutStanding) => state === 'reconciling',
    isReversible: ({ state }: PayoutStanding) => state === 'succeeded',
    overdueAtMs: ({ sendDeadlineAtMs }: PayoutStanding) => sendDeadlineAtMs ?? 0,
    announce: (standing: PayoutStanding, nextAskAt: string) => {
      setCurrentDetails(describeWait(standing, nextAskAt));
    },
    ask: async (isCalledBack: boolean) => (isCalledBack ? await askQuickly(input) : null) ?? (await askOperator(input)),
    apply: (standing: PayoutStanding, word: PayoutWord) => applyWord(standing, word, input),
    continueAsNew: () => continueAsNew<typeof payoutWorkflow>(input),
  };
}

/** Records all that follows from the operator's word: a payout that was paid and returned takes two steps. */
async function applyWord(from: PayoutStanding, word: PayoutWord, input: PayoutWorkflowInput): Promise<PayoutStanding> {
  // That it is under way there means that it has it, whatever our send was answered.
  let standing = word.kind === 'pending' && !from.isTaken ? await noteTaken(input) : from;
  for (;;) {
    const fact = payoutFactToRecord(standing, word, Date.now(), input.timings.notFoundGraceMs);
    if (fact === null) return standing;
    const next = await record(input, fact);
    if (next.state === standing.state) return next;
    standing = next;
  }
}

function noteTaken({ payoutId, merchantId }: PayoutWorkflowInput): Promise<PayoutStanding> {
  return notePayoutTaken.executeWithOptions({ summary: 'the operator has it' }, [{ payoutId, merchantId }]);
}

function load({ payoutId, merchantId }: PayoutWorkflowInput): Promise<PayoutStanding> {
  return loadPayoutStanding.executeWithOptions({ summary: 'what is recorded' }, [{ payoutId, merchantId }]);
}

function record({ payoutId, merchantId }: PayoutWorkflowInput, fact: RecordablePayoutFact): Promise<PayoutStanding> {
  return recordPayoutFact.executeWithOptions({ summary: `record ${fact.fact}` }, [{ payoutId, merchantId, fact }]);
}

async function askOperator({ timings, operator, payoutId, merchantId }: PayoutWorkflowInput): Promise<PayoutWord> {
  const { getPayoutStatusWithOperator } = proxyActivities<PayoutActivities>(askingOperator(timings));
  const asking = getPayoutStatusWithOperator.executeWithOptions({ summary: `ask ${operator} for the status` }, [
    { payoutId, merchantId },
  ]);
  return (await orNull(asking)) ?? { kind: 'unknown' };
}

/** As for collections: within the workflow task, since after a callback the answer is nearly always at hand. */
async function askQuickly({ operator, payoutId, merchantId }: PayoutWorkflowInput): Promise<PayoutWord | null> {
  const asking = quick.getPayoutStatusWithOperator.executeWithOptions(
    { summary: `ask ${operator} for the status, as it called back` },
    [{ payoutId, merchantId }],
  );
  const word = await orNull(asking);
  return word?.kind === 'unknown' ? null : word;
}

function describeQueue({ approvals, approvalsRequired, expiresAtMs }: PayoutStanding): string {
  const until = new Date(expiresAtMs).toISOString();
  return (
    `Waiting for an **approver** other than its maker to release it: ${approvals} of ${approvalsRequired} have.\n\n` +
    `It expires at ${until}, and its money is given back then. A signal moves nothing: what is recorded counts.`
  );
}

function describeWait({ state }: PayoutStanding, nextAskAt: string): string {
  const what =
    state === 'released'
      ? 'Sent. Waiting for the **operator** to say how it ended.'
      : 'Waiting for the **operator**: the outcome is overdue and not known. The money stays held.';
  return `${what}\n\nAsked next at ${nextAskAt}, or as soon as it calls back.`;
}
