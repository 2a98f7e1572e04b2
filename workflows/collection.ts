// One collection from recorded to settled: raise the prompt, wait for the operator's word, record it.
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { CollectionActivities, PromptResult } from '../activities/collection.ts';
import type { EndedPayment } from '../activities/sending.ts';
import type { CollectionState } from '../src/domain/payments/collection.ts';
import {
  nextCollectionTransition,
  isFinal,
  type CollectionTransitionInput,
  type CollectionSnapshot,
} from '../src/domain/payments/collection-progress.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import { OPERATOR_CALLED_BACK, SEARCH_ATTRIBUTES, type CollectionWorkflowInput } from './contract.ts';
import { queryingOperator, OWN_TRANSACTION, QUICK_STATUS_QUERY, raisingPrompt } from './policies.ts';
import {
  queryUntilStatus,
  hasEnded,
  scheduleRecheckWithoutStatus,
  noteContradiction,
  orNull,
  noStatus,
} from './await-outcome.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { recordCollectionTransition } = proxyLocalActivities<CollectionActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<CollectionActivities>(QUICK_STATUS_QUERY);

/**
 * Ends when the collection is settled, with the state it settled in. The row is the truth: a run that is lost and
 * started again goes on from the state it finds, and a run for a settled collection asks once: for an expired one whether
 * it was paid after all, for a paid one whether the money went back, for a failed one whether that is still so.
 */
export async function collectionWorkflow(input: CollectionWorkflowInput): Promise<CollectionState> {
  const { timings } = input;
  const callbacks = { received: 0, answered: 0 };
  setHandler(operatorCalledBack, () => {
    callbacks.received += 1;
  });
  setCurrentDetails('Asking the operator to raise the prompt on the payer’s phone.');
  const prompt = await raisePrompt(input);
  let snapshot = await snapshotAfter(prompt, input);
  // A payment of an expired one may be late: one question tells, and the sweep asks again. What was paid may have been
  // returned, and what failed may have been paid: about these nobody asks but whoever was called back.
  if (snapshot.state === 'expired') return (await applyStatus(snapshot, await queryOperator(input), input)).state;
  if (hasEnded(snapshot) && prompt?.kind !== 'refused') {
    const attested = await queryUntilStatus(() => queryOperator(input), timings.reconcileScheduleMs);
    return (await applyStatus(snapshot, attested, input)).state;
  }

  let lastQueryAtMs: number | null = null;
  // Questions in the present state: each state's schedule begins with its first step.
  let asked = 0;
  while (!isFinal(snapshot.state)) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof collectionWorkflow>(input);
    }
    // Still `initiated` here means that the deadline passed before a prompt was raised: that is asked at once.
    if (snapshot.state !== 'initiated') {
      const waitMs = nextWaitMs(snapshot, asked, input);
      setCurrentDetails(describeWait(snapshot, asked, waitMs));
      // The timer that loses the race is left to run out: to cancel it costs more than to let it ring unheard.
      await Promise.race([
        sleep(waitMs, { summary: 'until the next question' }),
        condition(() => callbacks.received > callbacks.answered),
      ]);
      const gapMs = lastQueryAtMs === null ? 0 : lastQueryAtMs + timings.minimumQueryGapMs - Date.now();
      if (gapMs > 0) await sleep(gapMs, { summary: 'callbacks come fast: a gap between questions' });
    }
    const isCalledBack = callbacks.received > callbacks.answered;
    callbacks.answered = callbacks.received;
    const attested = (isCalledBack ? await queryOperatorQuickly(input) : null) ?? (await queryOperator(input));
    lastQueryAtMs = Date.now();
    const { state } = snapshot;
    snapshot = await applyStatus(snapshot, attested, input);
    asked = snapshot.state === state ? asked + 1 : 0;
  }
  // One that came while the outcome was being recorded may speak of what followed it.
  if (hasEnded(snapshot) && callbacks.received > callbacks.answered) {
    snapshot = await applyStatus(snapshot, await queryOperator(input), input);
  }
  setCurrentDetails(`Settled: ${snapshot.state}.`);
  return snapshot.state;
}

/** Null when tries ran out: the operator may have taken one of them. */
async function raisePrompt({
  timings,
  operator,
  collectionId,
  merchantId,
}: CollectionWorkflowInput): Promise<PromptResult | null> {
  const { raisePromptWithOperator } = proxyActivities<CollectionActivities>(raisingPrompt(timings));
  const raising = raisePromptWithOperator.executeWithOptions({ summary: `raise the prompt at ${operator}` }, [
    { collectionId, merchantId },
  ]);
  return orNull(raising);
}

