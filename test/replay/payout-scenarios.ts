// The scenarios of payouts and reversals that have a recorded history.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { reversalWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { ReversalId } from '../../src/domain/ids.ts';
import type { PayoutState } from '../../src/domain/payments/payout.ts';
import { countRows } from '../db/rows.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { pay, untilState, type Payment } from '../support/payments.ts';
import { temporalClient } from '../support/engines.ts';
import {
  requestPayout,
  fund,
  release,
  releaseRefund,
  untilPayoutState,
  type Payout,
  releasedPayout,
} from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { switchFaults } from '../support/sandbox-operator.ts';
import type { Scenario } from './scenarios.ts';
import { withoutOperator, withoutWorker } from './interrupted.ts';

const NO_POLLS = { MALIPO_POLL_SCHEDULE_MS: '60000', MALIPO_PAYOUT_SEND_DEADLINE_MS: '120000' };

/** Releases a payout and waits until it is in `state`. */
async function releasedUntil(testEnv: TestEnvironment, row: string, state: PayoutState): Promise<Payout> {
  await fund(testEnv, testEnv.merchant, 20_000);
  const payout = await requestPayout(testEnv, row);
  await untilQueued(payout.workflowId);
  const response = await release(await logInAs(testEnv, testEnv.merchant.id, 'approver'), payout);
  assert.equal(response.status, 200, response.text);
  await untilPayoutState(testEnv, payout, state);
  return payout;
}

/** Makes the history begin with the wait for a decision, however slowly the workflow starts. */
async function untilQueued(workflowId: string): Promise<void> {
  const handle = (await temporalClient()).workflow.getHandle(workflowId);
  await eventually('the wait for a decision', async () => {
    const history = await handle.fetchHistory().catch(() => null);
    return history?.events?.some(({ timerStartedEventAttributes }) => Boolean(timerStartedEventAttributes));
  });
}

async function reversed(testEnv: TestEnvironment, row: string): Promise<{ workflowId: string }> {
  const payment = await pay(testEnv, row);
  await untilState(testEnv, payment, 'succeeded');
  const { id, workflowId } = await requestRefund(testEnv, payment);
  await untilQueued(workflowId);
  const released = await releaseRefund(await logInAs(testEnv, testEnv.merchant.id, 'approver'), id);
  assert.equal(released.status, 200, released.text);
  await untilState(testEnv, payment, 'reversed');
  return { workflowId };
}

async function requestRefund(testEnv: TestEnvironment, { id }: Payment): Promise<{ id: string; workflowId: string }> {
  const maker = await logInAs(testEnv, testEnv.merchant.id, 'maker');
  const path = `/v1/console/collections/${id}/reversal`;
  const { json } = await maker.call('POST', path, { idempotencyKey: randomUUID() });
  const reversalId = String(json['id']) as ReversalId;
  return { id: reversalId, workflowId: reversalWorkflowId(reversalId) };
}

export const PAYOUT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'payout-released-and-paid',
    environment: NO_POLLS,
    play: (testEnv) => releasedUntil(testEnv, '000', 'succeeded'),
  },
  {
    name: 'payout-refused-by-the-operator-found-by-polling',
    environment: { ...NO_POLLS, MALIPO_POLL_SCHEDULE_MS: '700' },
    play: (testEnv) => releasedUntil(testEnv, '005', 'failed'),
  },
  {
    name: 'payout-sent-again-for-the-float',
    environment: { ...NO_POLLS, MALIPO_FLOAT_PAUSES_MS: '1500' },
    async play(testEnv) {
      await switchFaults(testEnv, { floatLow: true });
      await fund(testEnv, testEnv.merchant, 20_000);
      const payout = await requestPayout(testEnv, '000');
      await untilQueued(payout.workflowId);
      await release(await logInAs(testEnv, testEnv.merchant.id, 'approver'), payout);
      const refused = 'payments WHERE id = $1 AND send_generation > 1';
      await eventually('the refusal', async () => (await countRows(testEnv.db, refused, [payout.id])) > 0);
      await switchFaults(testEnv, {});
      await untilPayoutState(testEnv, payout, 'succeeded');
      return payout;
    },
  },
  {
    name: 'payout-never-sent',
    environment: { MALIPO_PAYOUT_SEND_DEADLINE_MS: '1000' },
    startsServer: false,
    async play(testEnv) {
      const payout = await withoutWorker(testEnv, () => releasedPayout(testEnv, '000'), 1500);
      await untilPayoutState(testEnv, payout, 'failed');
      return payout;
    },
  },
  {
    name: 'payout-never-accepted',
    environment: {
      MALIPO_POLL_SCHEDULE_MS: '700',
      MALIPO_RECONCILE_SCHEDULE_MS: '700',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '4000',
      MALIPO_OPERATOR_TIMEOUT_MS: '300',
      MALIPO_NOT_FOUND_GRACE_MS: '400',
    },
    async play(testEnv) {
      const begin = () => releasedPayout(testEnv, '000');
      const payout = await withoutOperator(testEnv, begin, (begun) => untilPayoutState(testEnv, begun, 'reconciling'));
      await untilPayoutState(testEnv, payout, 'failed');
      return payout;
    },
  },
  {
    name: 'payout-undecided-then-paid',
    environment: {
      MALIPO_POLL_SCHEDULE_MS: '700',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '4000',
      MALIPO_RECONCILE_SCHEDULE_MS: '500,900',
    },
    undecidedMs: 6500,
    play: (testEnv) => releasedUntil(testEnv, '009', 'succeeded'),
  },
  {
    name: 'payout-rejected',
    async play(testEnv) {
      await fund(testEnv, testEnv.merchant, 20_000);
      const payout = await requestPayout(testEnv, '000');
      const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
      await approver.call('POST', `/v1/console/payouts/${payout.id}/reject`, { json: { reason: 'No' } });
      await untilPayoutState(testEnv, payout, 'rejected');
      return payout;
    },
  },
  {
    name: 'payout-never-released',
    environment: { MALIPO_PAYOUT_EXPIRY_MS: '1000' },
    async play(testEnv) {
      await fund(testEnv, testEnv.merchant, 20_000);
      const payout = await requestPayout(testEnv, '000');
      await untilPayoutState(testEnv, payout, 'expired');
      return payout;
    },
  },
  {
    name: 'reversal-confirmed-after-callback',
    environment: NO_POLLS,
    play: (testEnv) => reversed(testEnv, '000'),
  },
  {
    name: 'reversal-found-by-polling',
    environment: { ...NO_POLLS, MALIPO_POLL_SCHEDULE_MS: '700' },
    play: (testEnv) => reversed(testEnv, '004'),
  },
  {
    name: 'reversal-never-released',
    environment: { MALIPO_PAYOUT_EXPIRY_MS: '1000' },
    async play(testEnv) {
      const payment = await pay(testEnv, '000');
      await untilState(testEnv, payment, 'succeeded');
      const { workflowId } = await requestRefund(testEnv, payment);
      const handle = (await temporalClient()).workflow.getHandle(workflowId);
      await eventually('the workflow of the refund', () => handle.describe().catch(() => null));
      return { workflowId };
    },
  },
];
