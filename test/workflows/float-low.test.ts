// A payout that the operator refuses for our float: it waits, says so, is paid once the float covers it, and fails at its send deadline.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getPayout } from '../../src/db/payments/payout.ts';
import type { Currency } from '../../src/domain/money.ts';
import { laterReferenceOf } from '../../src/domain/payments/operator-reference.ts';
import { payoutWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { collectionFields } from '../support/api.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { assertLedgerIsSound, createPayment, type Payment } from '../support/payments.ts';
import { balanceOf, fund, release, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { sandboxTransactions, switchFaults } from '../support/sandbox-operator.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

/** A phone of each operator, and its currency. */
const WIRES: readonly (readonly [operator: string, phone: string, currency: Currency])[] = [
  ['mtn-momo', '256772000000', 'UGX'],
  ['airtel-money', '256752000000', 'UGX'],
  ['daraja', '254712000000', 'KES'],
];
const RELEASED = ['nothing > queued', 'queued > released'];

async function payOut(testEnv: TestEnvironment, phone: string, currency: Currency): Promise<Payment> {
  const merchant = await testEnv.addMerchant(currency);
  await fund(testEnv, merchant, 20_000, currency);
  const idempotencyKey = randomUUID();
  const workflowId = payoutWorkflowId(merchant.id, idempotencyKey);
  const json = collectionFields({ phone, amount: 5000 });
  const payout = await createPayment(testEnv, '/v1/api/payouts', { merchant, idempotencyKey, json, workflowId });
  const { status, text } = await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
  assert.equal(status, 200, text);
  return payout;
}

const load = ({ db }: TestEnvironment, { id, merchant }: Payment) => getPayout(db, merchant.id, id);

function untilGeneration(testEnv: TestEnvironment, payout: Payment, number: number) {
  return eventually(`generation ${number}`, async () => {
    const { generation } = await load(testEnv, payout);
    return generation !== null && generation.number >= number && generation;
  });
}

for (const [operator, phone, currency] of WIRES) {
  describe(`a payout at ${operator} that is refused for our float`, () => {
    const testEnv = useTestEnvironment({
      hasDaraja: true,
      environment: { MALIPO_PAYOUT_SEND_DEADLINE_MS: '120000', MALIPO_FLOAT_PAUSES_MS: '100,100,1500' },
    });

    it('waits, says on the console for what, and is paid once when the float is filled', async () => {
      await switchFaults(testEnv, { floatLow: true });
      const payout = await payOut(testEnv, phone, currency);
      await untilGeneration(testEnv, payout, 3);
      const { state, operatorReference } = await load(testEnv, payout);
      assert.equal(state, 'released');
      const viewer = await logInAs(testEnv, payout.merchant.id, 'viewer');
      const { timeline } = (await viewer.call('GET', `/v1/console/payouts/${payout.id}`)).json as {
        timeline: Readonly<Record<string, unknown>>[];
      };
      const shown = timeline.filter(({ kind }) => kind === 'float_low');
      assert.deepEqual(
        shown.slice(0, 2).map((entry) => [entry['operator'], entry['operator_reference']]),
        [2, 3].map((number) => [operator, laterReferenceOf(operatorReference, number)]),
      );
      assert.equal(shown[0]?.['waiting'], false);
      await switchFaults(testEnv, {});
      await untilPayoutState(testEnv, payout, 'succeeded');
      const sends = await sandboxTransactions(testEnv, phone);
      assert.equal(sends.filter((one) => one.state === 'SUCCESSFUL').length, 1);
      assert.deepEqual(new Set(sends.map(({ transfersTaken }) => transfersTaken)), new Set([1]));
      assert.equal(new Set(sends.map((one) => one.operatorReference)).size, sends.length);
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)), [...RELEASED, 'released > succeeded']);
      assert.deepEqual(await balanceOf(testEnv, payout.merchant), [15_000, 0]);
      await assertLedgerIsSound(testEnv.db);
    });
  });
}

describe('a payout whose float is never filled', () => {
  const testEnv = useTestEnvironment({
    hasDaraja: true,
    environment: { MALIPO_PAYOUT_SEND_DEADLINE_MS: '6000', MALIPO_FLOAT_PAUSES_MS: '500' },
  });

  for (const [operator, phone, currency] of WIRES) {
    it(`fails at ${operator} at its send deadline as the operator’s outage, and its money is available again`, async () => {
      await switchFaults(testEnv, { floatLow: true });
      const payout = await payOut(testEnv, phone, currency);
      const { failure } = await untilPayoutState(testEnv, payout, 'failed');
      assert.equal(failure?.code, 'operator_unavailable');
      const { sendDeadlineAt, updatedAt, generation } = await load(testEnv, payout);
      assert.ok(sendDeadlineAt && updatedAt >= sendDeadlineAt);
      assert.ok((generation?.number ?? 0) > 2);
      const sends = await sandboxTransactions(testEnv, phone);
      assert.deepEqual(new Set(sends.map(({ state }) => state)), new Set(['FAILED']));
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)), [...RELEASED, 'released > failed']);
      assert.deepEqual(await balanceOf(testEnv, payout.merchant), [20_000, 0]);
      await assertLedgerIsSound(testEnv.db);
    });
  }
});
