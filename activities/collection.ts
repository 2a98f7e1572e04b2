// What the collection workflow does: ask the operator, record what it said.
import { activityInfo } from '@temporalio/activity';
import type { Database } from '../src/db/database.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import type { ChangeTimings } from '../src/domain/payments/collection-change.ts';
import type { CollectionTransitionInput, CollectionSnapshot } from '../src/domain/payments/collection-progress.ts';
import type { Environment } from '../src/domain/event.ts';
import type { CollectionId, MerchantId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import { getCollection } from '../src/queries/payments/get-collection.ts';
import { recordCollectionTransition } from '../src/operations/payments/record-collection-transition.ts';
import type { Operator } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import type { StatusAttestor } from './attestation.ts';

export type CollectionActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly timings: ChangeTimings;
  readonly attestor: StatusAttestor;
};

type CollectionRef = { readonly collectionId: CollectionId; readonly merchantId: MerchantId };

export type PromptResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly attested: AttestedStatus }
  /** It is past being prompted, past its deadline, or in doubt: what follows is asked of the operator. */
  | { readonly kind: 'not_raised'; readonly snapshot: CollectionSnapshot };

export type CollectionActivities = ReturnType<typeof createCollectionActivities>;

export function createCollectionActivities(deps: CollectionActivityDeps) {
  const { db, operators, attestor, environment, timings } = deps;

  return {
    /**
     * One call: asks the operator to raise the prompt, unless that was done or is too late. Fails, to be tried again,
     * when it is not known whether the operator took it; the reference makes the repeat harmless.
     */
    async raisePromptWithOperator({ collectionId, merchantId }: CollectionRef): Promise<PromptResult> {
      const collection = await withFailures(() => getCollection(db, merchantId, collectionId));
      if (collection.state !== 'initiated' || collection.promptDeadlineAt <= new Date()) {
        return { kind: 'not_raised', snapshot: snapshotOf(collection) };
      }
      const query = { id: collection.id, queriedAtMs: Date.now() };
      const outcome = await operators[collection.operator].raisePrompt({
        operatorReference: collection.operatorReference,
        phone: collection.phone,
        money: collection,
        payerMessage: collection.description ?? collection.reference,
      });
      // After a try whose end is not known, a refusal says nothing of that one: the operator is asked.
      const result = attestor.attestSend(query, outcome, activityInfo().attempt === 1);
      return result.kind === 'not_sent' ? { kind: 'not_raised', snapshot: snapshotOf(collection) } : result;
    },

    /** One call: what the operator says of the payment now. A paid amount that is not ours to the unit is not believed. */
    async getStatusWithOperator({ collectionId, merchantId }: CollectionRef): Promise<AttestedStatus> {
      const collection = await withFailures(() => getCollection(db, merchantId, collectionId));
      const query = { id: collection.id, queriedAtMs: Date.now() };
      const outcome = await operators[collection.operator].getCollectionStatus(collection.operatorReference);
      return attestor.attestStatus(query, outcome, collection);
    },

    /** One transaction. Recording what is recorded already changes nothing; what the operator said, we must have heard. */
    async recordCollectionTransition({
      collectionId,
      merchantId,
      transition,
      attested,
    }: CollectionRef & {
      transition: CollectionTransitionInput;
      attested: AttestedStatus | null;
    }): Promise<CollectionSnapshot> {
      attestor.requireAttested(collectionId, transition, attested);
      const input = { collectionId, merchantId, transition, environment, timings, at: new Date() };
      return snapshotOf(await withFailures(() => recordCollectionTransition(db, input)));
    },
  };
}

function snapshotOf(collection: Collection): CollectionSnapshot {
  return {
    state: collection.state,
    promptDeadlineAtMs: collection.promptDeadlineAt.getTime(),
    promptExpiresAtMs: collection.promptExpiresAt?.getTime() ?? null,
  };
}
