// The sandbox's rows in which an operator answers wrongly, at each operator, for money in and out: what is recorded, what waits, what is paid once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { OPERATORS, type OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import { settleDiscrepancy } from '../../src/operations/payments/settle-discrepancy.ts';
import { productOf } from '../../src/domain/payments/breaker.ts';
import { payoutWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { allRows } from '../db/rows.ts';
import { collectionFields } from '../support/api.ts';
import { createPayment, pay, untilState, type Payment } from '../support/payments.ts';
import { balanceOf, fund, release, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { sandboxTransactions } from '../support/sandbox-operator.ts';
import { AMINA } from '../support/staff.ts';
import { eventually, type TestEnvironment, type TestMerchant } from '../support/test-environment.ts';
import { useTestEnvironmentPerCase } from '../support/use-test-environment.ts';
import { valuesOf } from '../support/values-of.ts';

/** A phone of each operator, without the row. */
const PHONES: Readonly<Partial<Record<OperatorId, string>>> = { 'mtn-momo': '256772000', 'airtel-money': '256752000' };

type Product = {
  readonly kind: 'collection' | 'payout';
  pay(testEnv: TestEnvironment, phone: string, merchant: TestMerchant): Promise<Payment>;
  until(testEnv: TestEnvironment, payment: Payment, state: 'succeeded' | 'reconciling'): Promise<unknown>;
  /** Available and held, once a payment of 5000 is in this state. */
  readonly balance: Readonly<Record<'succeeded' | 'reconciling', readonly [number, number]>>;
  /** Six refusals of our account in a row certainly do. */
  readonly opensBreaker: boolean;
};

const FUNDS = 20_000;

const PRODUCTS: readonly Product[] = [
  {
    kind: 'collection',
    pay: (testEnv, phone, merchant) => pay(testEnv, '', { merchant, fields: { phone } }),
    until: untilState,
    balance: { succeeded: [5000, 0], reconciling: [0, 0] },
    opensBreaker: true,
  },
  {
    kind: 'payout',
    pay: payOut,
    until: untilPayoutState,
    balance: { succeeded: [FUNDS - 5000, 0], reconciling: [FUNDS - 5000, 5000] },
    // Between its tries its status may be asked, which the operator answers.
    opensBreaker: false,
  },
];

async function payOut(testEnv: TestEnvironment, phone: string, merchant: TestMerchant): Promise<Payment> {
  await fund(testEnv, merchant, FUNDS);
  const idempotencyKey = randomUUID();
  const workflowId = payoutWorkflowId(merchant.id, idempotencyKey);
  const json = collectionFields({ phone });
  const payout = await createPayment(testEnv, '/v1/api/payouts', { merchant, idempotencyKey, json, workflowId });
  const { status, text } = await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
  assert.equal(status, 200, text);
  return payout;
}

type Found = {
  readonly id: string;
  readonly kind: string;
  readonly amount: string | null;
  readonly receipt: string | null;
};

const discrepanciesOf = ({ db }: TestEnvironment, { id }: Payment) =>
  allRows<Found>(
    db,
    'SELECT id, kind, reported_amount AS amount, operator_receipt AS receipt FROM discrepancies WHERE payment_id = $1',
    [id],
  );

/** The discrepancy of the payment, which a person settles. */
async function settled(testEnv: TestEnvironment, payment: Payment): Promise<Found> {
  const found = await eventually('the discrepancy', async () => (await discrepanciesOf(testEnv, payment))[0]);
  const how = 'cleared with the operator';
  await settleDiscrepancy(testEnv.db, { id: found.id, how, by: AMINA, at: new Date() });
  return found;
}

/** How often the operator took each payment to the phone. */
async function timesAccepted(testEnv: TestEnvironment, { phone }: Payment): Promise<number[]> {
  const transactions = await sandboxTransactions(testEnv, phone);
  return transactions.map(({ promptsRaised, transfersTaken }) => promptsRaised + transfersTaken);
}

async function receiptOf({ db }: TestEnvironment, { id }: Payment): Promise<string | undefined> {
  const sql = 'SELECT operator_receipt AS receipt FROM payments WHERE id = $1';
  return valuesOf(await allRows<{ receipt: string }>(db, sql, [id]), 'receipt')[0];
}

for (const operator of Object.keys(PHONES) as OperatorId[]) {
  for (const product of PRODUCTS) {
    describe(`a ${product.kind} at ${OPERATORS[operator].name} that is answered wrongly`, () => {
      // Each path ends by an answer, and not by a deadline that a busy machine could miss. Queries of another case's payments would be
      // answered between the refusals of an account, so that no breaker opened.
      const testEnv = useTestEnvironmentPerCase({
        environment: {
          MALIPO_PROMPT_DEADLINE_MS: '240000',
          MALIPO_PROMPT_WINDOW_MS: '240000',
          MALIPO_RECONCILE_FOR_MS: '240000',
          MALIPO_PAYOUT_SEND_DEADLINE_MS: '240000',
          MALIPO_PAYOUT_OVERDUE_MS: '240000',
        },
      });
      let merchant: TestMerchant;

      beforeEach(async () => {
        merchant = await testEnv.addMerchant();
      });

      async function paidAs(row: string, state: 'succeeded' | 'reconciling'): Promise<Payment> {
        const payment = await product.pay(testEnv, `${PHONES[operator] ?? ''}${row}`, merchant);
        await product.until(testEnv, payment, state);
        assert.deepEqual(await balanceOf(testEnv, merchant), product.balance[state]);
        assert.deepEqual(await timesAccepted(testEnv, payment), [1]);
        return payment;
      }

      it('is left to a person when another amount was paid: nothing is posted (020)', async () => {
        const payment = await paidAs('020', 'reconciling');
        const found = await settled(testEnv, payment);
        assert.deepEqual([found.kind, found.amount], ['paid_otherwise', '5001']);
      });

      it('is left to a person when its receipt has paid another payment, which stays paid (021)', async () => {
        const other = await product.pay(testEnv, `${PHONES[operator] ?? ''}000`, await testEnv.addMerchant());
        await product.until(testEnv, other, 'succeeded');
        const payment = await paidAs('021', 'reconciling');
        const receipt = await receiptOf(testEnv, other);
        const found = await settled(testEnv, payment);
        assert.deepEqual([found.kind, found.receipt], ['receipt_reused', receipt]);
        await product.until(testEnv, other, 'succeeded');
        assert.deepEqual(await discrepanciesOf(testEnv, other), []);
      });

      it('waits while the operator refuses our account, and is paid once afterwards (022)', async () => {
        const payment = await paidAs('022', 'succeeded');
        assert.deepEqual(await discrepanciesOf(testEnv, payment), []);
        if (!product.opensBreaker) return;
        const opened = await allRows(testEnv.db, 'SELECT operator, product, state FROM breakers');
        assert.deepEqual(opened, [{ operator, product: productOf(product.kind), state: 'closed' }]);
      });

      it('is neither failed nor paid by answers that cannot be read, and is paid once afterwards (023)', async () => {
        const payment = await paidAs('023', 'succeeded');
        assert.deepEqual(await discrepanciesOf(testEnv, payment), []);
      });
    });
  }
}
