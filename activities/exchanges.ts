// Records each exchange with an operator beside the payment, for people to see: nothing is decided by these records.
import type { Database } from '../src/db/database.ts';
import { insertExchange, type NewExchange } from '../src/db/payments/operator-exchange.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Log } from '../src/log.ts';
import type { SendOutcome, StatusOutcome } from '../src/operators/port.ts';

export type ExchangeDeps = { readonly db: Database; readonly log: Log };

/**
 * Calls the operator and records how that ended, by one statement. What is known of the payment matters more than the record: when
 * that fails, or the process dies before it, the exchange is not shown, and the outcome counts all the same.
 */
export async function recordedExchange<Outcome extends SendOutcome | StatusOutcome>(
  { db, log }: ExchangeDeps,
  ref: PaymentRef,
  kind: NewExchange['kind'],
  exchange: () => Promise<Outcome>,
): Promise<Outcome> {
  const startedAt = new Date();
  const begunMs = performance.now();
  const outcome = await exchange();
  const durationMs = Math.round(performance.now() - begunMs);
  const failureCode = 'code' in outcome ? outcome.code : null;
  try {
    await insertExchange(db, ref, { kind, startedAt, durationMs, outcome: outcome.kind, failureCode });
  } catch (error) {
    log.warn({ error, id: ref.id, kind }, 'an exchange with the operator could not be recorded');
  }
  return outcome;
}
