// What the payout workflow does: read where the payout stands, send it, ask the operator, record what it said.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import type { Environment } from '../src/domain/event.ts';
import type { MerchantId, PayoutId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Payout } from '../src/domain/payments/payout.ts';
import type { PayoutStanding, RecordablePayoutFact } from '../src/domain/payments/payout-progress.ts';
import { isReleasedByOthers } from '../src/domain/payments/release.ts';
import type { Heard } from '../src/domain/payments/operator-status.ts';
import { getPayout } from '../src/queries/payments/get-payout.ts';
import { recordPayoutFact } from '../src/operations/payments/record-payout-transition.ts';
import type { Operator } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import type { SendResult, Witness } from './attestation.ts';

export type PayoutActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly overdueAfterMs: number;
  readonly notFoundGraceMs: number;
  readonly witness: Witness;
};

type PayoutRef = { readonly payoutId: PayoutId; readonly merchantId: MerchantId };

export type PayoutActivities = ReturnType<typeof createPayoutActivities>;

export function createPayoutActivities(deps: PayoutActivityDeps) {
  const { db, operators, witness, environment, overdueAfterMs, notFoundGraceMs } = deps;
  const load = ({ payoutId, merchantId }: PayoutRef) => withFailures(() => getPayout(db, merchantId, payoutId));

  return {
    /** One read: where the payout stands now, whatever a signal claims. */
    async loadPayoutStanding(ref: PayoutRef): Promise<PayoutStanding> {
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
      const asking = { id: payout.id, askedAtMs: Date.now() };
      const outcome = await operators[payout.operator].sendPayout({
        operatorReference: payout.operatorReference,
        phone: payout.phone,
        money: payout,
        payeeMessage: payout.description ?? payout.reference,
      });
      return witness.hearSend(asking, outcome, ref.isFirstSend && activityInfo().attempt === 1);
    },

    /** One call: what the operator says of the payout now. */
    async getPayoutStatusWithOperator(ref: PayoutRef): Promise<Heard> {
      const payout = await load(ref);
      const asking = { id: payout.id, askedAtMs: Date.now() };
      const outcome = await operators[payout.operator].getPayoutStatus(payout.operatorReference);
      return witness.hearStatus(asking, outcome, payout);
    },

    /**
     * One transaction. Recording what is recorded already changes nothing; returns where the payout then stands. What the
     * operator is to have said must have been heard by us.
     */
    async recordPayoutFact({
      payoutId,
      merchantId,
      fact,
      heard,
    }: PayoutRef & { fact: RecordablePayoutFact; heard: Heard | null }): Promise<PayoutStanding> {
      witness.requireHeard(payoutId, fact, heard);
      const timings = { overdueAfterMs, notFoundGraceMs };
      const input = { payoutId, merchantId, fact, environment, ...timings, at: new Date() };
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
