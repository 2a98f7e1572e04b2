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
import type { SendingActivities, SentMoney } from '../activities/sending.ts';
import type { SendResult } from '../activities/attestation.ts';
import type { PayoutState } from '../src/domain/payments/payout.ts';
import {
  payoutFactToRecord,
  type PayoutStanding,
  type RecordablePayoutFact,
} from '../src/domain/payments/payout-progress.ts';
import type { Heard } from '../src/domain/payments/operator-status.ts';
import {
  OPERATOR_CALLED_BACK,
  PAYOUT_DECISION_RECORDED,
  SEARCH_ATTRIBUTES,
  type PayoutWorkflowInput,
} from './contract.ts';
import { askingOperator, OWN_TRANSACTION, QUICK_QUESTION, sendingMoney } from './policies.ts';
import { orNull, taken, unheard, untilSettled, type Knocks, type Settling } from './await-outcome.ts';

const decisionRecorded = defineSignal(PAYOUT_DECISION_RECORDED);
const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { loadPayoutStanding, recordPayoutFact } = proxyLocalActivities<PayoutActivities>(OWN_TRANSACTION);
const { noteSendBegun } = proxyLocalActivities<SendingActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<PayoutActivities>(QUICK_QUESTION);

/**
 * Ends when the payout is settled, with the state it settled in. The row is the truth: a run that is lost and started
 * again goes on from the state it finds. A run for a payout that has ended asks once whether that is still so.
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
  if (standing.state === 'released') standing = await send(input, standing);
  standing = await untilSettled(standing, settling(input), knocks);
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
      standing = await record(input, { fact: 'lapsed' }, null);
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
  const isFirstSend = await noteSendBegun.executeWithOptions({ summary: 'a send begins' }, [sentOf(input)]);
  let result: SendResult;
  try {
    result = await sendPayoutWithOperator.executeWithOptions({ summary: `send the payout to ${input.operator}` }, [
      { payoutId, merchantId, isFirstSend },
    ]);
  } catch (error) {
    if (isCancellation(error) || isApprovalMissing(error) || !(error instanceof ActivityFailure)) throw error;
    // Tries ran out: the operator may have taken one of them. The money stays held until it says so.
    return record(input, { fact: 'outcome_unknown' }, null);
  }
  if (result.kind === 'taken') return taken(standing, sentOf(input));
  if (result.kind === 'not_sent') return standing;
  const { heard } = result;
  const fact = payoutFactToRecord(standing, heard.word, heard.askedAtMs, input.timings.notFoundGraceMs);
  return fact === null ? standing : record(input, fact, heard);
}

// No outcome to wait for: the workflow fails, red in the Temporal UI, and somebody looks.
function isApprovalMissing(error: unknown): boolean {
  return error instanceof ActivityFailure && isOfType(error.cause, 'ApprovalMissing');
}

function isOfType(error: unknown, type: string): boolean {
  return error instanceof Error && 'type' in error && error.type === type;
}

function settling(input: PayoutWorkflowInput): Settling<PayoutStanding, RecordablePayoutFact> {
  return {
    sent: sentOf(input),
    timings: input.timings,
    isFresh: ({ state }) => state === 'released',
    isOverdue: ({ state }) => state === 'reconciling',
    announce(standing, nextAskAt) {
      setCurrentDetails(describeWait(standing, nextAskAt));
    },
    ask: async (isCalledBack) => (isCalledBack ? await askQuickly(input) : null) ?? (await askOperator(input)),
    factOf: (standing, { word, askedAtMs }) =>
      payoutFactToRecord(standing, word, askedAtMs, input.timings.notFoundGraceMs),
    record: (fact, heard) => record(input, fact, heard),
    continueAsNew: () => continueAsNew<typeof payoutWorkflow>(input),
  };
}

function sentOf({ payoutId: id, merchantId }: PayoutWorkflowInput): SentMoney {
  return { table: 'payouts', id, merchantId };
}

function load({ payoutId, merchantId }: PayoutWorkflowInput): Promise<PayoutStanding> {
  return loadPayoutStanding.executeWithOptions({ summary: 'what is recorded' }, [{ payoutId, merchantId }]);
}

function record(
  { payoutId, merchantId }: PayoutWorkflowInput,
  fact: RecordablePayoutFact,
  heard: Heard | null,
): Promise<PayoutStanding> {
  const summary = `record ${fact.fact}`;
  return recordPayoutFact.executeWithOptions({ summary }, [{ payoutId, merchantId, fact, heard }]);
}

async function askOperator({ timings, operator, payoutId, merchantId }: PayoutWorkflowInput): Promise<Heard> {
  const { getPayoutStatusWithOperator } = proxyActivities<PayoutActivities>(askingOperator(timings));
  const asking = getPayoutStatusWithOperator.executeWithOptions({ summary: `ask ${operator} for the status` }, [
    { payoutId, merchantId },
  ]);
  return (await orNull(asking)) ?? unheard();
}

/** As for collections: within the workflow task, since after a callback the answer is nearly always at hand. */
async function askQuickly({ operator, payoutId, merchantId }: PayoutWorkflowInput): Promise<Heard | null> {
  const asking = quick.getPayoutStatusWithOperator.executeWithOptions(
    { summary: `ask ${operator} for the status, as it called back` },
    [{ payoutId, merchantId }],
  );
  const heard = await orNull(asking);
  return heard?.word.kind === 'unknown' ? null : heard;
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
