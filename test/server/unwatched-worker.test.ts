// A worker of ours: it runs workflow code in the thread of its process, and keeps no record of its promises.
import assert from 'node:assert/strict';
import { temporalClient } from '../support/engines.ts';
import { pay, untilState } from '../support/payments.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

describe('a worker', () => {
  const testEnv = useTestEnvironment({ startsServer: false, environment: { MALIPO_PROMPT_WINDOW_MS: '600000' } });
  let threads = 0;

  before(async () => {
    const count = () => (threads += 1);
    process.on('worker', count);
    after(() => process.off('worker', count));
    await testEnv.startServer();
  });

  it('runs workflow code in the thread that it is started in', async () => {
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded');
    assert.equal(threads, 0);
  });

  it('keeps no stack traces of promises, and says so to a query about a run’s wait', async () => {
    const payment = await pay(testEnv, '010');
    await untilState(testEnv, payment, 'prompted');
    const run = (await temporalClient()).workflow.getHandle(payment.workflowId);
    await assert.rejects(run.query('__stack_trace'), /stack traces are not enabled/);
  });
});
