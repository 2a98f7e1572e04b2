// Payments while the operator, or our own worker, is unavailable.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestEnvironment } from '../support/test-environment.ts';
import { availableBalance, fetchPayment, pay, untilState, type Payment } from '../support/payments.ts';
import { transitionsOf, untilAllReceived, untilPaidOnce } from '../support/payment-events.ts';
import { promptsRaised, sandboxTransactions, switchFaults } from '../support/sandbox-operator.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { useConcurrentTests, inOwnEnvironment } from '../support/concurrent-tests.ts';

describe('a payment whose prompt deadline passes before a worker can send it', () => {
  const DEADLINE_MS = 400;
  const GRACE_MS = 800;
  const testEnv = useTestEnvironment({
    startsServer: false,
    environment: {
      MALIPO_PROMPT_DEADLINE_MS: String(DEADLINE_MS),
      MALIPO_NOT_FOUND_GRACE_MS: String(GRACE_MS),
      MALIPO_OPERATOR_TIMEOUT_MS: '700',
    },
  });

  it('expires without a prompt', async () => {
    await testEnv.startServer({ MALIPO_ROLES: 'api' });
    const payment = await pay(testEnv, '000');
    await sleep(DEADLINE_MS + GRACE_MS);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'initiated');
    await testEnv.startServer({ MALIPO_ROLES: 'worker,dispatcher' });
    const shown = await untilState(testEnv, payment, 'expired');
    assert.equal(shown.failure?.code, 'service_unavailable');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), ['initiated > expired']);
    assert.deepEqual(await sandboxTransactions(testEnv, payment.phone), []);
  });
});

describe('a payment while the operator does not answer', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_OPERATOR_TIMEOUT_MS: '400',
      MALIPO_PROMPT_WINDOW_MS: '12000',
      MALIPO_RECONCILE_FOR_MS: '20000',
    },
  });
  afterEach(() => switchFaults(testEnv, {}));

  it('is sent again until the operator is back, with a single prompt', async () => {
    await switchFaults(testEnv, { down: true });
    const payment = await pay(testEnv, '000');
    await sleep(800);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'initiated');
    await switchFaults(testEnv, {});
    await untilPaidOnce(testEnv, payment);
  });

  it('does not fail on errors of the operator’s own', async () => {
    await switchFaults(testEnv, { errorRate: 1 });
    const payment = await pay(testEnv, '000');
    await sleep(600);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'initiated');
    await switchFaults(testEnv, {});
    await untilState(testEnv, payment, 'succeeded');
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });

  it('becomes reconciling when its prompt window ends, and succeeds late when the operator is back', async () => {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, '004', { merchant });
    await untilState(testEnv, payment, 'prompted');
    await switchFaults(testEnv, { down: true });
    await untilState(testEnv, payment, 'reconciling');
    assert.equal(await availableBalance(testEnv, merchant), 0);
    await switchFaults(testEnv, {});
    await untilState(testEnv, payment, 'succeeded');
    const transitions = ['initiated > prompted', 'prompted > reconciling', 'reconciling > succeeded late'];
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), transitions);
    assert.equal(await availableBalance(testEnv, merchant), payment.amount);
  });
});

describe('a payment while the operator is unavailable until after the prompt deadline', () => {
  // Both at once: they wait for the prompt deadline.
  const test = useConcurrentTests(2);

  async function payWhileAway(
    environment: Readonly<Record<string, string>>,
    check: (testEnv: TestEnvironment, payment: Payment) => Promise<void>,
  ): Promise<void> {
    // Long enough for the first try to begin: a payment that nobody tried to send ends as our own outage.
    const settings = { MALIPO_PROMPT_DEADLINE_MS: '20000', ...environment };
    await inOwnEnvironment({ startsServer: true, environment: settings }, async (testEnv) => {
      await switchFaults(testEnv, { down: true });
      await check(testEnv, await pay(testEnv, '000'));
    });
  }

  const KNOWN_LATER = { MALIPO_NOT_FOUND_GRACE_MS: '3500', MALIPO_RECONCILE_FOR_MS: '60000' };
  test('expires without a prompt when the operator then does not know it', () =>
    payWhileAway(KNOWN_LATER, async (testEnv, payment) => {
      await untilState(testEnv, payment, 'reconciling');
      await switchFaults(testEnv, {});
      const shown = await untilState(testEnv, payment, 'expired');
      assert.equal(shown.failure?.code, 'operator_unavailable');
      const transitions = ['initiated > reconciling', 'reconciling > expired'];
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), transitions);
      assert.equal(await promptsRaised(testEnv, payment.phone), 0);
    }));

  const NEVER_BACK = {
    MALIPO_OPERATOR_TIMEOUT_MS: '300',
    MALIPO_NOT_FOUND_GRACE_MS: '400',
    MALIPO_RECONCILE_FOR_MS: '3000',
  };
  test('expires as unknown, and does not fail, when the operator never comes back', () =>
    payWhileAway(NEVER_BACK, async (testEnv, payment) => {
      const shown = await untilState(testEnv, payment, 'expired');
      assert.equal(shown.failure?.code, 'unknown');
      const transitions = ['initiated > reconciling', 'reconciling > expired'];
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), transitions);
    }));
});
