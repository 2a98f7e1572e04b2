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
  nextPayoutTransition,
  type PayoutSnapshot,
  type PayoutOutcomeInput,
} from '../src/domain/payments/payout-progress.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import {
  OPERATOR_CALLED_BACK,
  PAYOUT_DECISION_RECORDED,
  SEARCH_ATTRIBUTES,
  type PayoutWorkflowInput,
} from './contract.ts';
import { queryingOperator, OWN_TRANSACTION, QUICK_STATUS_QUERY, sendingMoney } from './policies.ts';
import { orNull, recordAccepted, noStatus, untilSettled, type PendingSignals, type Settling } from './await-outcome.ts';

const decisionRecorded = defineSignal(PAYOUT_DECISION_RECORDED);
const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { loadPayoutSnapshot, recordPayoutTransition } = proxyLocalActivities<PayoutActivities>(OWN_TRANSACTION);
const { markSendBegun } = proxyLocalActivities<SendingActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<PayoutActivities>(QUICK_STATUS_QUERY);

/**
 * Ends when the payout is settled, with the state it settled in. The row is the truth: a run that is lost and started
 * again goes on from the state it finds. A run for a payout that has ended asks once whether that is still so.
 */
export async function payoutWorkflow(input: PayoutWorkflowInput): Promise<PayoutState> {
  const pending: PendingSignals = { decisions: 0, callbacks: 0 };
  setHandler(decisionRecorded, () => {
    pending.decisions += 1;
  });
  setHandler(operatorCalledBack, () => {
    pending.callbacks += 1;
  });
  let snapshot = await untilDecided(input, pending);
  if (snapshot.state === 'released') snapshot = await send(input, snapshot);
  snapshot = await untilSettled(snapshot, settling(input), pending);
  setCurrentDetails(`Settled: ${snapshot.state}.`);
  return snapshot.state;
}

async function untilDecided(input: PayoutWorkflowInput, pending: PendingSignals): Promise<PayoutSnapshot> {
  let snapshot = await load(input);
  while (snapshot.state === 'queued') {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof payoutWorkflow>(input);
    }
    const seen = pending.decisions;
    const waitMs = snapshot.expiresAtMs - Date.now();
    if (waitMs <= 0) {
      snapshot = await record(input, { kind: 'approval_expired' }, null);
      // The clock of whoever records decides, and it may be a little behind.
      if (snapshot.state === 'queued') await sleep(input.timings.minimumQueryGapMs);
      continue;
    }
    setCurrentDetails(describeQueue(snapshot));
    await condition(() => pending.decisions > seen, waitMs);
    snapshot = await load(input);
  }
  return snapshot;
}

async function send(input: PayoutWorkflowInput, snapshot: PayoutSnapshot): Promise<PayoutSnapshot> {
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitsFor, value: 'operator' }]);
  setCurrentDetails('Released. Sending it to the operator: see the pending activity.');
  const { sendPayoutWithOperator } = proxyActivities<PayoutActivities>(sendingMoney(input.timings));
  const { payoutId, merchantId } = input;
  const isFirstSend = await markSendBegun.executeWithOptions({ summary: 'a send begins' }, [sentOf(input)]);
  let result: SendResult;
  try {
    result = await sendPayoutWithOperator.executeWithOptions({ summary: `send the payout to ${input.operator}` }, [
      { payoutId, merchantId, isFirstSend },
    ]);
  } catch (error) {
    if (isCancellation(error) || isApprovalMissing(error) || !(error instanceof ActivityFailure)) throw error;
    // Tries ran out: the operator may have taken one of them. The money stays held until it says so.
    return record(input, { kind: 'outcome_unknown' }, null);
  }
  if (result.kind === 'accepted') return recordAccepted(snapshot, sentOf(input));
  if (result.kind === 'not_sent') return snapshot;
  const { attested } = result;
  const transition = nextPayoutTransition(
    snapshot,
    attested.status,
    attested.queriedAtMs,
    input.timings.notFoundGraceMs,
  );
  return transition === null ? snapshot : record(input, transition, attested);
}

