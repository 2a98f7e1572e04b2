// Payments at M-Pesa from the request to the last webhook: statuses that come by callback, and responses that are lost.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertError } from '../api/responses.ts';
import { messagePath } from '../../src/security/callback-token.ts';
import { allRows, countRows, oneRow } from '../db/rows.ts';
import { call } from '../support/api.ts';
import { ATTESTATION_RING } from '../support/attestation.ts';
import { availableBalance, pay, untilState, type Payment } from '../support/payments.ts';
import { transitionsOf, untilAllReceived, PAID_TRANSITIONS } from '../support/payment-events.ts';
import {
  balanceOf,
  fetchPayout,
  releasedPayout,
  releaseRefund,
  transfersAccepted,
  untilPayoutState,
} from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { decideAtSandbox, promptsRaised, sandboxTransactions, switchFaults } from '../support/sandbox-operator.ts';
import { eventually, type TestMerchant } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { itFailsAtRows } from './failing-rows.ts';

let phones = 0;

/** A number of Safaricom that is unique in this file and ends in `row`. */
function phoneFor(row: string): string {
  phones += 1;
  return `254712${String(phones).padStart(3, '0')}${row}`;
}

describe('a payment at M-Pesa', () => {
  const testEnv = useTestEnvironment({
    hasDaraja: true,
    environment: { MALIPO_PROMPT_WINDOW_MS: '120000', MALIPO_RECONCILE_FOR_MS: '120000' },
  });
  let merchant: TestMerchant;

  beforeEach(async () => {
    merchant = await testEnv.addMerchant('KES');
  });

  const collect = (row: string) => pay(testEnv, row, { merchant, fields: { phone: phoneFor(row) } });

  const payOut = (row: string) => releasedPayout(testEnv, row, { merchant, phone: phoneFor(row), currency: 'KES' });

  const issued = ({ id }: Payment) =>
    oneRow<{ issued: string | null; receipt: string | null }>(
      testEnv.db,
      'SELECT operator_issued_id AS issued, operator_receipt AS receipt FROM payments WHERE id = $1',
      [id],
    );
  const messagesOf = ({ id }: Payment) => countRows(testEnv.db, 'operator_callbacks WHERE payment_id = $1', [id]);

  describe('that is collected', () => {
    it('is led there by the prefix of the phone, and has the receipt that its callback brings', async () => {
      const payment = await collect('000');
      const { operator } = await untilState(testEnv, payment, 'succeeded');
      assert.equal(operator, 'daraja');
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
      const { receipt } = await eventually('the receipt', async () => {
        const row = await issued(payment);
        return row.receipt !== null && row;
      });
      assert.match(receipt ?? '', /^[0-9A-Z]{10}$/);
      assert.match((await issued(payment)).issued ?? '', /^ws_CO_/);
      assert.equal(await availableBalance(testEnv, merchant), 5000);
      assert.equal(await promptsRaised(testEnv, payment.phone), 1);
    });

    it('succeeds when the payer approves M-Pesa’s prompt at the handset', async () => {
      const payment = await collect('099');
      const [seen] = await eventually('the prompt', async () => {
        const all = await sandboxTransactions(testEnv, payment.phone);
        return all.length > 0 && all;
      });
      const reference = seen?.operatorReference ?? '';
      await decideAtSandbox(testEnv, 'handset', { reference, choice: 'approve', pin: '1234' });
      await untilState(testEnv, payment, 'succeeded');
    });

    itFailsAtRows(testEnv, collect, { '001': 'payer_cancelled', '005': 'payer_cancelled', '013': 'payer_cancelled' });

    for (const row of ['014', '018']) {
      it(`is found by Pull where the response with its id is lost, at row ${row} of the sandbox’s table`, async () => {
        const payment = await collect(row);
        await untilState(testEnv, payment, 'succeeded');
        const found = await issued(payment);
        assert.equal(found.issued, null);
        assert.match(found.receipt ?? '', /^[0-9A-Z]{10}$/);
        assert.equal(await availableBalance(testEnv, merchant), 5000);
        assert.equal(await promptsRaised(testEnv, payment.phone), 1);
      });
    }
  });

  describe('that is paid out', () => {
    it('is paid by the message to its own address', async () => {
      const payout = await payOut('000');
      await untilPayoutState(testEnv, payout, 'succeeded');
      assert.equal(await transfersAccepted(testEnv, payout), 1);
      assert.match((await issued(payout)).receipt ?? '', /^[0-9A-Z]{10}$/);
    });

    for (const row of ['004', '018']) {
      it(`is found by the answer to a status query where its result is dropped, at row ${row}`, async () => {
        const payout = await payOut(row);
        await untilPayoutState(testEnv, payout, 'succeeded');
        const purposes = await allRows<{ purpose: string }>(
          testEnv.db,
          'SELECT DISTINCT purpose FROM operator_callbacks WHERE payment_id = $1',
          [payout.id],
        );
        assert.deepEqual(purposes, [{ purpose: 'query' }]);
        assert.equal(await transfersAccepted(testEnv, payout), 1);
      });
    }

    it('shows in its timeline what each message was sent for', async () => {
      const payout = await payOut('001');
      await untilPayoutState(testEnv, payout, 'failed');
      const viewer = await logInAs(testEnv, merchant.id, 'viewer');
      const { json } = await viewer.call('GET', `/v1/console/payouts/${payout.id}`);
      const timeline = json['timeline'] as { kind: string; purpose?: string }[];
      const purposes = timeline.flatMap(({ kind, purpose }) => (kind === 'operator_callback' ? [purpose] : []));
      assert.deepEqual(purposes.slice(0, 2), ['result', 'query']);
    });

    it('fails by two messages that agree, and its money comes back', async () => {
      const payout = await payOut('001');
      const shown = await untilPayoutState(testEnv, payout, 'failed');
      // The status that confirms the result says no more than that it failed.
      assert.equal(shown.failure?.code, 'payer_not_found');
      assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
      assert.ok((await messagesOf(payout)) >= 2);
    });

    it('is not changed by forged results', async () => {
      const payout = await payOut('010');
      await eventually('the timeout of the queue', async () => (await messagesOf(payout)) > 0);
      const path = messagePath('daraja', 'result', payout.operatorReference, ATTESTATION_RING);
      const forge = (code: number, to: string) =>
        call(testEnv.baseUrl, 'POST', to, {
          idempotencyKey: null,
          json: resultOf(payout, code),
        });
      const elsewhere = path.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      assert.notEqual((await forge(0, elsewhere)).status, 200);
      // Anyone who has the address cannot have its money returned: the operator's own answer does not agree.
      assert.equal((await forge(2040, path)).status, 200);
      const { id } = await oneRow<{ id: string }>(
        testEnv.db,
        'SELECT max(id)::text AS id FROM operator_callbacks WHERE payment_id = $1',
        [payout.id],
      );
      const readAnswers = `operator_callbacks answer
        JOIN operator_queries asked ON asked.id = answer.query_id AND asked.seen_callback_id >= $2::bigint
        JOIN operator_queries next ON next.payment_id = answer.payment_id AND next.seen_callback_id >= answer.id
        WHERE answer.payment_id = $1`;
      await eventually('the answer to a query that follows to be read', async () => {
        return (await countRows(testEnv.db, readAnswers, [payout.id, id])) > 0;
      });
      const { state } = await fetchPayout(testEnv, payout);
      assert.ok(['released', 'reconciling'].includes(state), state);
      assert.deepEqual(await balanceOf(testEnv, merchant), [15_000, 5000]);
      assert.equal(await transfersAccepted(testEnv, payout), 1);
    });
  });
});

