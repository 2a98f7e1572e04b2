// How the checker of campaigns finds the payments of each operator: by the name that the operator has for them.
import assert from 'node:assert/strict';
import type { OperatorPayment } from '../../chaos/checker/evidence.ts';
import { operatorRules } from '../../chaos/checker/operator-rules.ts';
import { progressRules } from '../../chaos/checker/progress-rules.ts';
import type { CollectionRow, PayoutRow, ReversalRow } from '../../chaos/checker/records.ts';
import { byOurReferences, hasReceipt, minorAmountOf } from '../../chaos/checker/wires.ts';
import { accountReferenceOf } from '../../src/operators/daraja/account-reference.ts';
import { transactionIdOf } from '../../src/operators/airtel-money/transaction-id.ts';
import { EMPTY_CASE } from './empty-case.ts';
import { AT, PAYOUT_ROW } from './payout-row.ts';

const REFERENCE = 'a726d605-7421-49ca-9633-9d1a253732f5';
const KES = { operator: 'daraja', currency: 'KES', phone: '254711000000', operatorReference: REFERENCE } as const;

const COLLECTION: CollectionRow = {
  ...PAYOUT_ROW,
  ...KES,
  id: 'col_1',
  state: 'succeeded',
  sendDeadlineAt: AT,
  promptExpiresAt: AT,
};

function payment(changes: Partial<OperatorPayment>): OperatorPayment {
  return {
    kind: 'collection',
    wire: 'daraja',
    operatorReference: 'ws_co_1',
    externalId: accountReferenceOf(REFERENCE),
    originalReference: null,
    phone: KES.phone,
    amount: '50',
    currency: 'KES',
    row: '000',
    state: 'SUCCESSFUL',
    reason: null,
    financialTransactionId: '123456789',
    receivedAtMs: AT.getTime(),
    decidedAtMs: AT.getTime(),
    givenBackAtMs: null,
    promptsRaised: 1,
    transfersTaken: 0,
    ...changes,
  };
}

function judge(
  payments: readonly OperatorPayment[],
  rows: { collection?: CollectionRow; payout?: PayoutRow; reversal?: ReversalRow },
) {
  const records = {
    ...EMPTY_CASE.records,
    collections: rows.collection ? [rows.collection] : [],
    payouts: rows.payout ? [rows.payout] : [],
    reversals: rows.reversal ? [rows.reversal] : [],
  };
  const operator = byOurReferences(new Map(payments.map((each) => [each.operatorReference, each])), records);
  const waiting = rows.reversal?.state === 'reconciling' ? rows.reversal : rows.payout;
  const workflows = [{ workflowId: 'w', type: 'payout', resourceId: waiting?.id ?? null, taskAttempts: 0 }];
  const evidence = { ...EMPTY_CASE, records, operator, workflows };
  return [...operatorRules(evidence), ...progressRules(evidence)].map(({ rule, id }) => `${rule} ${id}`);
}

