// Callbacks are hints: repeated, early, late or forged, they change nothing that the operator does not confirm.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporalClient } from '../support/engines.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import {
  availableBalance,
  callBack,
  fetchPayment,
  pay,
  promptsRaised,
  storedEvents,
  transitionsOf,
  untilAllReceived,
  untilState,
  type Payment,
} from '../support/payments.ts';
import { startScriptedOperator, type ScriptedOperator } from '../support/scripted-operator.ts';

async function keptCallbacks(testEnv: TestEnvironment): Promise<number> {
  const { rows } = await testEnv.db.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM operator_callbacks',
  );
  return rows[0]!.count;
}

async function latestRun({ workflowId }: Payment): Promise<{ runId: string; status: string }> {
  const { runId, status } = await (await temporalClient()).workflow.getHandle(workflowId).describe();
  return { runId, status: status.name };
}

describe('a callback', () => {
  // Here nothing but a callback makes the workflow ask in time.
  const NO_POLLS = { MALIPO_POLL_SCHEDULE_MS: '30000', MALIPO_PROMPT_WINDOW_MS: '60000' };
  const ASK_GAP_MS = 200;
  let testEnv: TestEnvironment;
  let operator: ScriptedOperator;
  before(async () => {
    operator = await startScriptedOperator();
    testEnv = await startTestEnvironment({
      environment: {
        ...NO_POLLS,
        MALIPO_MINIMUM_QUERY_GAP_MS: String(ASK_GAP_MS),
        MALIPO_MTN_MOMO_BASE_URL: operator.url,
      },
    });
  });
  beforeEach(() => {
    operator.setStatus({ status: 'PENDING' });
  });
  after(async () => {
    await testEnv.stop();
    await operator.stop();
  });

  async function openPayment(): Promise<Payment> {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'prompted');
    return payment;
  }

  it('makes the workflow ask at once', async () => {
    const payment = await openPayment();
    operator.setStatus({ status: 'SUCCESSFUL' });
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await untilState(testEnv, payment, 'succeeded', 5000);
  });

  it('that claims success moves no money while the operator says that the payment is pending', async () => {
    const payment = await openPayment();
    const balance = await availableBalance(testEnv, payment.merchant);
    const answer = await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    assert.equal(answer.status, 200);
    await eventually('the operator to be asked', () => operator.statusQueries(payment.operatorReference) > 0);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'prompted');
    assert.equal(await availableBalance(testEnv, payment.merchant), balance);
  });

  it('that comes twice changes the payment once', async () => {
    const payment = await openPayment();
    operator.setStatus({ status: 'SUCCESSFUL' });
    await Promise.all([1, 2].map(() => callBack(testEnv, payment.operatorReference, 'SUCCESSFUL')));
    await untilState(testEnv, payment, 'succeeded', 5000);
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), [
      'initiated > prompted',
      'prompted > succeeded',
    ]);
  });

  it('that is repeated without end makes no flood of questions and fills no disk', async () => {
    const payment = await openPayment();
    const keptBefore = await keptCallbacks(testEnv);
    const beganMs = Date.now();
    for (let i = 0; i < 40; i++) await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    // One gap more: what the last callbacks led to is under way until then.
    await sleep(ASK_GAP_MS);
    const mostQuestions = Math.ceil((Date.now() - beganMs) / ASK_GAP_MS) + 1;
    const questions = operator.statusQueries(payment.operatorReference);
    assert.ok(questions >= 1 && questions <= mostQuestions, `${questions} questions, ${mostQuestions} at most`);
    assert.equal((await keptCallbacks(testEnv)) - keptBefore, 20);
  });

  it('for a payment we never made is answered and kept nowhere', async () => {
    const before = await keptCallbacks(testEnv);
    const answer = await callBack(testEnv, randomUUID(), 'SUCCESSFUL');
    assert.deepEqual([answer.status, await answer.json()], [200, {}]);
    assert.equal(await keptCallbacks(testEnv), before);
  });

  it('that comes after a failure changes nothing and starts nothing', async () => {
    const payment = await openPayment();
    operator.setStatus({ status: 'FAILED', reason: 'APPROVAL_REJECTED' });
    await callBack(testEnv, payment.operatorReference, 'FAILED');
    await untilState(testEnv, payment, 'failed', 5000);
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
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment({
      environment: {
        MALIPO_POLL_SCHEDULE_MS: '30000',
        MALIPO_PROMPT_WINDOW_MS: '400',
        MALIPO_RECONCILE_SCHEDULE_MS: '100',
        MALIPO_RECONCILE_FOR_MS: '300',
      },
      sandboxTimes: { decisionMs: 1500, undecidedMs: 1500 },
    });
  });
  after(async () => {
    await testEnv.stop();
  });

  it('that comes before the answer to the prompt is not lost', async () => {
    const payment = await pay(testEnv, '012');
    const shown = await untilState(testEnv, payment, 'succeeded');
    assert.equal(shown.failure, null);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), [
      'initiated > prompted',
      'prompted > succeeded',
    ]);
  });

  it('that comes after the payment expired brings the money, and the event says that it is late', async () => {
    const payment = await pay(testEnv, '009', { merchant: await testEnv.addMerchant() });
    const expired = await untilState(testEnv, payment, 'expired');
    assert.equal(expired.failure?.code, 'unknown');
    assert.equal(await availableBalance(testEnv, payment.merchant), 0);
    await untilState(testEnv, payment, 'succeeded');
    const story = transitionsOf(await untilAllReceived(testEnv, payment));
    assert.deepEqual(story.slice(-2), ['reconciling > expired', 'expired > succeeded late']);
    assert.equal(await availableBalance(testEnv, payment.merchant), payment.amount);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});

describe('a callback whose workflow was lost', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment({
      environment: { MALIPO_POLL_SCHEDULE_MS: '200', MALIPO_PROMPT_WINDOW_MS: '60000' },
      sandboxTimes: { decisionMs: 1200 },
    });
  });
  after(async () => {
    await testEnv.stop();
  });

  it('starts it again, and the payment completes', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'prompted');
    await (await temporalClient()).workflow.getHandle(payment.workflowId).terminate('lost, for a test');
    assert.equal((await latestRun(payment)).status, 'TERMINATED');
    await untilState(testEnv, payment, 'succeeded');
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});

describe('a callback to an address of its own', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment({ startsServer: false });
    // People's address is one that the operator cannot reach.
    await testEnv.startServer({ MALIPO_PUBLIC_URL: 'http://127.0.0.1:1', MALIPO_CALLBACK_URL: `${testEnv.baseUrl}/` });
  });
  after(() => testEnv.stop());

  it('arrives there', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    await eventually('the operator’s call', async () => (await keptCallbacks(testEnv)) > 0);
  });
});
