// One status query of a payment, as the payment's workflow and its rechecks make it.
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Operator } from '../src/operators/port.ts';
import type { PendingQuery, StatusAttestor } from './attestation.ts';
import { recordedExchange, type ExchangeDeps } from './exchanges.ts';
import { withFailures } from './failures.ts';
import type { PaymentKinds } from './payment-kinds.ts';

type StatusQueryDeps = ExchangeDeps & {
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly attestor: StatusAttestor;
};

/** The payment as it is recorded, and the operator status, queried after that was read. */
export type QueriedPayment = { readonly snapshot: PaymentSnapshot; readonly attested: AttestedStatus };

export type StatusQuery = (ref: PaymentRef) => Promise<QueriedPayment>;

export function createStatusQuery(deps: StatusQueryDeps, kinds: PaymentKinds): StatusQuery {
  const { operators, attestor } = deps;
  return async (ref) => {
    const payment = await withFailures(() => kinds.load(ref));
    const query: PendingQuery = { id: ref.id, queriedAtMs: Date.now() };
    const outcome = await recordedExchange(deps, { ref, ...payment }, 'status_query', () =>
      payment.queryStatus(operators[payment.operator]),
    );
    return { snapshot: payment.snapshot, attested: attestor.attestStatus(query, outcome, payment.money) };
  };
}