describe('the checker of campaigns', () => {
  it('finds a prompt of M-Pesa by its account reference, and a second one of the same collection as unknown', () => {
    assert.deepEqual(judge([payment({})], { collection: COLLECTION }), []);
    const twice = judge([payment({}), payment({ operatorReference: 'ws_co_2' })], { collection: COLLECTION });
    assert.deepEqual(twice, ['operator_payment_unknown ws_co_2', 'sent_twice col_1']);
  });

  it('finds a payment of Airtel by its transaction id', () => {
    const changes = { operator: 'airtel-money', currency: 'UGX', phone: '256752000000' } as const;
    const id = transactionIdOf(REFERENCE).toLowerCase();
    const { currency, phone } = changes;
    const sent = payment({ wire: 'airtel-money', operatorReference: id, currency, phone, amount: '5000' });
    assert.deepEqual(judge([sent], { collection: { ...COLLECTION, ...changes } }), []);
  });

  describe('for a refund of Airtel, which only its collection names', () => {
    const ofAirtel = { operator: 'airtel-money', currency: 'UGX', phone: '256752000000' } as const;
    const id = transactionIdOf(REFERENCE).toLowerCase();
    const own = { wire: 'airtel-money', currency: ofAirtel.currency, phone: ofAirtel.phone, amount: '5000' } as const;
    const collected = payment({ ...own, operatorReference: id });
    const refunded = payment({
      ...own,
      ...{ kind: 'refund', operatorReference: `refund-${id}`, originalReference: id },
      ...{ externalId: null, promptsRaised: 0, transfersTaken: 1 },
    });
    const collection = { ...COLLECTION, ...ofAirtel, state: 'reversed' };
    const reversal: ReversalRow = {
      ...{ ...PAYOUT_ROW, ...ofAirtel, id: 'rev_1', state: 'succeeded', collectionId: collection.id },
      operatorReference: '7d9f3c52-1f0e-4b7a-8c1d-ba9876543210',
    };
    // Nobody released it here.
    const rulesOf = (payments: readonly OperatorPayment[], row: ReversalRow, paid: CollectionRow = collection) =>
      judge(payments, { collection: paid, reversal: row }).filter((violation) => !violation.includes('release'));

    it('finds it, and its collection as refunded', () => {
      assert.deepEqual(rulesOf([collected, refunded], reversal), []);
      const twice = rulesOf([collected, { ...refunded, transfersTaken: 2 }], reversal);
      assert.deepEqual(twice, ['sent_twice rev_1']);
    });

    it('finds nothing wrong if the operator returned the collection by itself while the refund was sent', () => {
      const returned = { ...collected, givenBackAtMs: AT.getTime() };
      assert.deepEqual(rulesOf([returned], reversal), []);
      assert.deepEqual(rulesOf([collected], reversal, { ...collection, state: 'succeeded' }), [
        'state_contradicts_operator rev_1',
      ]);
    });

    it('lets it wait for ever while nobody can know whether the operator has it', () => {
      const waiting = { ...reversal, state: 'reconciling' };
      const left = { ...refunded, row: '011', state: 'NOT_ACCEPTED', transfersTaken: 0 } as const;
      const [paid, rows] = [{ ...collection, state: 'succeeded' }, [collected, left] as const];
      assert.deepEqual(rulesOf(rows, waiting, paid), []);
    });
  });

  it('finds a refund of M-Pesa by its collection, and lets one wait of which nobody was told', () => {
    const refunded = payment({
      ...{ kind: 'refund', operatorReference: '71840-27539181-1', externalId: '71840-27539181-1' },
      ...{ originalReference: 'ws_co_1', promptsRaised: 0, transfersTaken: 1, row: '018' },
    });
    const collection = { ...COLLECTION, state: 'reversed' };
    const reversal: ReversalRow = {
      ...{ ...PAYOUT_ROW, ...KES, id: 'rev_1', state: 'succeeded', collectionId: collection.id },
      operatorReference: '7d9f3c52-1f0e-4b7a-8c1d-ba9876543210',
    };
    const rulesOf = (row: ReversalRow, payments = [payment({}), refunded]) =>
      judge(payments, { collection, reversal: row }).filter((violation) => !violation.includes('release'));
    assert.deepEqual(rulesOf(reversal), []);
    const twice = { ...refunded, operatorReference: '71840-27539181-2' };
    assert.ok(rulesOf(reversal, [payment({}), refunded, twice]).includes('sent_twice rev_1'));
    const waiting = { ...reversal, state: 'reconciling' };
    assert.ok(!rulesOf(waiting).includes('payment_stuck rev_1'));
    assert.ok(rulesOf(waiting, [payment({}), { ...refunded, row: '000' }]).includes('payment_stuck rev_1'));
  });

  it('counts shillings of Kenya in cents, and knows the receipts of each wire', () => {
    assert.equal(minorAmountOf(payment({})), 5000);
    assert.equal(minorAmountOf(payment({ currency: 'UGX' })), 50);
    assert.equal(hasReceipt(payment({ wire: 'airtel-money' }), 'CI123456789'), true);
    assert.equal(hasReceipt(payment({ wire: 'mtn-momo' }), '123456789'), true);
    const end = (123_456_789).toString(36).toUpperCase().padStart(7, '0');
    assert.deepEqual(
      [`UKR${end}`, 'UKR0000000', end].map((receipt) => hasReceipt(payment({}), receipt)),
      [true, false, false],
    );
  });

  it('takes a returned prompt of M-Pesa as paid, because M-Pesa tells nobody', () => {
    const returned = payment({ state: 'FAILED', givenBackAtMs: AT.getTime() });
    assert.deepEqual(judge([returned], { collection: COLLECTION }), []);
  });

  it('lets a payout that is sent once wait where its only answer decides nothing, and names every other one as stuck', () => {
    const payout: PayoutRow = { ...PAYOUT_ROW, ...KES, id: 'pay_1', state: 'reconciling' };
    const refused = { kind: 'payout', operatorReference: REFERENCE, state: 'NOT_ACCEPTED', promptsRaised: 0 } as const;
    assert.deepEqual(stuck(judge([payment({ ...refused, row: '011' })], { payout })), []);
    assert.deepEqual(stuck(judge([payment({ ...refused, row: '016' })], { payout })), ['payment_stuck pay_1']);
    assert.deepEqual(stuck(judge([], { payout })), ['payment_stuck pay_1']);
  });
});

function stuck(found: readonly string[]): string[] {
  return found.filter((each) => each.startsWith('payment_stuck'));
}
