// The scenarios that have a recorded history, and how each is played.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ledgerCheckScheduleId,
  reconciliationScheduleId,
  wholeLedgerCheckScheduleId,
} from '../../workflows/contract.ts';
import { deliveryWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import { tamper, untilOneWaits, whileLocked } from '../db/rows.ts';
import { untilDelivery } from '../support/deliveries.ts';
import { temporalClient } from '../support/engines.ts';
import { eventually, ON_DEMAND, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { callBack, pay, untilState, type Payment } from '../support/payments.ts';
import { decideAtSandbox, switchFaults } from '../support/sandbox-operator.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { withoutOperator, withoutWorker } from './interrupted.ts';
import { PAYOUT_SCENARIOS } from './payout-scenarios.ts';

type Run = { readonly workflowId: string; readonly runId?: string };

export type Scenario = {
  /** Also the name of the file that holds its history. */
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly undecidedMs?: number;
  readonly startsServer?: boolean;
  /** Plays it and returns the run whose history is recorded. */
  play(testEnv: TestEnvironment): Promise<Run>;
};

const NO_POLLS = { MALIPO_POLL_SCHEDULE_MS: '60000', MALIPO_PROMPT_WINDOW_MS: '120000' };
const FEW_POLLS = {
  MALIPO_POLL_SCHEDULE_MS: '700',
  MALIPO_PROMPT_WINDOW_MS: '1000',
  MALIPO_RECONCILE_SCHEDULE_MS: '900',
};

const COLLECTION_AND_DELIVERY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'collection-paid-after-callback',
    environment: NO_POLLS,
    play: (testEnv) => paidUntil(testEnv, '000', 'succeeded'),
  },
  {
    name: 'collection-status-query-times-out-after-callback',
    environment: { ...NO_POLLS, MALIPO_OPERATOR_TIMEOUT_MS: '5000', MALIPO_NOT_FOUND_GRACE_MS: '6000' },
    undecidedMs: 1500,
    async play(testEnv) {
      const payment = await pay(testEnv, '009');
      await untilState(testEnv, payment, 'prompted');
      // Longer than the query within the workflow task may take, and shorter than the one that follows it.
      await switchFaults(testEnv, { latencyMs: 3500 });
      await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
      await untilState(testEnv, payment, 'succeeded');
      return payment;
    },
  },
  {
    name: 'collection-declined-found-by-polling',
    environment: { ...NO_POLLS, MALIPO_POLL_SCHEDULE_MS: '700' },
    play: (testEnv) => paidUntil(testEnv, '005', 'failed'),
  },
  {
    name: 'collection-callbacks-faster-than-the-gap',
    environment: { ...NO_POLLS, MALIPO_MINIMUM_QUERY_GAP_MS: '600' },
    undecidedMs: 2500,
    async play(testEnv) {
      const payment = await paidUntil(testEnv, '009', 'prompted');
      for (let i = 0; i < 4; i++) {
        await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
        await sleep(150);
      }
      await untilState(testEnv, payment, 'succeeded');
      return payment;
    },
  },
  {
    name: 'collection-undecided-then-paid-late',
    environment: FEW_POLLS,
    play: (testEnv) => paidUntil(testEnv, '009', 'succeeded'),
  },
  {
    name: 'collection-undecided-for-ever',
    environment: { ...FEW_POLLS, MALIPO_RECONCILE_FOR_MS: '1000' },
    play: (testEnv) => paidUntil(testEnv, '010', 'expired'),
  },
  {
    name: 'collection-called-back-while-it-expires',
    environment: { ...FEW_POLLS, MALIPO_RECONCILE_FOR_MS: '1000', MALIPO_SWEEP_EVERY_MS: '3600000' },
    async play(testEnv) {
      const payment = await paidUntil(testEnv, '010', 'reconciling');
      const recorded = untilOneWaits(testEnv.db);
      const lock = { sql: 'SELECT 1 FROM payments WHERE id = $1 FOR NO KEY UPDATE', values: [payment.id] };
      await whileLocked(
        testEnv.db,
        lock,
        () => recorded,
        async () => {
          const choice = { reference: payment.operatorReference, choice: 'approve', pin: '1234' };
          await decideAtSandbox(testEnv, 'handset', choice);
          const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
          await eventually('the signal of the callback', async () => {
            const { events } = await handle.fetchHistory();
            return events?.some(({ workflowExecutionSignaledEventAttributes: signal }) => Boolean(signal));
          });
        },
      );
      await untilState(testEnv, payment, 'succeeded');
      return payment;
    },
  },
  {
    name: 'collection-paid-otherwise',
    environment: { ...FEW_POLLS, MALIPO_RECONCILE_FOR_MS: '1000' },
    async play(testEnv) {
      const operator = await startScriptedOperator();
      try {
        operator.setStatus({ status: 'SUCCESSFUL', amount: '1' });
        await testEnv.moveMtnMomo(operator.url);
        await testEnv.startServer();
        const payment = await paidUntil(testEnv, '000', 'reconciling');
        await sleep(1500);
        operator.setStatus({ status: 'SUCCESSFUL' });
        await untilState(testEnv, payment, 'succeeded');
        return payment;
      } finally {
        await operator.stop();
      }
    },
    startsServer: false,
  },
  {
    name: 'collection-never-sent',
    environment: {
      MALIPO_PROMPT_DEADLINE_MS: '300',
      MALIPO_NOT_FOUND_GRACE_MS: '800',
      MALIPO_OPERATOR_TIMEOUT_MS: '700',
    },
    startsServer: false,
    async play(testEnv) {
      const payment = await withoutWorker(testEnv, () => pay(testEnv, '000'), 1200);
      await untilState(testEnv, payment, 'expired');
      return payment;
    },
  },
  {
    name: 'collection-operator-away-past-the-deadline',
    environment: {
      ...FEW_POLLS,
      MALIPO_PROMPT_DEADLINE_MS: '4000',
      MALIPO_OPERATOR_TIMEOUT_MS: '300',
      MALIPO_NOT_FOUND_GRACE_MS: '400',
    },
    async play(testEnv) {
      const begin = () => pay(testEnv, '000');
      const payment = await withoutOperator(testEnv, begin, (begun) => untilState(testEnv, begun, 'reconciling'));
      await untilState(testEnv, payment, 'expired');
      return payment;
    },
  },
  {
    name: 'delivery-accepted-at-the-third-attempt',
    environment: { ...NO_POLLS, MALIPO_DELIVERY_SCHEDULE_MS: '0,1000,50' },
    play: (testEnv) => deliver(testEnv, 3),
  },
  {
    name: 'delivery-dead-lettered',
    environment: { ...NO_POLLS, MALIPO_DELIVERY_SCHEDULE_MS: '0,1000,50' },
    play: (testEnv) => deliver(testEnv, Infinity),
  },
  {
    name: 'sweep-with-nothing-wrong',
    environment: ON_DEMAND,
    play: (testEnv) => runNow(testEnv, reconciliationScheduleId),
  },
  {
    name: 'sweep-that-finds-a-ledger-fault',
    environment: { ...ON_DEMAND, ...NO_POLLS },
    async play(testEnv) {
      await paidUntil(testEnv, '010', 'prompted');
      await tamper(
        testEnv.db,
        `UPDATE payments SET state = 'succeeded', operator_receipt = '42' WHERE kind = 'collection'`,
      );
      return runNow(testEnv, reconciliationScheduleId);
    },
  },
  ...scenariosOfCheck('ledger-check', ledgerCheckScheduleId),
  ...scenariosOfCheck('whole-ledger-check', wholeLedgerCheckScheduleId),
];

