// What the payout workflow does: read where the payout stands, send it, ask the operator, record what it said.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import type { Environment } from '../src/domain/event.ts';
import type { MerchantId, PayoutId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Payout } from '../src/domain/payments/payout.ts';
import type { PayoutSnapshot, PayoutOutcomeInput } from '../src/domain/payments/payout-progress.ts';
import { isReleasedByOthers } from '../src/domain/payments/release.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import { getPayout } from '../src/queries/payments/get-payout.ts';
import { recordPayoutTransition } from '../src/operations/payments/record-payout-transition.ts';
import type { Operator } from '../src/operators/port.ts';
import { withFailures } from './failures.ts';
import type { SendResult, StatusAttestor } from './attestation.ts';

export type PayoutActivityDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly environment: Environment;
  readonly overdueAfterMs: number;
  readonly notFoundGraceMs: number;
  readonly attestor: StatusAttestor;
};

type PayoutRef = { readonly payoutId: PayoutId; readonly merchantId: MerchantId };

export type PayoutActivities = ReturnType<typeof createPayoutActivities>;

export function createPayoutActivities(deps: PayoutActivityDeps) {
  const { db, operators, attestor, environment, overdueAfterMs, notFoundGraceMs } = deps;
  const load = ({ payoutId, merchantId }: PayoutRef) => withFailures(() => getPayout(db, merchantId, payoutId));

  return {
    /** One read: where the payout stands now, whatever a signal claims. */
    async loadPayoutSnapshot(ref: PayoutRef): Promise<PayoutSnapshot> {
      return snapshotOf(await load(ref));
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
      const query = { id: payout.id, queriedAtMs: Date.now() };
      const outcome = await operators[payout.operator].sendPayout({
        operatorReference: payout.operatorReference,
        phone: payout.phone,
        money: payout,
        payeeMessage: payout.description ?? payout.reference,
      });
      return attestor.attestSend(query, outcome, ref.isFirstSend && activityInfo().attempt === 1);
    },

    /** One call: what the operator says of the payout now. */
    async getPayoutStatusWithOperator(ref: PayoutRef): Promise<AttestedStatus> {
      const payout = await load(ref);
      const query = { id: payout.id, queriedAtMs: Date.now() };
      const outcome = await operators[payout.operator].getPayoutStatus(payout.operatorReference);
      return attestor.attestStatus(query, outcome, payout);
    },

    /**
     * One transaction. Recording what is recorded already changes nothing; returns where the payout then stands. What the
     * operator is to have said must have been heard by us.
     */
    async recordPayoutTransition({
      payoutId,
      merchantId,
      transition,
      attested,
    }: PayoutRef & { transition: PayoutOutcomeInput; attested: AttestedStatus | null }): Promise<PayoutSnapshot> {
      attestor.requireAttested(payoutId, transition, attested);
      const timings = { overdueAfterMs, notFoundGraceMs };
      const input = { payoutId, merchantId, transition, environment, ...timings, at: new Date() };
      return snapshotOf(await withFailures(() => recordPayoutTransition(db, input)));
    },
  };
}

function snapshotOf(payout: Payout): PayoutSnapshot {
  return {
    state: payout.state,
    approvals: payout.approvals.length,
    approvalsRequired: payout.approvalsRequired,
    expiresAtMs: payout.expiresAt.getTime(),
    sendDeadlineAtMs: payout.sendDeadlineAt?.getTime() ?? null,
    isAccepted: payout.acceptedAt !== null,
  };
}
