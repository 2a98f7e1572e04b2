// Asks an operator for the name of a payout's payee, and records the name for the people who release the payout. The name decides nothing.
import { insertPayeeName, listPayeeNames } from '../src/db/payments/payee-name.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import { getPayout } from '../src/db/payments/payout.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Operator } from '../src/operators/port.ts';
import { callOperator, recordExchange, type ExchangeDeps } from './exchanges.ts';
import { retriedLater, withFailures } from './failures.ts';
import { LONGEST_GRANT_WAIT_MS, type OperatorCalls } from './operator-calls.ts';

type PayeeNameDeps = ExchangeDeps & {
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly calls: Pick<OperatorCalls, 'permit'>;
};

/**
 * One call, and then one statement for the name. After a name, or the absence of a name, is recorded, repeating it calls nobody and changes
 * nothing. Throws, to be retried, while the operator gives no usable answer; nothing waits for the name.
 */
export function createPayeeNameQuery(deps: PayeeNameDeps) {
  const { db, operators, calls } = deps;
  return async (ref: PaymentRef<'payout'>): Promise<void> => {
    const payout = await withFailures(() => getPayout(db, ref.merchantId, ref.id));
    const { getPayeeName } = operators[payout.operator];
    if (!getPayeeName || payout.state !== 'queued') return;
    if ((await listPayeeNames(db, [payout.id])).size > 0) return;
    const call = { kind: ref.kind, use: 'callback_query', waitMs: LONGEST_GRANT_WAIT_MS } as const;
    const permit = await calls.permit(payout.operator, call);
    if (permit.kind !== 'granted') throw retriedLater('OperatorBusy', 'the operator takes no more calls now');
    const askedAt = new Date();
    const exchanged = { ref, operator: payout.operator, requestId: payout.requestId };
    try {
      const { outcome, exchange } = await callOperator(deps, exchanged, 'name_query', () => getPayeeName(payout.phone));
      await permit.answered(outcome);
      await recordExchange(deps, ref, exchange);
      if (outcome.kind === 'unknown') {
        throw retriedLater('OperatorUnknown', `the operator gave no usable answer about the name: ${outcome.reason}`);
      }
      await insertPayeeName(db, ref, { name: outcome.kind === 'named' ? outcome.name : null, askedAt });
    } finally {
      await permit.end();
    }
  };
}
