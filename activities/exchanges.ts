// Calls an operator about a payment, and records each exchange for people to see: these records decide nothing.
import type { Database } from '../src/db/platform/database.ts';
import { insertExchange, type NewExchange } from '../src/db/payments/operator-exchange.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Log } from '../src/log.ts';
import type { NameOutcome, SendOutcome, StatusOutcome } from '../src/operators/port.ts';

export type ExchangeDeps = {
  readonly db: Database;
  /** Called after each exchange, with any outcome. It must not throw. */
  readonly onExchanged?: (exchange: OperatorExchange) => void;
  readonly log: Log;
};

/** A payment of a workflow. Its operator came through Temporal, and decides only whose calls are counted. */
export type PaymentAtOperator = PaymentRef & { readonly operator: OperatorId };

/** The payment of an exchange. */
export type ExchangedPayment = {
  readonly ref: PaymentRef;
  readonly operator: OperatorId;
  /** The request that created the payment; null if it was created before requests were recorded. */
  readonly requestId: string | null;
};

export type OperatorExchange = ExchangedPayment & NewExchange;

/** The operator's answer, and the exchange that the caller must still record. */
export type OperatorAnswer<Outcome> = { readonly outcome: Outcome; readonly exchange: NewExchange };

/** Calls the operator. The caller records the exchange, by itself or with its consequences. */
export async function callOperator<Outcome extends SendOutcome | StatusOutcome | NameOutcome>(
  { onExchanged }: Pick<ExchangeDeps, 'onExchanged'>,
  payment: ExchangedPayment,
  kind: NewExchange['kind'],
  call: () => Promise<Outcome>,
): Promise<OperatorAnswer<Outcome>> {
  const startedAt = new Date();
  const begunMs = performance.now();
  const outcome = await call();
  const durationMs = Math.round(performance.now() - begunMs);
  const failureCode = 'code' in outcome ? outcome.code : null;
  const exchange: NewExchange = { kind, startedAt, durationMs, outcome: outcome.kind, failureCode };
  onExchanged?.({ ...payment, ...exchange });
  return { outcome, exchange };
}

/**
 * One statement. The outcome matters more than the record: if the record fails, or the process dies first, the exchange is not shown, and
 * the outcome still counts.
 */
export async function recordExchange(
  { db, log }: Pick<ExchangeDeps, 'db' | 'log'>,
  ref: PaymentRef,
  exchange: NewExchange,
): Promise<void> {
  try {
    await insertExchange(db, ref, exchange);
  } catch (error) {
    log.warn({ error, id: ref.id, kind: exchange.kind }, 'an exchange with the operator could not be recorded');
  }
}
