// What the collection workflow does: ask the operator, record what it said.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import type { Collection } from '../src/domain/collection.ts';
import type { ChangeTimings } from '../src/domain/collection-change.ts';
import type { OperatorWord, RecordableFact, Standing } from '../src/domain/collection-progress.ts';
import type { Environment } from '../src/domain/event.ts';
import type { FailureCode } from '../src/domain/failure.ts';
import type { CollectionId, MerchantId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/operator-catalogue.ts';
import type { Log } from '../src/log.ts';
import { getCollection } from '../src/operations/get-collection.ts';
import { recordCollectionFact } from '../src/operations/record-collection-fact.ts';
import { isPaidAsAsked } from '../src/operators/paid-money.ts';
import type { Operator, StatusOutcome } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';

export type CollectionActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly timings: ChangeTimings;
  readonly log: Log;
};

type CollectionRef = { readonly collectionId: CollectionId; readonly merchantId: MerchantId };

export type PromptResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly failureCode: FailureCode }
  /** It is past being prompted, past its deadline, or in doubt: what follows is asked of the operator. */
  | { readonly kind: 'not_raised'; readonly standing: Standing };

export type CollectionActivities = ReturnType<typeof createCollectionActivities>;

export function createCollectionActivities(deps: CollectionActivityDeps) {
  const { db, operators, environment, timings, log } = deps;

  return {
    /**
     * One call: asks the operator to raise the prompt, unless that was done or is too late. Fails, to be tried again,
     * when it is not known whether the operator took it; the reference makes the repeat harmless.
     */
    async raisePromptWithOperator({ collectionId, merchantId }: CollectionRef): Promise<PromptResult> {
      const collection = await withFailures(() => getCollection(db, merchantId, collectionId));
      if (collection.state !== 'initiated' || collection.promptDeadlineAt <= new Date()) {
        return { kind: 'not_raised', standing: standingOf(collection) };
      }
      const outcome = await operators[collection.operator].raisePrompt({
        operatorReference: collection.operatorReference,
        phone: collection.phone,
        money: collection,
        payerMessage: collection.description ?? collection.reference,
      });
      if (outcome.kind === 'accepted') return { kind: 'taken' };
      if (outcome.kind === 'refused') {
        // After a try whose end is not known, a refusal says nothing of that one: the operator is asked.
        if (activityInfo().attempt > 1) return { kind: 'not_raised', standing: standingOf(collection) };
        log.info({ collectionId, operatorCode: outcome.operatorCode }, 'the operator refused the prompt');
        return { kind: 'refused', failureCode: outcome.code };
      }
      throw ApplicationFailure.create({
        message: `not known whether the operator took the prompt: ${outcome.reason}`,
        type: 'OperatorUnknown',
        category: ApplicationFailureCategory.BENIGN,
      });
    },

    /** One call: what the operator says of the payment now. A paid amount that is not ours to the unit is not believed. */
    async getStatusWithOperator({ collectionId, merchantId }: CollectionRef): Promise<OperatorWord> {
      const collection = await withFailures(() => getCollection(db, merchantId, collectionId));
      const outcome = await operators[collection.operator].getCollectionStatus(collection.operatorReference);
      if ('paid' in outcome && !isPaidAsAsked(outcome.paid, collection)) {
        log.error({ collectionId, paid: outcome.paid }, 'the operator says paid, but not what was asked for');
        return { kind: 'unknown' };
      }
      return wordOf(outcome);
    },

    /** One transaction. Recording what is recorded already changes nothing; returns where the collection then stands. */
    async recordCollectionFact({
      collectionId,
      merchantId,
      fact,
    }: CollectionRef & { fact: RecordableFact }): Promise<Standing> {
      const input = { collectionId, merchantId, fact, environment, timings, at: new Date() };
      return standingOf(await withFailures(() => recordCollectionFact(db, input)));
    },
  };
}

function standingOf(collection: Collection): Standing {
  return {
    state: collection.state,
    promptDeadlineAtMs: collection.promptDeadlineAt.getTime(),
    promptExpiresAtMs: collection.promptExpiresAt?.getTime() ?? null,
  };
}

function wordOf(outcome: StatusOutcome): OperatorWord {
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unknown':
      return { kind: outcome.kind };
    case 'succeeded':
      return { kind: 'settled', fact: { fact: 'paid', operatorReceipt: outcome.receipt } };
    case 'returned':
      return { kind: 'returned', operatorReceipt: outcome.receipt };
    case 'failed':
      // A prompt that ran out at the operator is no refusal: the payer may still be found to have paid.
      return outcome.code === 'prompt_expired'
        ? { kind: 'settled', fact: { fact: 'lapsed', failureCode: outcome.code } }
        : { kind: 'settled', fact: { fact: 'declined', failureCode: outcome.code } };
  }
}
