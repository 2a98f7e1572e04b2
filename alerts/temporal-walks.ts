// Walks of Temporal and of what waits for it: a server that stands still, a namespace that is gone, workers that are behind or cannot run.
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { breakService } from '../chaos/broken-services.ts';
import { stopProcess } from '../chaos/faults.ts';
import { prepareTemporal } from '../src/temporal/setup.ts';
import { change } from './database.ts';
import { decideAtOperator, UNDECIDED_ROW } from './operator.ts';
import { keepRequesting, keepStopping, pays, release, request, requestMany, untilState } from './payments.ts';
import { until, type Stage } from './stage.ts';
import type { Walk } from './walk.ts';

/** One merchant’s share of the backlog, by the stage’s settings. */
const SHARE = 30;
const OTHERS = 12;
/** Workflow tasks that are due meanwhile wait for longer than the alert allows. */
const STANDS_STILL_MS = 8000;
const RUNS_MS = 1500;
const STUCK_LIMIT_MS = 120_000;
const FIRE_LIMIT_MS = 180_000;

export const TEMPORAL_WALKS: readonly Walk[] = [
  {
    alerts: [
      'MalipoTemporalUnreachable',
      'MalipoWorkNotStarted',
      'MalipoPaymentsWaitForUs',
      'MalipoPaymentsRefused',
      'MalipoMerchantOverShare',
      'MalipoCollectionsNotPrompted',
      'MalipoPayoutsNotSent',
    ],
    fault:
      'Temporal stands still while 42 collections are requested and a payout is released; one collection is made four minutes older, and the payout ten',
    remedy: 'Temporal goes on',
    async begin(stage) {
      const payout = await request(stage, 'payouts');
      const goOn = await stopProcess(stage.topology.temporal);
      const ids = await requestMany(stage, SHARE, { merchant: 1 });
      const others = await requestMany(stage, OTHERS);
      await release(stage, payout);
      // What waits is late by itself first.
      await whenAllFire(stage, ['MalipoPaymentsWaitForUs', 'MalipoPaymentsRefused', 'MalipoWorkNotStarted']);
      await change(stage, `UPDATE payments SET updated_at = updated_at - interval '4 minutes' WHERE id = $1`, [ids[0]]);
      await change(stage, `UPDATE payments SET updated_at = updated_at - interval '10 minutes' WHERE id = $1`, [
        payout,
      ]);
      return async () => {
        await goOn();
        for (const id of ids) await untilState(stage, 'collections', id, 'succeeded', 1);
        for (const id of others) await untilState(stage, 'collections', id, 'succeeded');
        // It was too late to send it: its money is available again.
        await untilState(stage, 'payouts', payout, 'failed');
      };
    },
  },
  {
    alerts: ['MalipoWorkersNotPolling'],
    fault: 'the namespace is gone from Temporal',
    remedy: 'npm run migrate creates it again',
    async begin(stage) {
      const { temporalAddress: address, namespace } = stage.topology.evidence;
      // Its run is in the worker’s memory.
      const undecided = await request(stage, 'collections', { row: UNDECIDED_ROW });
      await untilState(stage, 'collections', undecided, 'prompted');
      const connection = await Connection.connect({ address });
      await connection.operatorService.deleteNamespace({ namespace });
      await connection.close();
      const open = await request(stage, 'collections');
      // The SDK tries for a minute before its worker fails.
      const failed = `sum by (task_queue) (temporal_num_pollers{task_queue="mtn-momo"}) == 0`;
      await until('the worker to fail', FIRE_LIMIT_MS, async () => (await stage.prometheus.values(failed)).length > 0);
      return async () => {
        await prepareTemporal({ address, namespace });
        await decideAtOperator(stage, undecided);
        await untilState(stage, 'collections', undecided, 'succeeded');
        await untilState(stage, 'collections', open, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoWorkflowTasksWait'],
    fault:
      'the only worker stands still for eight seconds again and again, while four collections a second are requested',
    remedy: 'it gets the machine back',
    begin(stage) {
      const stopRequesting = keepRequesting(stage, 250);
      const giveBack = keepStopping(stage.worker, STANDS_STILL_MS, RUNS_MS);
      return async () => {
        await giveBack();
        for (const id of await stopRequesting()) await untilState(stage, 'collections', id, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoWorkflowTasksFail', 'MalipoWorkflowsStuck', 'MalipoRunsReplaced', 'MalipoWorkQuarantined'],
    fault:
      'a release whose workflow of payouts fails at its first line; once a run of it was replaced, it counts as replaced nine times',
    remedy: 'the version before is started again, and the next hourly try comes: an hour is taken off in the database',
    async begin(stage) {
      const folder = join(stage.topology.folder, `broken-${Date.now()}`);
      const line = 'async function payoutWorkflow(input) {';
      breakService({ file: 'workflow-bundle.js', from: line, to: `${line} undefined.field;` }, folder);
      await stage.worker.stop();
      await stage.worker.start(folder);
      const payout = await request(stage, 'payouts');
      await release(stage, payout);
      const update = (sql: string) => change(stage, `UPDATE work SET ${sql} WHERE id = $1 RETURNING id`, [payout]);
      // The tenth failure is a real one again.
      await until('its run to be replaced', STUCK_LIMIT_MS, async () => {
        const replaced = await change(stage, 'SELECT FROM work WHERE id = $1 AND failures > 0', [payout]);
        return replaced.length > 0;
      });
      await update('failures = 9, due_at = now()');
      return async () => {
        await stage.worker.stop();
        await stage.worker.start();
        await update(`due_at = due_at - interval '1 hour'`);
        // It is too late to send it: its money is available again.
        await untilState(stage, 'payouts', payout, 'failed');
        await pays(stage);
      };
    },
  },
];

async function whenAllFire({ prometheus }: Stage, alerts: readonly string[]): Promise<void> {
  await until(`${alerts.join(', ')} to fire`, FIRE_LIMIT_MS, async () => {
    const firing = await prometheus.firing();
    return firing !== null && alerts.every((alert) => firing.has(alert));
  });
}
