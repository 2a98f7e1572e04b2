// The first try to send a payment, and the outcome of a payment that nobody tried to send.
import assert from 'node:assert/strict';
import { json } from '../operators/stub-operator.ts';
import { temporalClient } from '../support/engines.ts';
import { pay, untilState } from '../support/payments.ts';
import { PAID_TRANSITIONS, transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, fetchPayout, fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { countRows } from '../db/rows.ts';

describe('a refusal by the operator', () => {
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    mtnMomoUrl: operator.url,
    environment: { MALIPO_POLL_SCHEDULE_MS: '100' },
  }));
  after(() => operator.stop());

  it('does not make a collection fail when an earlier workflow of it may have sent it', async () => {
    // The operator has the first try, and never answers it.
    operator.answerPrompts(() => undefined);
    const payment = await pay(testEnv, '000');
    await eventually('the first try', () => operator.prompts(payment.operatorReference) > 0);
    operator.answerPrompts(json(400, { code: 'PAYER_NOT_FOUND', message: 'No such payer.' }));
    operator.setStatus({ status: 'SUCCESSFUL' });
    await (await temporalClient()).workflow.getHandle(payment.workflowId).terminate('the workflow is lost');
    await eventually('the collection to count as started, which makes it start again', async () => {
      const { rowCount } = await testEnv.db.pool.query(
        'UPDATE work SET is_started = false, due_at = now() WHERE id = $1 AND is_started',
        [payment.id],
      );
      return rowCount === 1;
    });
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
  });
});

describe('a released payout that nobody tried to send before its deadline', () => {
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    startsServer: false,
    mtnMomoUrl: operator.url,
    environment: { MALIPO_PAYOUT_SEND_DEADLINE_MS: '1000' },
  }));
  after(() => operator.stop());

  it('fails as our own outage, without any call to the operator', async () => {
    await testEnv.startServer({ MALIPO_ROLES: 'api' });
    await fund(testEnv, testEnv.merchant, 20_000);
    const before = await balanceOf(testEnv, testEnv.merchant);
    const payout = await requestPayout(testEnv, '000');
    const response = await release(await logInAs(testEnv, testEnv.merchant.id, 'approver'), payout);
    assert.equal(response.status, 200, response.text);
    await eventually('the send deadline', async () => {
      return (await countRows(testEnv.db, 'payments WHERE id = $1 AND send_deadline_at < now()', [payout.id])) === 1;
    });
    assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
    await testEnv.startServer({ MALIPO_ROLES: 'worker,dispatcher' });
    const shown = await untilPayoutState(testEnv, payout, 'failed');
    assert.equal(shown.failure?.code, 'service_unavailable');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)).at(-1), 'released > failed');
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), before);
    assert.deepEqual(
      [operator.prompts(payout.operatorReference), operator.statusQueries(payout.operatorReference)],
      [0, 0],
    );
  });
});
