// The breaker of an operator's product: which payments it is of, and how long its pauses are.
import assert from 'node:assert/strict';
import { kindsOf, pauseMs, productOf, PRODUCTS } from '../../../src/domain/payments/breaker.ts';
import { failureOf } from '../../../src/domain/payments/failure.ts';
import { PAYMENT_KINDS } from '../../../src/domain/payments/payment.ts';

describe('a breaker', () => {
  it('is of the product for which a payment of each kind calls the operator', () => {
    assert.deepEqual(kindsOf(['collection']), ['collection']);
    assert.deepEqual(kindsOf(['disbursement']), ['payout', 'reversal']);
    assert.deepEqual(kindsOf(PRODUCTS), PAYMENT_KINDS);
    for (const kind of PAYMENT_KINDS) assert.ok(kindsOf([productOf(kind)]).includes(kind));
  });

  it('has pauses that grow by the schedule, whose last one repeats', () => {
    const pauses = [0, 1, 2, 50].map((count) => pauseMs([2000, 5000, 20_000], count));
    assert.deepEqual(pauses, [2000, 5000, 20_000, 20_000]);
  });

  it('makes a payment that nobody tried to send end as the outage of its operator, and otherwise as ours', () => {
    assert.equal(failureOf({ kind: 'never_sent', isOperatorAway: true }), 'operator_unavailable');
    assert.equal(failureOf({ kind: 'never_sent', isOperatorAway: false }), 'service_unavailable');
    assert.equal(failureOf({ kind: 'never_sent' }), 'service_unavailable');
  });
});