// No outcome to wait for: the workflow fails, red in the Temporal UI, and somebody looks.
function isApprovalMissing(error: unknown): boolean {
  return error instanceof ActivityFailure && isOfType(error.cause, 'ApprovalMissing');
}

function isOfType(error: unknown, type: string): boolean {
  return error instanceof Error && 'type' in error && error.type === type;
}

function settling(input: PayoutWorkflowInput): Settling<PayoutSnapshot, PayoutOutcomeInput> {
  return {
    sent: sentOf(input),
    timings: input.timings,
    isFresh: ({ state }) => state === 'released',
    isOverdue: ({ state }) => state === 'reconciling',
    announce(snapshot, nextQueryAt) {
      setCurrentDetails(describeWait(snapshot, nextQueryAt));
    },
    ask: async (isCalledBack) =>
      (isCalledBack ? await queryOperatorQuickly(input) : null) ?? (await queryOperator(input)),
    transitionFor: (snapshot, { status, queriedAtMs }) =>
      nextPayoutTransition(snapshot, status, queriedAtMs, input.timings.notFoundGraceMs),
    record: (transition, attested) => record(input, transition, attested),
    continueAsNew: () => continueAsNew<typeof payoutWorkflow>(input),
  };
}

function sentOf({ payoutId: id, merchantId }: PayoutWorkflowInput): SentMoney {
  return { table: 'payouts', id, merchantId };
}

function load({ payoutId, merchantId }: PayoutWorkflowInput): Promise<PayoutSnapshot> {
  return loadPayoutSnapshot.executeWithOptions({ summary: 'what is recorded' }, [{ payoutId, merchantId }]);
}

function record(
  { payoutId, merchantId }: PayoutWorkflowInput,
  transition: PayoutOutcomeInput,
  attested: AttestedStatus | null,
): Promise<PayoutSnapshot> {
  const summary = `record ${transition.kind}`;
  return recordPayoutTransition.executeWithOptions({ summary }, [{ payoutId, merchantId, transition, attested }]);
}

async function queryOperator({
  timings,
  operator,
  payoutId,
  merchantId,
}: PayoutWorkflowInput): Promise<AttestedStatus> {
  const { getPayoutStatusWithOperator } = proxyActivities<PayoutActivities>(queryingOperator(timings));
  const query = getPayoutStatusWithOperator.executeWithOptions({ summary: `ask ${operator} for the status` }, [
    { payoutId, merchantId },
  ]);
  return (await orNull(query)) ?? noStatus();
}

/** As for collections: within the workflow task, since after a callback the answer is nearly always at hand. */
async function queryOperatorQuickly({
  operator,
  payoutId,
  merchantId,
}: PayoutWorkflowInput): Promise<AttestedStatus | null> {
  const query = quick.getPayoutStatusWithOperator.executeWithOptions(
    { summary: `ask ${operator} for the status, as it called back` },
    [{ payoutId, merchantId }],
  );
  const attested = await orNull(query);
  return attested?.status.kind === 'unknown' ? null : attested;
}

function describeQueue({ approvals, approvalsRequired, expiresAtMs }: PayoutSnapshot): string {
  const until = new Date(expiresAtMs).toISOString();
  return (
    `Waiting for an **approver** other than its maker to release it: ${approvals} of ${approvalsRequired} have.\n\n` +
    `It expires at ${until}, and its money is given back then. A signal moves nothing: what is recorded counts.`
  );
}

function describeWait({ state }: PayoutSnapshot, nextQueryAt: string): string {
  const what =
    state === 'released'
      ? 'Sent. Waiting for the **operator** to say how it ended.'
      : 'Waiting for the **operator**: the outcome is overdue and not known. The money stays held.';
  return `${what}\n\nAsked next at ${nextQueryAt}, or as soon as it calls back.`;
}
