// A server that is stopped during its work: it ends cleanly, and everything is done exactly once.
import assert from 'node:assert/strict';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { assertLedgerIsSound, pay, untilState } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { transitionsOf, untilAllReceived, PAID_TRANSITIONS } from '../support/payment-events.ts';
import { startServerChild, type ServerChild } from '../support/server-child.ts';
import { countRows } from '../db/rows.ts';

const PAYMENTS = 12;

describe('a server that gets SIGTERM', () => {
  const testEnv = useTestEnvironment({
    startsServer: false,
    environment: { MALIPO_PROMPT_WINDOW_MS: '60000', MALIPO_DELIVERY_TIMEOUT_MS: '20000' },
    sandboxTimes: { decisionMs: 700 },
  });
  let child: ServerChild;
  before(async () => {
    child = await startServerChild(testEnv);
  });

  it('ends cleanly during payments and deliveries, and the next server completes them once', async () => {
    const { merchant, receiver } = testEnv;
    // So slow that many attempts are in progress at any time.
    receiver.answerWith(merchant.id, (_received, response) => {
      setTimeout(() => response.writeHead(200).end(), 400);
    });
    const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => pay(testEnv, '000')));
    await eventually('the first deliveries to be in progress', () => receiver.all(merchant.id).length > 3);
    const { code, signal } = await child.stop();
    assert.deepEqual([code, signal], [0, null]);

    await testEnv.startServer();
    for (const payment of payments) {
      await untilState(testEnv, payment, 'succeeded');
      const story = transitionsOf(await untilAllReceived(testEnv, payment));
      assert.deepEqual(story, PAID_TRANSITIONS);
      assert.equal(await promptsRaised(testEnv, payment.phone), 1);
    }
    await eventually('every delivery to be recorded', async () => {
      return (await countRows(testEnv.db, `deliveries WHERE state <> 'delivered'`)) === 0;
    });
    // A clean stop finishes the attempts in progress, so nothing is sent again.
    assert.equal(receiver.all(merchant.id).length, 2 * PAYMENTS);
    await assertLedgerIsSound(testEnv.db);
  });

  it('ends cleanly also when it gets the signal twice', async () => {
    const other = await startServerChild(testEnv, { overrides: { MALIPO_HTTP_PORT: '0' } });
    const [first, second] = await Promise.all([other.stop(), other.stop()]);
    assert.deepEqual([first.code, second.code], [0, 0]);
  });
});
