// Accounts with operators while payments are in progress: what the staff agreed on acts without a restart.
import assert from 'node:assert/strict';
import { tamper } from '../db/rows.ts';
import { call, collectionFields } from '../support/api.ts';
import { withOwnOperator } from '../support/concurrent-tests.ts';
import { closeAccount } from '../support/operator-accounts.ts';
import { pay, phoneFor, untilState } from '../support/payments.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';

const UNDECIDED = { MALIPO_PROMPT_WINDOW_MS: '120000' };

async function isAccepted(testEnv: TestEnvironment): Promise<boolean> {
  const { key } = testEnv.merchant;
  const json = collectionFields({ phone: phoneFor('000') });
  const { status } = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json });
  assert.ok(status === 202 || status === 400, String(status));
  return status === 202;
}

describe('an account with an operator, while payments are in progress', () => {
  it('is moved: the next payments go to the new address', async () => {
    const next = await startScriptedOperator();
    await withOwnOperator(UNDECIDED, async (testEnv) => {
      await testEnv.moveMtnMomo(next.url);
      await eventually('a payment to reach the new address', async () => {
        await isAccepted(testEnv);
        return next.received.some(({ path }) => path.includes('requesttopay'));
      });
    }).finally(() => next.stop());
  });

  it('is closed: no payment is accepted, and one that was sent gets its outcome', async () => {
    await withOwnOperator(UNDECIDED, async (testEnv, operator) => {
      const payment = await pay(testEnv, '000');
      await untilState(testEnv, payment, 'prompted');
      await closeAccount(testEnv.db, 'mtn-momo');
      await eventually('payments to be refused', async () => !(await isAccepted(testEnv)));
      operator.setStatus({ status: 'SUCCESSFUL' });
      await untilState(testEnv, payment, 'succeeded');
    });
  });

  it('is used for nothing once somebody altered it by hand', async () => {
    const thief = await startScriptedOperator();
    await withOwnOperator(UNDECIDED, async (testEnv) => {
      const payment = await pay(testEnv, '000');
      await untilState(testEnv, payment, 'prompted');
      await tamper(testEnv.db, 'UPDATE operator_accounts SET base_url = $1 WHERE operator = $2', [
        thief.url,
        'mtn-momo',
      ]);
      await eventually('payments to be refused', async () => !(await isAccepted(testEnv)));
      assert.deepEqual(thief.received, []);
    }).finally(() => thief.stop());
  });
});
