// Runs that are open and cannot progress, as after a release whose code does not replay them: the service replaces them.
import assert from 'node:assert/strict';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import type { RunningServer } from '../../src/processes/assemble-server.ts';
import { workflowBundle } from '../support/engines.ts';
import { pay, promptsRaised, transitionsOf, untilAllReceived, untilState } from '../support/payments.ts';
import { balanceOf, fund, release, requestPayout, transfersAccepted, untilPayoutState } from '../support/payouts.ts';
import { addPerson, logIn } from '../support/people.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

/** The present workflows with one step more at `passage`: histories of theirs cannot be replayed by the present code. */
async function bundleWithAnotherStep(passage: string): Promise<WorkflowBundleWithSourceMap> {
  const bundle = await workflowBundle();
  assert.equal(bundle.code.split(passage).length, 2, `the bundle holds once: ${passage}`);
  // As the function of the passage calls it.
  const calls = [...bundle.code.slice(0, bundle.code.indexOf(passage)).matchAll(/\(0,(\w+)\.loadPayment\)\(input\)/g)];
  const module = calls.at(-1)?.[1];
  assert.ok(module !== undefined);
  const step = `await (0,${module}.loadPayment)(input);`;
  const altered = passage.endsWith('{') ? `${passage}${step}` : `${step}${passage}`;
  return { ...bundle, code: bundle.code.replace(passage, () => altered) };
}

describe('a run that is open and cannot progress', () => {
  // The operator's callbacks arrive nowhere: the outcome is found by the run that polls, or never.
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_CALLBACK_URL: 'http://127.0.0.1:1',
      MALIPO_STALE_AFTER_MS: '1000',
      MALIPO_POLL_SCHEDULE_MS: '2000',
      MALIPO_PROMPT_WINDOW_MS: '2000',
      MALIPO_RECONCILE_FOR_MS: '600000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '40000',
    },
    sandboxTimes: { decisionMs: 1500, promptExpiryMs: 60_000 },
    startsServer: false,
  });
  let server: RunningServer | null = null;

  /** The old code starts the payment; once `isUnderWay` the new code takes over. */
  async function changeCode(passage: string, begin: () => Promise<void>): Promise<void> {
    server = await testEnv.startServer({}, { workflowBundle: await bundleWithAnotherStep(passage) });
    await begin();
    await server.stop();
    server = await testEnv.startServer();
  }

  afterEach(() => server?.stop());

  it('is replaced, and the paid collection is recorded once', async () => {
    let payment!: Awaited<ReturnType<typeof pay>>;
    await changeCode('const sent =', async () => {
      payment = await pay(testEnv, '004');
      await untilState(testEnv, payment, 'prompted');
    });
    await untilState(testEnv, payment, 'succeeded', 60_000);
    assert.match(transitionsOf(await untilAllReceived(testEnv, payment)).at(-1) ?? '', / > succeeded late$/);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });

  it('is replaced between release and outcome, and the payout is sent once', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 50_000);
    let payout!: Awaited<ReturnType<typeof requestPayout>>;
    await changeCode("if (snapshot.state === 'released') {", async () => {
      const approver = await logIn(testEnv, await addPerson(testEnv, merchant.id, ['approver']));
      payout = await requestPayout(testEnv, '004', { merchant });
      assert.equal((await release(approver, payout)).status, 200);
      await eventually('the payout to be sent', async () => (await transfersAccepted(testEnv, payout)) === 1);
    });
    await untilPayoutState(testEnv, payout, 'succeeded', 60_000);
    assert.equal(await transfersAccepted(testEnv, payout), 1);
    assert.deepEqual(await balanceOf(testEnv, merchant), [45_000, 0]);
  });
});
