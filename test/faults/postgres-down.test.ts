// PostgreSQL stops and starts again: requests are refused while nothing can be recorded, and nothing is lost.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { startOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { assertLedgerIsSound, callBack, pay, phoneFor, untilState, type Payment } from '../support/payments.ts';
import { untilAllReceived, untilPaidOnce } from '../support/payment-events.ts';
import { promptsRaised, switchFaults } from '../support/sandbox-operator.ts';
import { countRows } from '../db/rows.ts';

// Each test continues where the one before it ended.
describe('the service without PostgreSQL', () => {
  let postgres: OwnPostgres;
  let testEnv: TestEnvironment;
  let pending: Payment;
  let sending: Payment;
  const idempotencyKey = randomUUID();
  const phone = phoneFor('000');

  before(async () => {
    postgres = await startOwnPostgres('postgres-down');
    testEnv = await startTestEnvironment({
      database: postgres,
      environment: {
        MALIPO_DATABASE_TIMEOUT_MS: '3000',
        MALIPO_PROMPT_WINDOW_MS: '60000',
        MALIPO_OPERATOR_TIMEOUT_MS: '5000',
        MALIPO_NOT_FOUND_GRACE_MS: '6000',
      },
      sandboxTimes: { decisionMs: 1000 },
    });
    // This also loads the API document, with which responses are compared, while the database runs.
    pending = await pay(testEnv, '000');
    await untilState(testEnv, pending, 'prompted');
    // So slow that the operator responds to the next prompt when the database is stopped.
    await switchFaults(testEnv, { latencyMs: 1500 });
    sending = await pay(testEnv, '000');
    await eventually('the prompt to be sent', () => isCallingOperator(sending));
    await sleep(200);
    await postgres.halt();
  });
  after(async () => {
    await testEnv.stop();
    await postgres.stop();
  });

  // The row says so before the call.
  async function isCallingOperator({ id }: Payment): Promise<boolean> {
    return (await countRows(testEnv.db, 'payments WHERE id = $1 AND send_begun_at IS NOT NULL', [id])) > 0;
  }

  const post = (): Promise<ApiResponse> =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      idempotencyKey,
      json: collectionFields({ phone }),
    });

  it('refuses a payment request with 503, to be repeated with the same key', async () => {
    const answer = await post();
    assert.deepEqual([answer.status, answer.json.error?.code], [503, 'service_unavailable']);
    assert.match(String(answer.headers.get('retry-after')), /^[0-9]+$/);
  });

  it('refuses a read with 503', async () => {
    const { status } = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${pending.id}`, {
      key: testEnv.merchant.key,
    });
    assert.equal(status, 503);
  });

  it('refuses an operator’s callback with 503, because it cannot be stored', async () => {
    assert.equal((await callBack(testEnv, pending.operatorReference, 'SUCCESSFUL')).status, 503);
  });

  it('is not ready, but alive', async () => {
    const { status, json } = await call(testEnv.baseUrl, 'GET', '/readyz');
    assert.equal(status, 503);
    assert.equal((json['parts'] as { database: string }).database, 'down');
    assert.equal((await call(testEnv.baseUrl, 'GET', '/healthz')).status, 200);
  });

  it('completes a pending payment when PostgreSQL is back, although the callback was refused', async () => {
    await eventually('the refused callback', async () => {
      const response = await fetch(`${testEnv.sandbox.url}/sandbox/transactions?phone=${pending.phone}`);
      const [transaction] = (await response.json()) as { callbackResults: { result: string }[] }[];
      return transaction?.callbackResults[0]?.result === 'http 503';
    });
    await eventually('the prompt to be raised', async () => {
      return (await promptsRaised(testEnv, sending.phone)) === 1;
    });
    // Longer than one workflow task: the recording is retried within it.
    await sleep(1500);
    await switchFaults(testEnv, {});
    await postgres.start();
    await untilPaidOnce(testEnv, pending, 40_000);
  });

  it('records a prompt that the operator accepted meanwhile', async () => {
    await untilPaidOnce(testEnv, sending, 40_000);
  });

  it('has not recorded the refused request, and the same key creates one payment now', async () => {
    const { rows } = await testEnv.db.pool.query("SELECT id FROM payments WHERE kind = 'collection' AND phone = $1", [
      phone,
    ]);
    assert.deepEqual(rows, []);
    const answer = await post();
    assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [202, null]);
    const payment: Payment = { ...pending, id: String(answer.json['id']), phone };
    await untilState(testEnv, payment, 'succeeded');
    await untilAllReceived(testEnv, payment);
    assert.equal(await promptsRaised(testEnv, phone), 1);
    await assertLedgerIsSound(testEnv.db);
  });
});
