// A worker whose process the machine holds up in the middle of workflow code: it goes on where it was.
import assert from 'node:assert/strict';
import { pay, untilState } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { alteredBundle } from '../support/altered-bundle.ts';

/** Longer than the five seconds after which the SDK by default breaks into workflow code. */
const HELD_UP_MS = 5500;

describe('a worker that is held up in the middle of workflow code', function () {
  this.timeout(200_000);
  const testEnv = useTestEnvironment({
    environment: { MALIPO_WORKFLOW_TASK_TIMEOUT_MS: '60000', MALIPO_PROMPT_DEADLINE_MS: '60000' },
    startsServer: false,
  });

  it('goes on, and the payment is carried out', async () => {
    const passage = 'const { snapshot, clocks } = result;';
    const wait = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${HELD_UP_MS});`;
    await testEnv.startServer({}, { workflowBundle: await alteredBundle(passage, `${wait}${passage}`) });
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded', 120_000);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});
