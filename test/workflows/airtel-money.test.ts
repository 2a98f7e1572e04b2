// Payments at Airtel Money from the request to the last webhook, beside those at MTN of the same merchant.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { transactionIdOf } from '../../src/operators/airtel-money/transaction-id.ts';
import { assertError } from '../api/responses.ts';
import { oneRow } from '../db/rows.ts';
import { call } from '../support/api.ts';
import { assertLedgerIsSound, availableBalance, pay, untilState } from '../support/payments.ts';
import { transitionsOf, untilAllReceived, PAID_TRANSITIONS } from '../support/payment-events.ts';
import { releasedPayout, releaseRefund, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { decideAtSandbox, sandboxTransactions } from '../support/sandbox-operator.ts';
import { eventually, type TestMerchant } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { valuesOf } from '../support/values-of.ts';
import { itFailsAtRows } from './failing-rows.ts';

const phoneFor = (row: string) => `256752000${row}`;

describe('a payment at Airtel Money', () => {
  const testEnv = useTestEnvironment({ environment: { MALIPO_PROMPT_WINDOW_MS: '120000' } });
  let merchant: TestMerchant;

  beforeEach(async () => {
    merchant = await testEnv.addMerchant();
  });

  const collect = (row: string) => pay(testEnv, row, { merchant, fields: { phone: phoneFor(row) } });

  const payOut = (row: string) => releasedPayout(testEnv, row, { merchant, phone: phoneFor(row) });

  it('is led there by the prefix of the phone, and the other to MTN', async () => {
    const payments = [await collect('000'), await pay(testEnv, '000', { merchant })];
    const shown = await Promise.all(payments.map((payment) => untilState(testEnv, payment, 'succeeded')));
    assert.deepEqual(valuesOf(shown, 'operator'), ['airtel-money', 'mtn-momo']);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payments[0]!)), PAID_TRANSITIONS);
    const { receipt } = await oneRow<{ receipt: string }>(
      testEnv.db,
      'SELECT operator_receipt AS receipt FROM payments WHERE id = $1',
      [payments[0]!.id],
    );
    assert.match(receipt, /^CI\d+$/);
    assert.equal(await availableBalance(testEnv, merchant), 10_000);
    await assertLedgerIsSound(testEnv.db);
  });

  itFailsAtRows(testEnv, collect, {
    '001': 'payer_cancelled',
    '005': 'payer_cancelled',
    '006': 'insufficient_funds',
    '013': 'payer_cancelled',
  });

  for (const row of ['004', '008', '011', '012', '014', '018']) {
    it(`is collected once at row ${row} of the sandbox’s table`, async () => {
      const payment = await collect(row);
      await untilState(testEnv, payment, 'succeeded');
      const seen = await sandboxTransactions(testEnv, payment.phone);
      const id = transactionIdOf(payment.operatorReference).toLowerCase();
      const own = seen.find(({ operatorReference }) => operatorReference === id);
      assert.equal(own?.promptsRaised, 1);
    });
  }

  it('is reversed when the operator gives the money back, and names no receipt any more', async () => {
    await untilState(testEnv, await collect('015'), 'reversed');
    assert.equal(await availableBalance(testEnv, merchant), 0);
    await assertLedgerIsSound(testEnv.db);
  });

  it('shows Airtel’s prompt at the handset, and succeeds when the payer approves it there', async () => {
    const payment = await collect('099');
    await eventually('the prompt', async () => (await sandboxTransactions(testEnv, payment.phone)).length > 0);
    const page = await fetch(`${testEnv.sandbox.url}/sandbox/handset?phone=${payment.phone}`);
    assert.match(await page.text(), /Airtel Money: enter your PIN to pay/);
    const reference = transactionIdOf(payment.operatorReference).toLowerCase();
    await decideAtSandbox(testEnv, 'handset', { reference, choice: 'approve', pin: '1234' });
    await untilState(testEnv, payment, 'succeeded');
  });

  it('is paid out with the PIN of our wallet, once', async () => {
    for (const row of ['000', '014']) {
      const payout = await payOut(row);
      await untilPayoutState(testEnv, payout, 'succeeded');
      const [seen] = await sandboxTransactions(testEnv, payout.phone);
      assert.deepEqual([seen?.kind, seen?.transfersTaken], ['payout', 1]);
    }
    await assertLedgerIsSound(testEnv.db);
  });

  it('is not paid out to a phone without an account', async () => {
    const shown = await untilPayoutState(testEnv, await payOut('001'), 'failed');
    assert.equal(shown.failure?.code, 'payer_not_found');
    assert.equal(await availableBalance(testEnv, merchant), 20_000);
  });

  /** A paid collection of this row, and the request of its refund. */
  async function requested(row: string, json?: object) {
    const payment = await collect(row);
    await untilState(testEnv, payment, 'succeeded');
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const path = `/v1/console/collections/${payment.id}/reversal`;
    const response = await maker.call('POST', path, { idempotencyKey: randomUUID(), ...(json && { json }) });
    return { payment, path, maker, response };
  }

  async function refunded(row: string) {
    const { payment, path, maker, response } = await requested(row);
    assert.equal(response.status, 202, response.text);
    const released = await releaseRefund(await logInAs(testEnv, merchant.id, 'approver'), String(response.json['id']));
    assert.equal(released.status, 200, released.text);
    const untilRefund = (state: string) =>
      eventually(`the refund to be ${state}`, async () => (await maker.call('GET', path)).json['state'] === state);
    return { payment, untilRefund };
  }

  const refundsAtOperator = async ({ phone }: { readonly phone: string }) =>
    (await sandboxTransactions(testEnv, phone)).filter(({ kind }) => kind === 'refund');

  for (const row of ['000', '009', '012', '014', '016', '018', '019', '022', '023']) {
    it(`is refunded once at row ${row} of the sandbox’s table, when the operator has returned the collection`, async () => {
      const { payment, untilRefund } = await refunded(row);
      await untilState(testEnv, payment, 'reversed');
      await untilRefund('succeeded');
      const [refund, ...others] = await refundsAtOperator(payment);
      assert.deepEqual([refund?.transfersTaken, others], [1, []]);
      assert.equal(await availableBalance(testEnv, merchant), 0);
      await assertLedgerIsSound(testEnv.db);
    });
  }

  it('is not refunded again while nobody knows whether the operator has the refund: it waits for a person', async () => {
    const { payment, untilRefund } = await refunded('011');
    await untilRefund('reconciling');
    const [refund] = await refundsAtOperator(payment);
    assert.deepEqual([refund?.requestsReceived, refund?.transfersTaken], [1, 0]);
    assert.equal((await untilState(testEnv, payment, 'succeeded')).state, 'succeeded');
  });

  it('is refunded as a whole: a request that names an amount is refused, and nothing is recorded', async () => {
    const { payment, path, maker, response } = await requested('501', { amount: 100 });
    assertError(response, 'parameter_unknown');
    assert.equal((await maker.call('GET', path)).status, 404);
    assert.deepEqual(await refundsAtOperator(payment), []);
  });

  it('has callbacks that name it by its id alone, and that a stranger’s changes nothing', async () => {
    const payment = await collect('010');
    await untilState(testEnv, payment, 'prompted');
    const transaction = { id: transactionIdOf(payment.operatorReference), status_code: 'TS', airtel_money_id: 'CI1' };
    const path = '/operators/airtel-money/callbacks';
    assert.equal((await call(testEnv.baseUrl, 'POST', path, { json: { transaction } })).status, 200);
    assertError(await call(testEnv.baseUrl, 'POST', path, { json: { transaction: { id: 'x' } } }), 'body_malformed');
    assert.equal(await availableBalance(testEnv, merchant), 0);
  });
});
