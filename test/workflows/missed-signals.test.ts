// Signals that come at the moment at which a workflow looks elsewhere: none is lost.
import assert from 'node:assert/strict';
import type { WorkerInterceptors } from '@temporalio/worker';
import { whileLocked } from '../db/rows.ts';
import { temporalClient } from '../support/engines.ts';
import { callBack, pay, untilState } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

/** Workers hold what `loadPayment` has read, until `release` is called. */
function holdingLoads() {
  let held = 0;
  let open: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  const interceptors: WorkerInterceptors = {
    activity: [
      ({ info }) => ({
        inbound: {
          async execute(input, next) {
            const read = await next(input);
            if (info.activityType !== 'loadPayment') return read;
            held += 1;
            await isOpen;
            return read;
          },
        },
      }),
    ],
  };
  return {
    interceptors,
    isHolding: () => held > 0,
    release: () => {
      open();
    },
  };
}

describe('a decision on a payout', () => {
  const testEnv = useTestEnvironment({ startsServer: false });

  it('is acted on when its signal comes between the read of the payout and the wait for decisions', async () => {
    const loads = holdingLoads();
    await testEnv.startServer({}, { interceptors: loads.interceptors });
    await fund(testEnv, testEnv.merchant, 20_000);
    const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const payout = await requestPayout(testEnv, '000');
    await eventually('the payout to be read as queued', loads.isHolding);
    const response = await release(approver, payout);
    assert.equal(response.status, 200, response.text);
    const handle = (await temporalClient()).workflow.getHandle(payout.workflowId);
    // The workflow has the signal when a task that began after it has ended: the read still lasts then.
    await eventually('the signal to be handled', async () => {
      const { events } = await handle.fetchHistory();
      const types = (events ?? []).map((event) => event);
      const signalled = types.findIndex(({ workflowExecutionSignaledEventAttributes: signal }) => Boolean(signal));
      return (
        signalled >= 0 &&
        types.slice(signalled).some(({ workflowTaskCompletedEventAttributes: completed }) => Boolean(completed))
      );
    });
    loads.release();
    await untilPayoutState(testEnv, payout, 'succeeded');
  });
});

describe('a callback about a collection', () => {
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    mtnMomoUrl: operator.url,
    environment: {
      MALIPO_POLL_SCHEDULE_MS: '100',
      MALIPO_PROMPT_WINDOW_MS: '300',
      MALIPO_RECONCILE_SCHEDULE_MS: '300',
      MALIPO_RECONCILE_FOR_MS: '2000',
      MALIPO_LATE_CHECK_AGES_MS: '21600000',
    },
  }));
  after(() => operator.stop());

  it('leads to a query at once when it comes while the expiry is being recorded', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'reconciling');
    const lock = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR NO KEY UPDATE', values: [payment.id] };
    const recording = () => Promise.resolve();
    await whileLocked(testEnv.db, lock, recording, async () => {
      operator.setStatus({ status: 'SUCCESSFUL' });
      assert.equal((await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL')).status, 200);
      const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
      await eventually('the signal', async () => {
        const { events } = await handle.fetchHistory();
        return events?.some(({ workflowExecutionSignaledEventAttributes: signal }) => Boolean(signal));
      });
    });
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), [
      'initiated > prompted',
      'prompted > reconciling',
      'reconciling > expired',
      'expired > succeeded late',
    ]);
  });
});
