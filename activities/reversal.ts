// What the reversal workflow does: ask the operator for the refund, ask how it went, record what it said.
import { activityInfo } from '@temporalio/activity';
import type { Database } from '../src/db/database.ts';
import type { ChangeTimings } from '../src/domain/collection-change.ts';
import type { Environment } from '../src/domain/event.ts';
import type { MerchantId, ReversalId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/operator-catalogue.ts';
import type { Reversal } from '../src/domain/reversal.ts';
import type { RefundWord, ReversalFact, ReversalStanding } from '../src/domain/reversal-progress.ts';
import type { Log } from '../src/log.ts';
import { noteSendBegun, noteTaken } from '../src/operations/note-sending.ts';
import { getCollection } from '../src/operations/get-collection.ts';
import { getReversal } from '../src/operations/get-reversal.ts';
import { recordReversalFact } from '../src/operations/record-reversal-fact.ts';
import { isPaidAsAsked } from '../src/operators/paid-money.ts';
import type { Operator, StatusOutcome } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import { sendResultOf, type SendResult } from './sending.ts';

export type ReversalActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly timings: ChangeTimings;
  readonly log: Log;
};

type ReversalRef = { readonly reversalId: ReversalId; readonly merchantId: MerchantId };

export type ReversalActivities = ReturnType<typeof createReversalActivities>;

export function createReversalActivities(deps: ReversalActivityDeps) {
  const { db, operators, environment, timings, log } = deps;
  const load = async ({ reversalId, merchantId }: ReversalRef) => {
    const reversal = await withFailures(() => getReversal(db, merchantId, reversalId));
    return { reversal, collection: await getCollection(db, merchantId, reversal.collectionId) };
  };

  return {
    /** One read: where the reversal stands now. */
    async loadReversalStanding(ref: ReversalRef): Promise<ReversalStanding> {
      return standingOf((await load(ref)).reversal);
    },

    /** One transaction, before the first try: whether it is the first. Losing the answer makes it no longer the first. */
    async noteRefundSendBegun({ reversalId: id, merchantId }: ReversalRef): Promise<boolean> {
      return withFailures(() => noteSendBegun(db, { table: 'reversals', merchantId, id }, new Date()));
    },

    /** One transaction: the operator has it. */
    async noteRefundTaken(ref: ReversalRef): Promise<ReversalStanding> {
      const { reversalId: id, merchantId } = ref;
      await withFailures(() => noteTaken(db, { table: 'reversals', merchantId, id }, new Date()));
      return standingOf((await load(ref)).reversal);
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
      const outcome = await operators[reversal.operator].refundCollection({
        operatorReference: reversal.operatorReference,
        originalOperatorReference: collection.operatorReference,
        money: collection,
        note: collection.reference,
      });
      const { id: reversalId } = reversal;
      if (outcome.kind === 'refused') log.info({ reversalId, code: outcome.operatorCode }, 'the refund was refused');
      return sendResultOf(outcome, ref.isFirstSend && activityInfo().attempt === 1);
    },

    /** One call: what the operator says of the refund now. Another amount than the collection's is not believed. */
    async getRefundStatusWithOperator(ref: ReversalRef): Promise<RefundWord> {
      const { reversal, collection } = await load(ref);
      const outcome = await operators[reversal.operator].getRefundStatus(reversal.operatorReference);
      if ('paid' in outcome && !isPaidAsAsked(outcome.paid, collection)) {
        log.error({ reversalId: reversal.id, paid: outcome.paid }, 'the operator refunded, but not what was asked for');
        return { kind: 'unknown' };
      }
      return wordOf(outcome);
    },

    /** One transaction. Recording what is recorded already changes nothing; returns where the reversal then stands. */
    async recordReversalFact({
      reversalId,
      merchantId,
      fact,
    }: ReversalRef & { fact: ReversalFact }): Promise<ReversalStanding> {
      const input = { reversalId, merchantId, fact, environment, timings, at: new Date() };
      const { reversal, isBooked } = await withFailures(() => recordReversalFact(db, input));
      if (!isBooked)
        log.fatal({ reversalId }, 'money went back twice: the provider returned it, and our refund was paid');
      return standingOf(reversal);
    },
  };
}

function standingOf({ state, sendDeadlineAt, takenAt }: Reversal): ReversalStanding {
  return { state, sendDeadlineAtMs: sendDeadlineAt.getTime(), isTaken: takenAt !== null };
}

function wordOf(outcome: StatusOutcome): RefundWord {
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unknown':
      return { kind: outcome.kind };
    case 'succeeded':
      return { kind: 'refunded' };
    case 'returned':
      // A refund that came back to us: nothing we know how to book. Somebody must look.
      return { kind: 'unknown' };
    case 'failed':
      return { kind: 'declined', failureCode: outcome.code };
  }
}
