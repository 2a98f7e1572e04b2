// Answers of the operator that must not be trusted, or only in part.
import assert from 'node:assert/strict';
import { findOpenDiscrepancies } from '../../src/db/payments/discrepancy.ts';
import { settleDiscrepancy } from '../../src/operations/payments/settle-discrepancy.ts';
import { json } from '../operators/stub-operator.ts';
import { AMINA } from '../support/staff.ts';
import { temporalClient } from '../support/engines.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { availableBalance, fetchPayment, pay, untilState, type Payment } from '../support/payments.ts';
import { PAID_TRANSITIONS, transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, untilPayoutState, releasedPayout } from '../support/payouts.ts';
import { CUT, startScriptedOperator, ACCEPTED, type ScriptedStatus } from '../support/scripted-operator.ts';
import { useConcurrentTests, withOwnOperator } from '../support/concurrent-tests.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const SETTINGS = {
  MALIPO_POLL_SCHEDULE_MS: '100',
  MALIPO_RECONCILE_SCHEDULE_MS: '100',
  MALIPO_OPERATOR_TIMEOUT_MS: '500',
};
const EXPIRING = {
  MALIPO_PROMPT_WINDOW_MS: '400',
  MALIPO_RECONCILE_FOR_MS: '400',
  // What expired in one case is not queried again in the next.
  MALIPO_LATE_CHECK_AGES_MS: '3600000',
};

