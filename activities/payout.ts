// What the payout workflow does: read where the payout stands, send it, ask the operator, record what it said.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import type { Environment } from '../src/domain/event.ts';
import type { MerchantId, PayoutId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/operator-catalogue.ts';
import type { Payout } from '../src/domain/payout.ts';
import type { PayoutStanding, PayoutWord, RecordablePayoutFact } from '../src/domain/payout-progress.ts';
import { isReleasedByOthers } from '../src/domain/release.ts';
import type { Log } from '../src/log.ts';
import { getPayout } from '../src/operations/get-payout.ts';
import { noteSendBegun, noteTaken } from '../src/operations/note-sending.ts';
import { recordPayoutFact } from '../src/operations/record-payout-fact.ts';
import { isPaidAsAsked } from '../src/operators/paid-money.ts';
import type { Operator, StatusOutcome } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import { sendResultOf, type SendResult } from './sending.ts';

export type PayoutActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly overdueAfterMs: number;
  readonly log: Log;
};

type PayoutRef = { readonly payoutId: PayoutId; readonly merchantId: MerchantId };

export type PayoutActivities = ReturnType<typeof createPayoutActivities>;

export function createPayoutActivities(deps: PayoutActivityDeps) {
  const { db, operators, environment, overdueAfterMs, log } = deps;
  const load = ({ payoutId, merchantId }: PayoutRef) => withFailures(() => getPayout(db, merchantId, payoutId));

  return {
    /** One read: where the payout stands now, whatever a signal claims. */
    async loadPayoutStanding(ref: PayoutRef): Promise<PayoutStanding> {
      return standingOf(await load(ref));
    },

    /** One transaction, before the first try: whether it is the first. Losing the answer makes it no longer the first. */
    async notePayoutSendBegun({ payoutId: id, merchantId }: PayoutRef): Promise<boolean> {
      return withFailures(() => noteSendBegun(db, { table: 'payouts', merchantId, id }, new Date()));
    },

    /** One transaction: the operator has it. */
    async notePayoutTaken(ref: PayoutRef): Promise<PayoutStanding> {
      const { payoutId: id, merchantId } = ref;
      await withFailures(() => noteTaken(db, { table: 'payouts', merchantId, id }, new Date()));
      return standingOf(await load(ref));
    },

    /**
     * One call: sends the payout if it is recorded as released by others than its maker and its time to be sent is not
     * over. Fails, to be tried again, when it is not known whether the operator took it; the reference makes the repeat
     * harmless.
     */
    async sendPayoutWithOperator(ref: PayoutRef & { isFirstSend: boolean }): Promise<SendResult> {
      const payout = await load(ref);
      if (payout.state !== 'released') return { kind: 'not_sent' };
      if (payout.sendDeadlineAt === null || payout.sendDeadlineAt <= new Date()) return { kind: 'not_sent' };
      if (!isReleasedByOthers(payout)) {
        throw ApplicationFailure.nonRetryable(`payout ${payout.id} lacks the approvals it needs`, 'ApprovalMissing');
      }
      const outcome = await operators[payout.operator].sendPayout({
        operatorReference: payout.operatorReference,
        phone: payout.phone,
        money: payout,
        payeeMessage: payout.description ?? payout.reference,
      });
      if (outcome.kind === 'refused') {
        log.info({ payoutId: payout.id, operatorCode: outcome.operatorCode }, 'the operator refused the payout');
      }
      return sendResultOf(outcome, ref.isFirstSend && activityInfo().attempt === 1);
    },

    /** One call: what the operator says of the payout now. A paid amount that is not ours to the unit is not believed. */
    async getPayoutStatusWithOperator(ref: PayoutRef): Promise<PayoutWord> {
      const payout = await load(ref);
      const outcome = await operators[payout.operator].getPayoutStatus(payout.operatorReference);
      if ('paid' in outcome && !isPaidAsAsked(outcome.paid, payout)) {
        log.error({ payoutId: payout.id, paid: outcome.paid }, 'the operator says paid, but not what was asked for');
        return { kind: 'unknown' };
      }
      return wordOf(outcome);
    },

    /** One transaction. Recording what is recorded already changes nothing; returns where the payout then stands. */
    async recordPayoutFact({
      payoutId,
      merchantId,
      fact,
    }: PayoutRef & { fact: RecordablePayoutFact }): Promise<PayoutStanding> {
      const input = { payoutId, merchantId, fact, environment, overdueAfterMs, at: new Date() };
      return standingOf(await withFailures(() => recordPayoutFact(db, input)));
    },
  };
}

function standingOf(payout: Payout): PayoutStanding {
  return {
    state: payout.state,
    approvals: payout.approvals.length,
    approvalsRequired: payout.approvalsRequired,
    expiresAtMs: payout.expiresAt.getTime(),
    sendDeadlineAtMs: payout.sendDeadlineAt?.getTime() ?? null,
    isTaken: payout.takenAt !== null,
  };
}

function wordOf(outcome: StatusOutcome): PayoutWord {
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unknown':
      return { kind: outcome.kind };
    case 'succeeded':
      return { kind: 'paid', operatorReceipt: outcome.receipt };
    case 'returned':
      return { kind: 'returned', operatorReceipt: outcome.receipt };
    case 'failed':
      return { kind: 'declined', failureCode: outcome.code };
  }
}
