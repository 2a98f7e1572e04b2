// One status query of a payment, as the payment's workflow and its rechecks make it.
import type { PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Operator } from '../src/operators/port.ts';
import type { PendingQuery, StatusAttestor } from './attestation.ts';
import type { ExchangeRecorder } from './exchange-recorder.ts';
import { makeExchange, recordExchange, type ExchangeDeps } from './exchanges.ts';
import { withFailures } from './failures.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

type StatusQueryDeps = ExchangeDeps & {
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly attestor: StatusAttestor;
};

/** The payment as it is recorded, and the operator status, queried after that was read. */
export type QueriedPayment = { readonly snapshot: PaymentSnapshot; readonly attested: AttestedStatus };

export type StatusQuery = (ref: PaymentRef) => Promise<QueriedPayment>;

/** An operator status, and the payment as it is since what follows from that is recorded; without it that is still to be done. */
export type QueriedStatus = AttestedStatus & { readonly recorded?: PaymentSnapshot };

export function createStatusQuery(deps: StatusQueryDeps, kinds: PaymentKinds): StatusQuery {
  return async (ref) => {
    const payment = await withFailures(() => kinds.load(ref));
    const { attested, made } = await query(ref, payment, deps);
    await recordExchange(deps, ref, made);
    return { snapshot: payment.snapshot, attested };
  };
}

/** The same for the payment's workflow: how a collection ended is recorded with the exchange. */
export function createDecidingQuery(
  deps: StatusQueryDeps & { readonly exchangeRecorder: ExchangeRecorder },
  kinds: PaymentKinds,
): (ref: PaymentRef) => Promise<QueriedStatus> {
  return async (ref) => {
    const payment = await withFailures(() => kinds.loadForQuery(ref));
    const { attested, made } = await query(ref, payment, deps);
    if (ref.kind !== 'collection') {
      await recordExchange(deps, ref, made);
      return attested;
    }
    const snapshot = payment.snapshot as PaymentSnapshot<'collection'>;
    const recorded = await deps.exchangeRecorder.ofStatus(ref, snapshot, attested, made);
    return recorded ? { ...attested, recorded } : attested;
  };
}

async function query(ref: PaymentRef, payment: LoadedPayment, deps: StatusQueryDeps) {
  const { operators, attestor } = deps;
  const pending: PendingQuery = { id: ref.id, queriedAtMs: Date.now() };
  const { outcome, made } = await makeExchange(deps, { ref, ...payment }, 'status_query', () =>
    payment.queryStatus(operators[payment.operator]),
  );
  return { attested: attestor.attestStatus(pending, outcome, payment.money), made };
}