describe('a collection at M-Pesa', () => {
  const testEnv = useTestEnvironment({
    hasDaraja: true,
    environment: { MALIPO_PROMPT_WINDOW_MS: '120000', MALIPO_RECONCILE_FOR_MS: '120000' },
  });
  let merchant: TestMerchant;

  beforeEach(async () => {
    merchant = await testEnv.addMerchant('KES');
  });
  afterEach(() => switchFaults(testEnv, {}));

  async function paid(row: string): Promise<Payment> {
    const payment = await pay(testEnv, row, { merchant, fields: { phone: phoneFor(row) } });
    await untilState(testEnv, payment, 'succeeded');
    return payment;
  }

  const hasReceipt = ({ id }: Payment) =>
    countRows(testEnv.db, 'payments WHERE id = $1 AND operator_receipt IS NOT NULL', [id]);
  const pathOf = ({ id }: Payment) => `/v1/console/collections/${id}/reversal`;
  const refundsOf = async ({ phone }: Payment) =>
    (await sandboxTransactions(testEnv, phone)).filter(({ kind }) => kind === 'refund');

  /** Its refund is requested and released. */
  async function refunded(row: string) {
    const payment = await paid(row);
    await eventually('the receipt', async () => (await hasReceipt(payment)) === 1);
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const requested = await maker.call('POST', pathOf(payment), { idempotencyKey: randomUUID() });
    assert.equal(requested.status, 202, requested.text);
    const id = String(requested.json['id']);
    const released = await releaseRefund(await logInAs(testEnv, merchant.id, 'approver'), id);
    assert.equal(released.status, 200, released.text);
    const untilRefund = (state: string) =>
      eventually(`the refund to be ${state}`, async () => {
        const { json } = await maker.call('GET', pathOf(payment));
        return json['state'] === state && json;
      });
    return { payment, id, untilRefund };
  }

  for (const row of ['000', '009', '012', '014', '016', '019', '022', '023']) {
    it(`is refunded once by the message to the refund’s own address, at row ${row} of the sandbox’s table`, async () => {
      const { payment, untilRefund } = await refunded(row);
      await untilRefund('succeeded');
      await untilState(testEnv, payment, 'reversed');
      const [refund, ...others] = await refundsOf(payment);
      assert.deepEqual([refund?.transfersTaken, others], [1, []]);
      assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    });
  }

  it('is not refunded again while nobody knows of the refund: it waits for a person', async () => {
    const { payment, untilRefund } = await refunded('018');
    await untilRefund('reconciling');
    const [refund, ...others] = await refundsOf(payment);
    assert.deepEqual([refund?.requestsReceived, refund?.transfersTaken, others], [1, 1, []]);
    await untilState(testEnv, payment, 'succeeded');
  });

  it('stays paid where two messages agree that its refund failed', async () => {
    await switchFaults(testEnv, { floatLow: true });
    const { payment, id, untilRefund } = await refunded('000');
    const { failure } = (await untilRefund('failed')) as { failure?: { code: string } };
    assert.equal(failure?.code, 'operator_unavailable');
    const purposes = await allRows<{ purpose: string }>(
      testEnv.db,
      'SELECT DISTINCT purpose FROM operator_callbacks WHERE payment_id = $1 ORDER BY 1',
      [id],
    );
    assert.deepEqual(purposes, [{ purpose: 'query' }, { purpose: 'result' }]);
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('is not refunded before its receipt is known, and nothing is recorded', async () => {
    const payment = await paid('004');
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const response = await maker.call('POST', pathOf(payment), { idempotencyKey: randomUUID() });
    assert.match(assertError(response, 'state_conflict').message, /has not told the receipt/);
    assert.equal((await maker.call('GET', pathOf(payment))).status, 404);
  });
});

/** The result of a payout in M-Pesa's form. */
function resultOf({ operatorReference }: Payment, code: number): object {
  return {
    Result: {
      ResultType: 0,
      ResultCode: code,
      ResultDesc: 'x',
      OriginatorConversationID: operatorReference,
      ConversationID: 'AG_20261127_forged',
      TransactionID: 'UKR1A2B3C4',
    },
  };
}
