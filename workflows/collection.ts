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
  factToRecord,
  isSettled,
  type RecordableFact,
  type Standing,
} from '../src/domain/payments/collection-progress.ts';
import type { Heard } from '../src/domain/payments/operator-status.ts';
import { OPERATOR_CALLED_BACK, SEARCH_ATTRIBUTES, type CollectionWorkflowInput } from './contract.ts';
import { askingOperator, OWN_TRANSACTION, QUICK_QUESTION, raisingPrompt } from './policies.ts';
import {
  askUntilAnswered,
  hasEnded,
  lookAgainUnlessAnswered,
  noteContradiction,
  orNull,
  unheard,
} from './await-outcome.ts';

const operatorCalledBack = defineSignal(OPERATOR_CALLED_BACK);
const { recordCollectionFact } = proxyLocalActivities<CollectionActivities>(OWN_TRANSACTION);
const quick = proxyLocalActivities<CollectionActivities>(QUICK_QUESTION);

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
  let standing = await standingAfter(prompt, input);
  // A payment of an expired one may be late: one question tells, and the sweep asks again. What was paid may have been
  // returned, and what failed may have been paid: about these nobody asks but whoever was called back.
  if (standing.state === 'expired') return (await applyHeard(standing, await askOperator(input), input)).state;
  if (hasEnded(standing) && prompt?.kind !== 'refused') {
    const heard = await askUntilAnswered(() => askOperator(input), timings.reconcileScheduleMs);
    return (await applyHeard(standing, heard, input)).state;
  }

  let lastAskAtMs: number | null = null;
  // Questions in the present state: each state's schedule begins with its first step.
  let asked = 0;
  while (!isSettled(standing.state)) {
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof collectionWorkflow>(input);
    }
    // Still `initiated` here means that the deadline passed before a prompt was raised: that is asked at once.
    if (standing.state !== 'initiated') {
      const waitMs = nextWaitMs(standing, asked, input);
      setCurrentDetails(describeWait(standing, asked, waitMs));
      // The timer that loses the race is left to run out: to cancel it costs more than to let it ring unheard.
      await Promise.race([
        sleep(waitMs, { summary: 'until the next question' }),
        condition(() => callbacks.received > callbacks.answered),
      ]);
      const gapMs = lastAskAtMs === null ? 0 : lastAskAtMs + timings.minimumAskGapMs - Date.now();
      if (gapMs > 0) await sleep(gapMs, { summary: 'callbacks come fast: a gap between questions' });
    }
    const isCalledBack = callbacks.received > callbacks.answered;
    callbacks.answered = callbacks.received;
    const heard = (isCalledBack ? await askQuickly(input) : null) ?? (await askOperator(input));
    lastAskAtMs = Date.now();
    const { state } = standing;
    standing = await applyHeard(standing, heard, input);
    asked = standing.state === state ? asked + 1 : 0;
  }
  // One that came while the outcome was being recorded may speak of what followed it.
  if (hasEnded(standing) && callbacks.received > callbacks.answered) {
    standing = await applyHeard(standing, await askOperator(input), input);
  }
  setCurrentDetails(`Settled: ${standing.state}.`);
  return standing.state;
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

async function standingAfter(result: PromptResult | null, input: CollectionWorkflowInput): Promise<Standing> {
  if (result === null) return record(input, { fact: 'outcome_unknown' }, null);
  switch (result.kind) {
    case 'taken':
      return record(input, { fact: 'prompt_taken' }, null);
    case 'refused':
      return recordRefusal(input, result.heard);
    case 'not_raised':
      return result.standing;
  }
}

async function recordRefusal(input: CollectionWorkflowInput, heard: Heard): Promise<Standing> {
  const { word } = heard;
  const fact: RecordableFact =
    word.kind === 'declined' ? { fact: 'declined', failureCode: word.failureCode } : { fact: 'outcome_unknown' };
  return record(input, fact, heard);
}

async function askOperator({ timings, operator, collectionId, merchantId }: CollectionWorkflowInput): Promise<Heard> {
  const { getStatusWithOperator } = proxyActivities<CollectionActivities>(askingOperator(timings));
  const asking = getStatusWithOperator.executeWithOptions({ summary: `ask ${operator} for the status` }, [
    { collectionId, merchantId },
  ]);
  return (await orNull(asking)) ?? unheard();
}

/**
 * After a callback the operator nearly always has its answer at hand: asked within the workflow task, that costs no
 * further round through the engine. Null when it did not answer so: then it is asked in the way that shows its retries.
 */
async function askQuickly({ operator, collectionId, merchantId }: CollectionWorkflowInput): Promise<Heard | null> {
  const asking = quick.getStatusWithOperator.executeWithOptions(
    { summary: `ask ${operator} for the status, as it called back` },
    [{ collectionId, merchantId }],
  );
  const heard = await orNull(asking);
  return heard?.word.kind === 'unknown' ? null : heard;
}

/** Records all that follows from the operator's word: a payment whose prompt was never recorded takes two steps. */
async function applyHeard(before: Standing, heard: Heard, input: CollectionWorkflowInput): Promise<Standing> {
  const payment: EndedPayment = { table: 'collections', id: input.collectionId, merchantId: input.merchantId };
  let standing = before;
  for (;;) {
    await noteContradiction(standing, heard, payment);
    const fact = factToRecord(standing, heard.word, Date.now(), input.timings);
    if (fact === null) break;
    const next = await record(input, fact, heard);
    const isMoved = next.state !== standing.state;
    standing = next;
    if (!isMoved) break;
  }
  await lookAgainUnlessAnswered(standing, heard, payment);
  return standing;
}

async function record(input: CollectionWorkflowInput, fact: RecordableFact, heard: Heard | null): Promise<Standing> {
  const { collectionId, merchantId } = input;
  const standing = await recordCollectionFact.executeWithOptions({ summary: `record ${fact.fact}` }, [
    { collectionId, merchantId, fact, heard },
  ]);
  if (fact.fact === 'outcome_unknown') {
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitsFor, value: 'operator' }]);
  }
  return standing;
}

function nextWaitMs(standing: Standing, asked: number, { timings }: CollectionWorkflowInput): number {
  const schedule = standing.state === 'prompted' ? timings.pollScheduleMs : timings.reconcileScheduleMs;
  const stepMs = schedule[Math.min(asked, schedule.length - 1)] ?? timings.minimumAskGapMs;
  if (standing.state !== 'prompted' || standing.promptExpiresAtMs === null) return stepMs;
  // The end of the prompt window is a moment to ask, not to sleep through.
  return Math.min(stepMs, Math.max(1, standing.promptExpiresAtMs - Date.now()));
}

function describeWait(standing: Standing, asked: number, waitMs: number): string {
  const next = new Date(Date.now() + waitMs).toISOString();
  const until = standing.promptExpiresAtMs === null ? 'unknown' : new Date(standing.promptExpiresAtMs).toISOString();
  const who =
    standing.state === 'prompted'
      ? `Waiting for the **payer** to answer the prompt, which runs out at ${until}.`
      : `Waiting for the **operator**: the outcome is overdue and not known. The prompt ran out at ${until}.`;
  return `${who}\n\nAsked the operator ${asked} times since; next at ${next}, or as soon as it calls back.`;
}
