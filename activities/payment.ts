// The activities of the workflows of collections, payouts and reversals: one factory for all three.
import { ApplicationFailure } from '@temporalio/common';
import { paymentClocks, type Clocks, type PaymentClocks } from '../src/domain/clocks.ts';
import {
  needsOperatorStatus,
  type InputWithoutStatus,
  type PaymentSnapshot,
} from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { PaymentContext } from '../src/operations/payments/payment-context.ts';
import { mayBeAbandoned } from './current-activity.ts';
import type { OperatorCalls } from './operator-calls.ts';
import type { Operator } from '../src/operators/port.ts';
import type { ReleaseAttestor } from '../src/security/release-attestation.ts';
import type { ExchangeDeps } from './exchanges.ts';
import { withFailures } from './failures.ts';
import { createPayeeNameQuery } from './payee-name.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import { createPaymentKinds } from './payment-kinds.ts';
import { createSend } from './send.ts';
import { createStatusQuery } from './status-query.ts';

export type PaymentActivityDeps = ExchangeDeps & {
  readonly payments: PaymentContext;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly releases: ReleaseAttestor;
  readonly calls: OperatorCalls;
  readonly clocks: Clocks;
};

export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

/** No activity takes an operator's answer from Temporal: the activity that receives the answer records its consequences. */
export function createPaymentActivities(deps: PaymentActivityDeps) {
  const { clocks, log } = deps;
  const kinds = createPaymentKinds({ ...deps, recordedBy: () => (mayBeAbandoned() ? 'other' : 'workflow') });
  const recorder = createOutcomeRecorder(deps, kinds);
  return {
    sendWithOperator: createSend(deps, kinds, recorder),

    queryStatusWithOperator: createStatusQuery(deps, kinds, recorder),

    queryPayeeNameWithOperator: createPayeeNameQuery(deps),

    /** One read: the payment as it is recorded now, no matter which signals came, and the durations that the run uses. */
    async loadPayment(ref: PaymentRef): Promise<RecordedPayment> {
      const { snapshot } = await withFailures(() => kinds.load(ref));
      return { snapshot, clocks: paymentClocks(clocks) };
    },

    /**
     * One transaction. Recording the same again changes nothing; returns the payment afterwards. Throws, and logs as fatal, for a
     * transition that needs an operator status. The input came through Temporal, so nothing but the reference and the kind is used.
     */
    async recordTransition({ ref, transition: { kind } }: RecordTransition): Promise<PaymentSnapshot> {
      if (needsOperatorStatus({ kind })) {
        const { id } = ref;
        log.fatal({ id, kind }, 'a transition that needs an operator status was refused without one');
        throw ApplicationFailure.nonRetryable(`${kind} of ${id} cannot be recorded without a status`, 'StatusMissing');
      }
      return withFailures(() =>
        kinds.record(ref, { kind }, { at: new Date(), basis: null, exchange: null, row: null }),
      );
    },
  };
}

type RecordedPayment = { readonly snapshot: PaymentSnapshot; readonly clocks: PaymentClocks };

type RecordTransition = { readonly ref: PaymentRef; readonly transition: { readonly kind: InputWithoutStatus } };
