// What the collection workflow does: ask the operator, record what it said.
import { activityInfo } from '@temporalio/activity';
import type { Database } from '../src/db/database.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import type { ChangeTimings } from '../src/domain/payments/collection-change.ts';
import type { RecordableFact, Standing } from '../src/domain/payments/collection-progress.ts';
import type { Environment } from '../src/domain/event.ts';
import type { CollectionId, MerchantId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Heard } from '../src/domain/payments/operator-status.ts';
import { getCollection } from '../src/queries/payments/get-collection.ts';
import { recordCollectionFact } from '../src/operations/payments/record-collection-transition.ts';
import type { Operator } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import type { Witness } from './attestation.ts';

export type CollectionActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly timings: ChangeTimings;
  readonly witness: Witness;
};

type CollectionRef = { readonly collectionId: CollectionId; readonly merchantId: MerchantId };

export type PromptResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly heard: Heard }
  /** It is past being prompted, past its deadline, or in doubt: what follows is asked of the operator. */
  | { readonly kind: 'not_raised'; readonly standing: Standing };

export type CollectionActivities = ReturnType<typeof createCollectionActivities>;

export function createCollectionActivities(deps: CollectionActivityDeps) {
  const { db, operators, witness, environment, timings } = deps;

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
      const asking = { id: collection.id, askedAtMs: Date.now() };
      const outcome = await operators[collection.operator].raisePrompt({
        operatorReference: collection.operatorReference,
        phone: collection.phone,
        money: collection,
        payerMessage: collection.description ?? collection.reference,
      });
      // After a try whose end is not known, a refusal says nothing of that one: the operator is asked.
      const result = witness.hearSend(asking, outcome, activityInfo().attempt === 1);
      return result.kind === 'not_sent' ? { kind: 'not_raised', standing: standingOf(collection) } : result;
    },

    /** One call: what the operator says of the payment now. A paid amount that is not ours to the unit is not believed. */
    async getStatusWithOperator({ collectionId, merchantId }: CollectionRef): Promise<Heard> {
      const collection = await withFailures(() => getCollection(db, merchantId, collectionId));
      const asking = { id: collection.id, askedAtMs: Date.now() };
      const outcome = await operators[collection.operator].getCollectionStatus(collection.operatorReference);
      return witness.hearStatus(asking, outcome, collection);
    },

    /** One transaction. Recording what is recorded already changes nothing; what the operator said, we must have heard. */
    async recordCollectionFact({
      collectionId,
      merchantId,
      fact,
      heard,
    }: CollectionRef & { fact: RecordableFact; heard: Heard | null }): Promise<Standing> {
      witness.requireHeard(collectionId, fact, heard);
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