export const SCENARIOS: readonly Scenario[] = [...COLLECTION_AND_DELIVERY_SCENARIOS, ...PAYOUT_SCENARIOS];

function scenariosOfCheck(check: string, idFor: typeof ledgerCheckScheduleId): Scenario[] {
  return [
    {
      name: `${check}-with-nothing-wrong`,
      environment: ON_DEMAND,
      play: (testEnv) => runNow(testEnv, idFor),
    },
    {
      name: `${check}-that-finds-a-fault`,
      environment: ON_DEMAND,
      async play(testEnv) {
        await tamper(testEnv.db, `UPDATE ledger_accounts SET balance_minor = 1 WHERE kind = 'available'`);
        return runNow(testEnv, idFor);
      },
    },
  ];
}

/** Creates a collection and waits until it is in `state`. */
async function paidUntil(testEnv: TestEnvironment, row: string, state: CollectionState): Promise<Payment> {
  const payment = await pay(testEnv, row);
  await untilState(testEnv, payment, state);
  return payment;
}

/** Plays a delivery whose workflow sends until the attempt that the receiver accepts. */
async function deliver(testEnv: TestEnvironment, acceptedAttempt: number): Promise<Run> {
  const { merchant, receiver } = testEnv;
  receiver.answerWith(merchant.id, ({ headers }, response) => {
    response.writeHead(Number(headers['malipo-attempt']) < acceptedAttempt ? 500 : 200).end();
  });
  await pay(testEnv, '010');
  const state = acceptedAttempt === Infinity ? 'dead_lettered' : 'delivered';
  return { workflowId: deliveryWorkflowId((await untilDelivery(testEnv, merchant, state)).id) };
}

async function runNow(testEnv: TestEnvironment, idFor: (prefix: string) => string): Promise<Run> {
  const client = await temporalClient();
  const { settings } = testEnv.config;
  const schedule = client.schedule.getHandle(idFor(settings.MALIPO_TASK_QUEUE_PREFIX));
  await eventually('the schedule', () => schedule.describe().catch(() => null));
  await schedule.trigger();
  const workflow = await eventually('the run to start', async () => {
    return (await schedule.describe()).info.recentActions.at(-1)?.action.workflow;
  });
  return { workflowId: workflow.workflowId, runId: workflow.firstExecutionRunId };
}

/** Plays the scenario in a test environment of its own; returns the run's history, as JSON, once the run is closed. */
export async function play(scenario: Scenario, toJson: (run: Required<Run>) => Promise<string>): Promise<string> {
  const testEnv = await startTestEnvironment({
    startsServer: scenario.startsServer ?? true,
    // On a slow machine a shorter one adds a workflow task to the history.
    environment: { MALIPO_WORKFLOW_TASK_TIMEOUT_MS: '10000', ...scenario.environment },
    ...(scenario.undecidedMs !== undefined && { sandboxTimes: { undecidedMs: scenario.undecidedMs } }),
  });
  try {
    const run = await scenario.play(testEnv);
    const client = await temporalClient();
    const { runId } = await eventually('the run to end', async () => {
      const description = await client.workflow
        .getHandle(run.workflowId, run.runId)
        .describe()
        .catch(() => null);
      return description !== null && description.status.name !== 'RUNNING' && description;
    });
    const json = await toJson({ workflowId: run.workflowId, runId });
    assert.ok(json.length > 0);
    return json.replaceAll(testEnv.config.settings.MALIPO_TASK_QUEUE_PREFIX, 'malipo');
  } finally {
    await testEnv.stop();
  }
}
