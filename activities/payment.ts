// The activities of the workflows of collections, payouts and reversals: one factory for all three.
import {
  addNotFound,
  markAccepted,
  resetNotFounds,
  scheduleRecheck,
  type SentPaymentRef,
} from '../src/db/payments/payment-progress.ts';
import { paymentClocks, type Clocks, type PaymentClocks } from '../src/domain/clocks.ts';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import {
  basisOf,
  exactInput,
  needsOperatorStatus,
  type AttestedStatus,
  type PaymentTransitionInput,
} from '../src/domain/payments/operator-status.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { PaymentContext } from '../src/operations/payments/payment-context.ts';
import { recordDiscrepancy } from '../src/operations/payments/record-discrepancy.ts';
import type { Operator } from '../src/operators/port.ts';
import type { ReleaseAttestor } from '../src/security/release-attestation.ts';
import type { StatusAttestor } from './attestation.ts';
import { createExchangeRecorder } from './exchange-recorder.ts';
import type { ExchangeDeps } from './exchanges.ts';
import { withFailures } from './failures.ts';
import { createPaymentKinds, type PaymentKinds } from './payment-kinds.ts';
import { createRecheckActivities } from './rechecks.ts';
import { createSend } from './send.ts';
import { createDecidingQuery, createStatusQuery } from './status-query.ts';
import { WORKFLOW_VERSION } from '../workflows/contract.ts';

export type PaymentActivityDeps = ExchangeDeps & {
  readonly payments: PaymentContext;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly attestor: StatusAttestor;
  readonly releases: ReleaseAttestor;
  readonly clocks: Clocks;
};

export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

export function createPaymentActivities(deps: PaymentActivityDeps) {
  const kinds = createPaymentKinds(deps);
  const calls = { ...deps, exchangeRecorder: createExchangeRecorder(deps, kinds) };
  const transactions = ownTransactions(deps, kinds);
  return {
    sendWithOperator: createSend(calls, kinds),

    /**
     * One call: the operator status now. Other money than ours, to the unit, is `paid_otherwise`. Of a collection that is pending, one
     * statement then records the exchange and the outcome.
     */
    queryStatusWithOperator: createDecidingQuery(calls, kinds),

    ...transactions,
    ...createRecheckActivities({ ...deps, recorder: transactions }, createStatusQuery(deps, kinds)),
  };
}

function ownTransactions({ db, attestor, clocks, log }: PaymentActivityDeps, kinds: PaymentKinds) {
  return {
    /** One read: the payment as it is recorded now, whatever signals came, and the durations that the run uses. */
    async loadPayment(ref: PaymentRef): Promise<RecordedPayment> {
      const { snapshot } = await withFailures(() => kinds.load(ref));
      return { snapshot, clocks: paymentClocks(clocks), version: WORKFLOW_VERSION };
    },

    /** One statement: the operator has the payment, by a status that we attested. */
    async recordAccepted({ ref, attested }: { ref: SentPaymentRef; attested: AttestedStatus }): Promise<void> {
      attestor.requireAcceptance(ref.id, attested);
      await markAccepted(db, ref, new Date());
    },

    /**
     * One statement: counts that the operator does not know the payment, or begins the count again when it said nothing.
     * Returns the payment as it is afterwards. The status must be one that we attested.
     */
    async recordNotFound({
      ref,
      attested,
    }: {
      ref: SentPaymentRef;
      attested: AttestedStatus;
    }): Promise<PaymentSnapshot> {
      const { kind } = attestor.readAttested(ref.id, attested);
      // The clock of the process that made the query may be ahead.
      const queriedAt = new Date(Math.min(attested.queriedAtMs, Date.now()));
      const { notFoundGraceMs: graceMs, notFoundGapMs: gapMs } = clocks;
      if (kind === 'not_found') await addNotFound(db, ref, { queriedAt, graceMs, gapMs });
      // No other status does: one of before, handed in again, would hold the money for as long as somebody likes.
      else if (kind === 'unknown') await resetNotFounds(db, ref, queriedAt);
      return (await withFailures(() => kinds.load(ref))).snapshot;
    },

    /**
     * One transaction. Recording what is recorded already changes nothing; returns the payment as it is afterwards. A
     * transition that needs an operator status must come with one that we attested. All of this came through Temporal, so
     * nothing else of it is used.
     */
    async recordTransition({ ref, transition, attested }: RecordTransition): Promise<PaymentSnapshot> {
      attestor.requireAttested(ref.id, transition, attested);
      const basis = attested !== null && needsOperatorStatus(transition) ? basisOf(attested) : null;
      return withFailures(() => kinds.record(ref, exactInput(transition), { at: new Date(), basis }));
    },

    /**
     * One transaction: records, and logs as fatal, that the operator contradicts the recorded outcome. It moves no
     * money. The status must be one that we attested.
     */
    async recordDiscrepancy({ ref, attested }: { ref: PaymentRef; attested: AttestedStatus }): Promise<void> {
      const status = attestor.readAttested(ref.id, attested);
      const { queriedAtMs } = attested;
      const found = await withFailures(() => recordDiscrepancy(db, { ref, status, queriedAtMs, at: new Date() }));
      // A contradiction that stands is found at every query; the ledger check repeats it until it is settled.
      if (!found?.isNew) return;
      const { id, merchantId } = ref;
      const { kind } = found;
      log.fatal(
        { id, merchantId, kind, status },
        'the operator contradicts the recorded state: a person must settle the discrepancy',
      );
    },

    /** One transaction: the operator gave no useful status of a final payment, so it is rechecked soon. */
    async scheduleRecheck(ref: PaymentRef): Promise<void> {
      await scheduleRecheck(db, ref, new Date(Date.now() + clocks.staleAfterMs));
    },
  };
}

type RecordedPayment = {
  readonly snapshot: PaymentSnapshot;
  readonly clocks: PaymentClocks;
  /** Of the workflow code that began the run; histories of before have none. */
  readonly version?: number;
};

type RecordTransition = {
  readonly ref: PaymentRef;
  readonly transition: PaymentTransitionInput;
  readonly attested: AttestedStatus | null;
};
