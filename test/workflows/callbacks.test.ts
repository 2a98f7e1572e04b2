// Callbacks are only hints: repeated, early, late or forged, they change nothing that the operator does not confirm.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporalClient } from '../support/engines.ts';
import { eventually } from '../support/test-environment.ts';
import { availableBalance, callBack, fetchPayment, pay, untilState, type Payment } from '../support/payments.ts';
import { PAID_TRANSITIONS, storedEvents, transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { countRows } from '../db/rows.ts';

async function latestRun({ workflowId }: Payment): Promise<{ runId: string; status: string }> {
  const { runId, status } = await (await temporalClient()).workflow.getHandle(workflowId).describe();
  return { runId, status: status.name };
}

describe('a callback of the operator', () => {
  // Only a callback makes the workflow query the status in time.
  const NO_POLLS = { MALIPO_POLL_SCHEDULE_MS: '300000', MALIPO_PROMPT_WINDOW_MS: '600000' };
  const QUERY_GAP_MS = 200;
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    mtnMomoUrl: operator.url,
    environment: {
      ...NO_POLLS,
      MALIPO_MINIMUM_QUERY_GAP_MS: String(QUERY_GAP_MS),
    },
  }));
  beforeEach(() => {
    operator.setStatus({ status: 'PENDING' });
  });
  after(() => operator.stop());

  async function promptedPayment(): Promise<Payment> {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'prompted');
    return payment;
  }

  it('makes the workflow query the status at once', async () => {
    const payment = await promptedPayment();
    operator.setStatus({ status: 'SUCCESSFUL' });
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await untilState(testEnv, payment, 'succeeded');
  });

  it('moves no money when it claims success while the operator status is pending', async () => {
    const payment = await promptedPayment();
    const balance = await availableBalance(testEnv, payment.merchant);
    const response = await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    assert.equal(response.status, 200);
    await eventually('a status query', () => operator.statusQueries(payment.operatorReference) > 0);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'prompted');
    assert.equal(await availableBalance(testEnv, payment.merchant), balance);
  });

  it('has the status queried within its own workflow task when the last query was a moment ago', async () => {
    const payment = await promptedPayment();
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await eventually('a status query', () => operator.statusQueries(payment.operatorReference) > 0);
    operator.setStatus({ status: 'SUCCESSFUL' });
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await untilState(testEnv, payment, 'succeeded');
    const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const others = events?.filter(
      ({ activityTaskScheduledEventAttributes, timerStartedEventAttributes }) =>
        activityTaskScheduledEventAttributes ?? timerStartedEventAttributes,
    );
    assert.deepEqual(others, []);
  });

  it('changes the payment once when it comes twice', async () => {
    const payment = await promptedPayment();
    operator.setStatus({ status: 'SUCCESSFUL' });
    await Promise.all([1, 2].map(() => callBack(testEnv, payment.operatorReference, 'SUCCESSFUL')));
    await untilState(testEnv, payment, 'succeeded');
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
  });

  it('leads to a bounded number of status queries and stored callbacks when it is repeated without end', async () => {
    const payment = await promptedPayment();
    const storedBefore = await countRows(testEnv.db, 'operator_callbacks');
    const beganMs = Date.now();
    for (let i = 0; i < 40; i++) await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await eventually('a status query', () => operator.statusQueries(payment.operatorReference) > 0);
    // One more gap: the query for the last callbacks may wait until then.
    await sleep(QUERY_GAP_MS);
    const mostQueries = Math.ceil((Date.now() - beganMs) / QUERY_GAP_MS) + 1;
    const queries = operator.statusQueries(payment.operatorReference);
    assert.ok(queries >= 1 && queries <= mostQueries, `${queries} status queries, ${mostQueries} at most`);
    assert.equal((await countRows(testEnv.db, 'operator_callbacks')) - storedBefore, 20);
  });

  it('receives a response and is not stored when it is for an unknown payment', async () => {
    const before = await countRows(testEnv.db, 'operator_callbacks');
    const response = await callBack(testEnv, randomUUID(), 'SUCCESSFUL');
    assert.deepEqual([response.status, await response.json()], [200, {}]);
    assert.equal(await countRows(testEnv.db, 'operator_callbacks'), before);
  });

  it('changes nothing and starts no workflow at once when it comes after a failure', async () => {
    const payment = await promptedPayment();
    operator.setStatus({ status: 'FAILED', reason: 'APPROVAL_REJECTED' });
    await callBack(testEnv, payment.operatorReference, 'FAILED');
    await untilState(testEnv, payment, 'failed');
    await eventually('the workflow to close', async () => (await latestRun(payment)).status === 'COMPLETED');
    const { runId } = await latestRun(payment);
    operator.setStatus({ status: 'SUCCESSFUL' });
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await sleep(300);
    assert.equal((await latestRun(payment)).runId, runId);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'failed');
    assert.equal((await storedEvents(testEnv.db, payment.id)).length, 2);
  });
});

describe('a callback of the sandbox operator', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_POLL_SCHEDULE_MS: '600000', MALIPO_PROMPT_WINDOW_MS: '600000' },
  });

  it('is not lost when it comes before the answer to the prompt request', async () => {
    const payment = await pay(testEnv, '012');
    const shown = await untilState(testEnv, payment, 'succeeded');
    assert.equal(shown.failure, null);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
  });
});

describe('a callback after the prompt window', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_POLL_SCHEDULE_MS: '30000',
      MALIPO_PROMPT_WINDOW_MS: '400',
      MALIPO_RECONCILE_SCHEDULE_MS: '100',
      MALIPO_RECONCILE_FOR_MS: '300',
    },
    // Long after it has expired, also on a slow machine.
    sandboxTimes: { decisionMs: 6000, undecidedMs: 6000 },
  });

  it('leads to a late success, which the event marks, when it comes after the payment expired', async () => {
    const payment = await pay(testEnv, '009', { merchant: await testEnv.addMerchant() });
    const expired = await untilState(testEnv, payment, 'expired');
    assert.equal(expired.failure?.code, 'unknown');
    assert.equal(await availableBalance(testEnv, payment.merchant), 0);
    await untilState(testEnv, payment, 'succeeded');
    const transitions = transitionsOf(await untilAllReceived(testEnv, payment));
    assert.deepEqual(transitions.slice(-2), ['reconciling > expired', 'expired > succeeded late']);
    assert.equal(await availableBalance(testEnv, payment.merchant), payment.amount);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});

describe('a callback for a payment whose workflow was lost', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_POLL_SCHEDULE_MS: '200', MALIPO_PROMPT_WINDOW_MS: '60000' },
    sandboxTimes: { decisionMs: 1200 },
  });

  it('starts the workflow again, and the payment succeeds', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'prompted');
    await (await temporalClient()).workflow.getHandle(payment.workflowId).terminate('lost, for a test');
    assert.equal((await latestRun(payment)).status, 'TERMINATED');
    await untilState(testEnv, payment, 'succeeded');
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});

describe('the address for callbacks', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  before(async () => {
    // The operator cannot reach the public address.
    await testEnv.startServer({ MALIPO_PUBLIC_URL: 'http://127.0.0.1:1', MALIPO_CALLBACK_URL: `${testEnv.baseUrl}/` });
  });

  it('receives the callbacks when it differs from the public address', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    await eventually('the callback', async () => (await countRows(testEnv.db, 'operator_callbacks')) > 0);
  });
});