describe('an answer of the operator', () => {
  const operator = useFixture(startScriptedOperator);
  const useEnvironment = (changes: Readonly<Record<string, string>> = {}) =>
    useTestEnvironment(() => ({
      mtnMomoUrl: operator.url,
      environment: { ...SETTINGS, ...changes },
    }));
  const testEnv = useEnvironment();
  const expiringEnv = useEnvironment(EXPIRING);
  const reconcilingEnv = useEnvironment({
    MALIPO_PROMPT_WINDOW_MS: '1000',
    MALIPO_RECONCILE_SCHEDULE_MS: '2500,300000',
    MALIPO_RECONCILE_FOR_MS: '3600000',
  });
  beforeEach(() => {
    operator.answerPrompts(ACCEPTED);
    operator.setStatus({ status: 'PENDING' });
  });
  after(() => operator.stop());

  async function paymentOfNewMerchant(at = testEnv): Promise<Payment> {
    return pay(at, '000', { merchant: await at.addMerchant(), fields: { amount: 5000 } });
  }

  const discrepancyOf = ({ db }: TestEnvironment, { id }: { readonly id: string }) =>
    eventually('the discrepancy', async () => {
      return (await findOpenDiscrepancies(db, 100)).find(({ subject }) => subject === id);
    });

  async function settle(at: TestEnvironment, payment: { readonly id: string }): Promise<void> {
    const { id } = await discrepancyOf(at, payment);
    await settleDiscrepancy(at.db, { id, how: 'cleared with the operator', by: AMINA, at: new Date() });
  }

  // All at once, each with an operator of its own.
  const test = useConcurrentTests(5);
  const assertLeftToPerson = (answer: ScriptedStatus, reported: string | null) =>
    withOwnOperator({ ...SETTINGS, ...EXPIRING }, async (ownEnv, ownOperator) => {
      ownOperator.setStatus(answer);
      const payment = await paymentOfNewMerchant(ownEnv);
      const { kind, reportedAmount, reportedCurrency } = await discrepancyOf(ownEnv, payment);
      assert.equal(kind, 'paid_otherwise');
      assert.equal(reportedAmount === null ? null : `${reportedAmount} ${reportedCurrency}`, reported);
      const countQueries = () => ownOperator.statusQueries(payment.operatorReference);
      const queries = countQueries();
      await eventually('more status queries', () => countQueries() > queries + 5);
      assert.equal((await fetchPayment(ownEnv, payment)).state, 'reconciling');
      assert.equal(await availableBalance(ownEnv, payment.merchant), 0);
      await settle(ownEnv, payment);
      const shown = await untilState(ownEnv, payment, 'expired');
      assert.equal(shown.failure?.code, 'unknown');
      assert.equal(await availableBalance(ownEnv, payment.merchant), 0);
    });

  const WRONG_ANSWERS: readonly [string, ScriptedStatus, string][] = [
    ['more than was requested', { status: 'SUCCESSFUL', amount: '50000' }, '50000 UGX'],
    ['less than was requested', { status: 'SUCCESSFUL', amount: '4999' }, '4999 UGX'],
    ['the right number in another currency', { status: 'SUCCESSFUL', currency: 'EUR' }, '5000 EUR'],
  ];
  for (const [what, answer, reported] of WRONG_ANSWERS) {
    test(`is a discrepancy at once when it says that ${what} was paid, which a person must settle`, () =>
      assertLeftToPerson(answer, reported));
  }
  for (const amount of ['-5000', '5,000']) {
    test(`is a discrepancy at once when it says that ${amount} was paid, which nobody can read`, () =>
      assertLeftToPerson({ status: 'SUCCESSFUL', amount }, null));
  }

  it('holds the money of a payout of which it says that other money was paid, until it says otherwise', async () => {
    const merchant = await testEnv.addMerchant();
    operator.setStatus({ status: 'SUCCESSFUL', amount: '1' });
    const payout = await releasedPayout(testEnv, '000', { merchant });
    await untilPayoutState(testEnv, payout, 'reconciling');
    await discrepancyOf(testEnv, payout);
    assert.deepEqual(await balanceOf(testEnv, merchant), [20_000 - payout.amount, payout.amount]);
    operator.setStatus({ status: 'SUCCESSFUL' });
    await untilPayoutState(testEnv, payout, 'succeeded');
    await settle(testEnv, payout);
  });

  it('makes the payment succeed as soon as it confirms the requested amount', async () => {
    operator.setStatus({ status: 'SUCCESSFUL', amount: '1' });
    const payment = await paymentOfNewMerchant();
    await untilState(testEnv, payment, 'prompted');
    await eventually('a status query', () => operator.statusQueries(payment.operatorReference) > 0);
    operator.setStatus({ status: 'SUCCESSFUL', amount: '5000.00' });
    await untilState(testEnv, payment, 'succeeded');
    assert.equal(await availableBalance(testEnv, payment.merchant), payment.amount);
    await settle(testEnv, payment);
  });

  it('ends a payment as undecided once somebody settled that it gave the receipt of another payment', async () => {
    operator.setStatus({ status: 'SUCCESSFUL', financialTransactionId: '4721' });
    const paid = await paymentOfNewMerchant(expiringEnv);
    await untilState(expiringEnv, paid, 'succeeded');
    const payment = await paymentOfNewMerchant(expiringEnv);
    await settle(expiringEnv, payment);
    const shown = await untilState(expiringEnv, payment, 'expired');
    assert.equal(shown.failure?.code, 'unknown');
    assert.equal(await availableBalance(expiringEnv, payment.merchant), 0);
  });

  it('leaves a payment undecided, and tells the staff, when it gives the receipt of another payment', async () => {
    operator.setStatus({ status: 'SUCCESSFUL', financialTransactionId: '4711' });
    const paid = await paymentOfNewMerchant(expiringEnv);
    await untilState(expiringEnv, paid, 'succeeded');
    const payment = await paymentOfNewMerchant(expiringEnv);
    await untilState(expiringEnv, payment, 'reconciling');
    const found = await eventually('the discrepancy', async () => (await findOpenDiscrepancies(expiringEnv.db, 1))[0]);
    assert.deepEqual([found.subject, found.kind, found.operatorReceipt], [payment.id, 'receipt_reused', '4711']);
    assert.equal(await availableBalance(expiringEnv, payment.merchant), 0);
    // The queries go on, so the payment still ends as the operator says once it says something that can be true.
    operator.setStatus({ status: 'SUCCESSFUL', financialTransactionId: '4712' });
    await untilState(expiringEnv, payment, 'succeeded');
    assert.equal(await availableBalance(expiringEnv, payment.merchant), payment.amount);
    // Whether the prompt has run out by then is a matter of speed.
    const states = transitionsOf(await untilAllReceived(expiringEnv, payment)).map((each) => each.replace(' late', ''));
    assert.deepEqual(states, ['initiated > prompted', 'prompted > reconciling', 'reconciling > succeeded']);
    await settleDiscrepancy(expiringEnv.db, {
      id: found.id,
      how: 'looked into by the test',
      by: AMINA,
      at: new Date(),
    });
  });

  it('is queried at the first step of the reconcile schedule once the outcome is overdue', async () => {
    const payment = await paymentOfNewMerchant(reconcilingEnv);
    await untilState(reconcilingEnv, payment, 'reconciling');
    operator.setStatus({ status: 'SUCCESSFUL' });
    await untilState(reconcilingEnv, payment, 'succeeded');
  });

  it('makes the payment fail at once when it refuses the first try of the prompt request', async () => {
    operator.answerPrompts(json(400, { code: 'PAYER_NOT_FOUND', message: 'No such payer.' }));
    const payment = await paymentOfNewMerchant();
    const shown = await untilState(testEnv, payment, 'failed');
    assert.equal(shown.failure?.code, 'payer_not_found');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), ['initiated > failed']);
    assert.equal(operator.prompts(payment.operatorReference), 1);
    const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
    assert.equal(await handle.result(), 'failed');
    assert.equal(
      operator.statusQueries(payment.operatorReference),
      0,
      'a payment that was refused at once is not queried',
    );
  });

  it('counts as acceptance when it tells a second try that it has this prompt already', async () => {
    let tries = 0;
    operator.answerPrompts((response) => {
      tries += 1;
      // The first try is accepted, and its answer never comes.
      if (tries > 1) json(409, { code: 'RESOURCE_ALREADY_EXIST', message: 'Duplicated reference id.' })(response);
    });
    operator.setStatus({ status: 'SUCCESSFUL' });
    const payment = await paymentOfNewMerchant();
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
    assert.equal(operator.prompts(payment.operatorReference), 2);
  });

  it('leads to a status query when it refuses a prompt that the operator may have accepted before', async () => {
    // The answer to the first try is lost; the refusal of the second try says nothing about the first.
    let tries = 0;
    operator.answerPrompts((response, received) => {
      tries += 1;
      if (tries === 1) CUT(response, received);
      else json(400, { code: 'PAYER_NOT_FOUND', message: 'No such payer.' })(response);
    });
    operator.setStatus({ status: 'SUCCESSFUL' });
    const payment = await paymentOfNewMerchant();
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
    assert.equal(await availableBalance(testEnv, payment.merchant), payment.amount);
  });
});
