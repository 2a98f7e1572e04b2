// Queries the operator status of a payment, as the payment's workflow and its rechecks do, and records what follows.
import { scheduleRecheck } from '../src/db/payments/payment-progress.ts';
import type { NewExchange } from '../src/db/payments/operator-exchange.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import { isStatusMissing } from '../src/domain/payments/late-checks.ts';
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { QueriedStatus } from '../src/domain/payments/operator-status.ts';
import { isQueriedAfterCallback, type PaymentRef } from '../src/domain/payments/payment.ts';
import { operatorStatusOf } from '../src/operators/operator-status.ts';
import type { Operator } from '../src/operators/port.ts';
import { isInLocalActivity } from './current-activity.ts';
import { callOperator, recordExchange, type ExchangeDeps } from './exchanges.ts';
import { withFailures } from './failures.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

export type StatusQueryDeps = ExchangeDeps & {
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly clocks: Clocks;
};

/** The payment after all that follows from the status was recorded, and whether the operator gave a status. */
export type QueriedPayment = { readonly snapshot: PaymentSnapshot; readonly hasStatus: boolean };

/**
 * One call, and then one transaction for each thing that follows from the status. After an error Temporal runs it again, with a new
 * query. In a local activity nothing follows where the operator gives no status: an ordinary activity queries again. A final payment
 * without a usable status is rechecked soon.
 */
export function createStatusQuery(deps: StatusQueryDeps, kinds: PaymentKinds, recorder: OutcomeRecorder) {
  const { db, clocks } = deps;
  return async (ref: PaymentRef): Promise<QueriedPayment> => {
    const payment = await withFailures(() => kinds.load(ref));
    const { queried, exchange } = await queryOperator(ref, payment, deps);
    const { status } = queried;
    const hasStatus = status.kind !== 'unknown';
    if (!hasStatus && isInLocalActivity()) {
      await recordExchange(deps, ref, exchange);
      return { snapshot: payment.snapshot, hasStatus };
    }
    const snapshot = await withFailures(() => recorder.recordStatus(ref, payment, queried, exchange));
    if (isQueriedAfterCallback(ref.kind, snapshot.state) && isStatusMissing(snapshot.state, status)) {
      await scheduleRecheck(db, ref, new Date(Date.now() + clocks.staleAfterMs));
    }
    return { snapshot, hasStatus };
  };
}

/** One call. The caller records the exchange. */
export async function queryOperator(
  ref: PaymentRef,
  payment: LoadedPayment,
  deps: StatusQueryDeps,
): Promise<{ readonly queried: QueriedStatus; readonly exchange: NewExchange }> {
  const { operators, log } = deps;
  const queriedAtMs = Date.now();
  const { outcome, exchange } = await callOperator(deps, { ref, ...payment }, 'status_query', () =>
    payment.queryStatus(operators[payment.operator]),
  );
  if (outcome.kind === 'unreadable' || outcome.kind === 'paid_unreadable') {
    const { reason } = outcome;
    log.error({ id: ref.id, reason }, 'the operator has the payment, but the status cannot be read');
  }
  const status = operatorStatusOf(outcome, payment.money);
  return { queried: { status, queriedAtMs }, exchange };
}
