// Records each exchange with an operator beside the payment, for people to see: nothing is decided by these records.
import type { Database } from '../src/db/platform/database.ts';
import { insertExchange, type NewExchange } from '../src/db/payments/operator-exchange.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Log } from '../src/log.ts';
import type { SendOutcome, StatusOutcome } from '../src/operators/port.ts';

export type ExchangeDeps = {
  readonly db: Database;
  /** Called after each exchange, whatever came of it. It must not throw. */
  readonly onExchanged?: (exchange: OperatorExchange) => void;
  readonly log: Log;
};

/** The payment of an exchange. */
export type ExchangedPayment = {
  readonly ref: PaymentRef;
  readonly operator: OperatorId;
  /** The request that made it; null: it was made before that was recorded. */
  readonly requestId: string | null;
};

export type OperatorExchange = ExchangedPayment & NewExchange;

/** What came of an exchange, and what is still to be recorded of it. */
export type MadeExchange<Outcome> = { readonly outcome: Outcome; readonly made: NewExchange };

/** Calls the operator. The caller records the exchange, by itself or with what follows from it. */
export async function makeExchange<Outcome extends SendOutcome | StatusOutcome>(
  { onExchanged }: Pick<ExchangeDeps, 'onExchanged'>,
  payment: ExchangedPayment,
  kind: NewExchange['kind'],
  exchange: () => Promise<Outcome>,
): Promise<MadeExchange<Outcome>> {
  const startedAt = new Date();
  const begunMs = performance.now();
  const outcome = await exchange();
  const durationMs = Math.round(performance.now() - begunMs);
  const failureCode = 'code' in outcome ? outcome.code : null;
  const made: NewExchange = { kind, startedAt, durationMs, outcome: outcome.kind, failureCode };
  onExchanged?.({ ...payment, ...made });
  return { outcome, made };
}

/**
 * One statement. What is known of the payment matters more than the record: when that fails, or the process dies before it, the exchange
 * is not shown, and the outcome counts all the same.
 */
export async function recordExchange(
  { db, log }: Pick<ExchangeDeps, 'db' | 'log'>,
  ref: PaymentRef,
  made: NewExchange,
): Promise<void> {
  try {
    await insertExchange(db, ref, made);
  } catch (error) {
    log.warn({ error, id: ref.id, kind: made.kind }, 'an exchange with the operator could not be recorded');
  }
}