async function snapshotAfter(result: PromptResult | null, input: CollectionWorkflowInput): Promise<CollectionSnapshot> {
  if (result === null) return record(input, { kind: 'outcome_unknown' }, null);
  switch (result.kind) {
    case 'accepted':
      return record(input, { kind: 'prompt_accepted' }, null);
    case 'refused':
      return recordRefusal(input, result.attested);
    case 'not_raised':
      return result.snapshot;
  }
}

async function recordRefusal(input: CollectionWorkflowInput, attested: AttestedStatus): Promise<CollectionSnapshot> {
  const { status } = attested;
  const transition: CollectionTransitionInput =
    status.kind === 'declined' ? { kind: 'declined', failureCode: status.failureCode } : { kind: 'outcome_unknown' };
  return record(input, transition, attested);
}

async function queryOperator({
  timings,
  operator,
  collectionId,
  merchantId,
}: CollectionWorkflowInput): Promise<AttestedStatus> {
  const { getStatusWithOperator } = proxyActivities<CollectionActivities>(queryingOperator(timings));
  const query = getStatusWithOperator.executeWithOptions({ summary: `ask ${operator} for the status` }, [
    { collectionId, merchantId },
  ]);
  return (await orNull(query)) ?? noStatus();
}

/**
 * After a callback the operator nearly always has its answer at hand: asked within the workflow task, that costs no
 * further round through the engine. Null when it did not answer so: then it is asked in the way that shows its retries.
 */
async function queryOperatorQuickly({
  operator,
  collectionId,
  merchantId,
}: CollectionWorkflowInput): Promise<AttestedStatus | null> {
  const query = quick.getStatusWithOperator.executeWithOptions(
    { summary: `ask ${operator} for the status, as it called back` },
    [{ collectionId, merchantId }],
  );
  const attested = await orNull(query);
  return attested?.status.kind === 'unknown' ? null : attested;
}

/** Records all that follows from the operator's word: a payment whose prompt was never recorded takes two steps. */
async function applyStatus(
  before: CollectionSnapshot,
  attested: AttestedStatus,
  input: CollectionWorkflowInput,
): Promise<CollectionSnapshot> {
  const payment: EndedPayment = { table: 'collections', id: input.collectionId, merchantId: input.merchantId };
  let snapshot = before;
  for (;;) {
    await noteContradiction(snapshot, attested, payment);
    const transition = nextCollectionTransition(snapshot, attested.status, Date.now(), input.timings);
    if (transition === null) break;
    const next = await record(input, transition, attested);
    const isMoved = next.state !== snapshot.state;
    snapshot = next;
    if (!isMoved) break;
  }
  await scheduleRecheckWithoutStatus(snapshot, attested, payment);
  return snapshot;
}

async function record(
  input: CollectionWorkflowInput,
  transition: CollectionTransitionInput,
  attested: AttestedStatus | null,
): Promise<CollectionSnapshot> {
  const { collectionId, merchantId } = input;
  const snapshot = await recordCollectionTransition.executeWithOptions({ summary: `record ${transition.kind}` }, [
    { collectionId, merchantId, transition, attested },
  ]);
  if (transition.kind === 'outcome_unknown') {
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitsFor, value: 'operator' }]);
  }
  return snapshot;
}

function nextWaitMs(snapshot: CollectionSnapshot, asked: number, { timings }: CollectionWorkflowInput): number {
  const schedule = snapshot.state === 'prompted' ? timings.pollScheduleMs : timings.reconcileScheduleMs;
  const stepMs = schedule[Math.min(asked, schedule.length - 1)] ?? timings.minimumQueryGapMs;
  if (snapshot.state !== 'prompted' || snapshot.promptExpiresAtMs === null) return stepMs;
  // The end of the prompt window is a moment to ask, not to sleep through.
  return Math.min(stepMs, Math.max(1, snapshot.promptExpiresAtMs - Date.now()));
}

function describeWait(snapshot: CollectionSnapshot, asked: number, waitMs: number): string {
  const next = new Date(Date.now() + waitMs).toISOString();
  const until = snapshot.promptExpiresAtMs === null ? 'unknown' : new Date(snapshot.promptExpiresAtMs).toISOString();
  const who =
    snapshot.state === 'prompted'
      ? `Waiting for the **payer** to answer the prompt, which runs out at ${until}.`
      : `Waiting for the **operator**: the outcome is overdue and not known. The prompt ran out at ${until}.`;
  return `${who}\n\nAsked the operator ${asked} times since; next at ${next}, or as soon as it calls back.`;
}
