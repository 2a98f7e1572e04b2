// What payouts that nobody releases, and deliveries that are retried because their endpoint refuses connections, cost each second, and
// their memory, against none of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { escalateDeliveries } from '../src/db/webhooks/delivery.ts';
import { freePort } from '../src/engines/process/ports.ts';
import { acceptedId, requestPayment } from './bench-environment.ts';
import { callAll, untilAccepted } from './callers.ts';
import { addEndpoint, addPayoutMerchant } from './merchants.ts';
import { printTable } from './table.ts';
import {
  byProcess,
  startWaitingEnvironment,
  sumOfService,
  type Cost,
  type WaitingEnvironment,
} from './waiting-environment.ts';

const PAYOUTS = Number(process.env['BENCH_PAYOUTS'] ?? 10_000);
const WATCHED_SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const CALLERS = 20;
const REPORT_MS = 30_000;
const TICK_MS = 1000;
const MOST_A_TICK = 500;

export async function benchWaiting(): Promise<void> {
  const waiting = await startWaitingEnvironment({ sandboxDecisionMs: 100 });
  const watch = () => waiting.costOf(() => sleep(WATCHED_SECONDS * 1000));
  const none = await watch();
  process.stdout.write(`none: ${waiting.memory()}\n`);
  await createPayouts(waiting);
  const some = await watch();
  process.stdout.write(`${await countsOf(waiting)}; ${waiting.memory()}\n\n`);
  const line = (name: string, { cpuMs, seconds }: Cost) => {
    const perSecond = byProcess((each) => cpuMs[each] / seconds);
    const { server, Temporal, PostgreSQL } = perSecond;
    return [name, ...[server, Temporal, PostgreSQL, sumOfService(perSecond)].map((ms) => ms.toFixed(1))];
  };
  printTable([
    ['CPU ms a second', 'server', 'Temporal', 'PostgreSQL', 'service'],
    line('none', none),
    line(`${PAYOUTS} payouts and deliveries`, some),
  ]);
  await waiting.stop();
}

/** Resolves when each payout and each delivery has its workflow. Each payout is an event for the endpoint. */
async function createPayouts(waiting: WaitingEnvironment): Promise<void> {
  const { bench } = waiting;
  const { merchantId, apiKey } = await addPayoutMerchant(bench.db);
  // Nothing listens there.
  const endpoint = { merchantId, url: `http://127.0.0.1:${await freePort()}/`, keyRing: bench.keyRing };
  await addEndpoint(bench.db, endpoint);
  const request = async () => acceptedId(await requestPayment(bench, 'payout', apiKey, '256772000100'));
  await callAll({ count: PAYOUTS, callers: CALLERS }, async () => {
    await untilAccepted(request);
  });
  let reportedMs = -Infinity;
  while ((await escalate(waiting)) > 0 || (await countWaiting(waiting, false)) > 0) {
    await sleep(TICK_MS);
    if (performance.now() - reportedMs < REPORT_MS) continue;
    reportedMs = performance.now();
    process.stdout.write(`${await countsOf(waiting)}; ${waiting.memory()}\n`);
  }
}

/** As the dispatcher does, which moves ten a second: deliveries of an endpoint that fails get a workflow each. */
function escalate({ bench }: WaitingEnvironment): Promise<number> {
  return escalateDeliveries(bench.db, MOST_A_TICK);
}

/** Payouts and deliveries with a workflow, or without one yet. */
async function countWaiting({ bench }: WaitingEnvironment, isStarted: boolean): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM work WHERE is_started = $1';
  return (await bench.db.pool.query<{ count: number }>(sql, [isStarted])).rows[0]?.count ?? 0;
}

async function countsOf(waiting: WaitingEnvironment): Promise<string> {
  return `${await countWaiting(waiting, true)} workflows, ${await countWaiting(waiting, false)} to be started`;
}
