// What the reversal workflow does: ask the operator for the refund, ask how it went, record what it said.
import { activityInfo } from '@temporalio/activity';
import type { Database } from '../src/db/database.ts';
import type { ChangeTimings } from '../src/domain/payments/collection-change.ts';
import type { Environment } from '../src/domain/event.ts';
import type { MerchantId, ReversalId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Reversal } from '../src/domain/payments/reversal.ts';
import type { ReversalTransitionInput, ReversalSnapshot } from '../src/domain/payments/reversal-progress.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import type { Log } from '../src/log.ts';
import { getCollection } from '../src/queries/payments/get-collection.ts';
import { getReversal } from '../src/queries/payments/get-reversal.ts';
import { recordReversalTransition } from '../src/operations/payments/record-reversal-transition.ts';
import type { Operator } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import type { SendResult, StatusAttestor } from './attestation.ts';

export type ReversalActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly timings: ChangeTimings & { readonly notFoundGraceMs: number };
  readonly attestor: StatusAttestor;
  readonly log: Log;
};

type ReversalRef = { readonly reversalId: ReversalId; readonly merchantId: MerchantId };

export type ReversalActivities = ReturnType<typeof createReversalActivities>;

export function createReversalActivities(deps: ReversalActivityDeps) {
  const { db, operators, attestor, environment, timings, log } = deps;
  const load = async ({ reversalId, merchantId }: ReversalRef) => {
    const reversal = await withFailures(() => getReversal(db, merchantId, reversalId));
    return { reversal, collection: await getCollection(db, merchantId, reversal.collectionId) };
  };

  return {
    /** One read: where the reversal stands now. */
    async loadReversalSnapshot(ref: ReversalRef): Promise<ReversalSnapshot> {
      return snapshotOf((await load(ref)).reversal);
    },

    /**
     * One call: asks for the refund, unless the collection is reversed already or the time to ask is over. Fails, to be
     * tried again, when it is not known whether the operator took it; the reference makes the repeat harmless.
     */
    async refundWithOperator(ref: ReversalRef & { isFirstSend: boolean }): Promise<SendResult> {
      const { reversal, collection } = await load(ref);
      if (reversal.state !== 'requested' || reversal.sendDeadlineAt <= new Date()) return { kind: 'not_sent' };
      // The provider was faster: to give the money back a second time would be a loss.
      if (collection.state !== 'succeeded') return { kind: 'not_sent' };
      const query = { id: reversal.id, queriedAtMs: Date.now() };
      const outcome = await operators[reversal.operator].refundCollection({
        operatorReference: reversal.operatorReference,
        originalOperatorReference: collection.operatorReference,
        money: collection,
        note: collection.reference,
      });
      return attestor.attestSend(query, outcome, ref.isFirstSend && activityInfo().attempt === 1);
    },

    /** One call: what the operator says of the refund now. Another amount than the collection's is not believed. */
    async getRefundStatusWithOperator(ref: ReversalRef): Promise<AttestedStatus> {
      const { reversal, collection } = await load(ref);
      const query = { id: reversal.id, queriedAtMs: Date.now() };
      const outcome = await operators[reversal.operator].getRefundStatus(reversal.operatorReference);
      return attestor.attestStatus(query, outcome, collection);
    },

    /** One transaction, as for payouts. */
    async recordReversalTransition({
      reversalId,
      merchantId,
      transition,
      attested,
    }: ReversalRef & {
      transition: ReversalTransitionInput;
      attested: AttestedStatus | null;
    }): Promise<ReversalSnapshot> {
      attestor.requireAttested(reversalId, transition, attested);
      const input = { reversalId, merchantId, transition, environment, timings, at: new Date() };
      const { reversal, isBooked } = await withFailures(() => recordReversalTransition(db, input));
      if (!isBooked)
        log.fatal({ reversalId }, 'money went back twice: the provider returned it, and our refund was paid');
      return snapshotOf(reversal);
    },
  };
}

function snapshotOf({ state, sendDeadlineAt, acceptedAt }: Reversal): ReversalSnapshot {
  return { state, sendDeadlineAtMs: sendDeadlineAt.getTime(), isAccepted: acceptedAt !== null };
}
