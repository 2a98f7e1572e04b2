// Measures how fast accepted collections are carried out after Temporal was frozen, and what that costs in calls to it.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { requestCollection, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { addMerchant } from './merchants.ts';
import { printTable } from './table.ts';

const COUNT = Number(process.env['BENCH_COUNT'] ?? 1500);
const FAULT_MS = Number(process.env['BENCH_FAULT_MS'] ?? 60_000);
const WARM_UP = 50;
const DRAIN_LIMIT_MS = 900_000;
const OPERATIONS = [
  'StartWorkflowExecution',
  'SignalWithStartWorkflowExecution',
  'SignalWorkflowExecution',
  'DescribeWorkflowExecution',
  'RespondWorkflowTaskCompleted',
] as const;

type Calls = Readonly<Record<(typeof OPERATIONS)[number], number>>;

export async function benchDrain(): Promise<void> {
  const bench = await startBenchEnvironment({
    sandboxDecisionMs: 100,
    environment: {
      MALIPO_STALE_AFTER_MS: '10000',
      MALIPO_SWEEP_EVERY_MS: '15000',
    },
  });
  const { apiKey } = await addMerchant(bench.db);
  const post = async (): Promise<boolean> => {
    const { statusCode, body } = await requestCollection(bench, apiKey);
    await body.dump();
    return statusCode === 202;
  };
  await Promise.all(Array.from({ length: WARM_UP }, post));
  await untilCarriedOut(bench);
  const before = await callsTo(bench);
  process.kill(bench.temporal.pid, 'SIGSTOP');
  const accepted = await postDuringFault(post);
  process.kill(bench.temporal.pid, 'SIGCONT');
  const startedMs = Date.now();
  await untilCarriedOut(bench);
  const seconds = (Date.now() - startedMs) / 1000;
  const after = await callsTo(bench);
  await report(bench, { accepted, seconds, before, after });
  await bench.stop();
}

async function postDuringFault(post: () => Promise<boolean>): Promise<number> {
  const posts: Promise<boolean>[] = [];
  for (let i = 0; i < COUNT; i++) {
    posts.push(post());
    await sleep(FAULT_MS / COUNT);
  }
  return (await Promise.all(posts)).filter(Boolean).length;
}

async function untilCarriedOut({ db }: BenchEnvironment): Promise<void> {
  const endsAtMs = Date.now() + DRAIN_LIMIT_MS;
  while (Date.now() < endsAtMs) {
    const { rows } = await db.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM payments WHERE kind = 'collection' AND state IN ('initiated', 'prompted', 'reconciling')`,
    );
    if (rows[0]?.count === 0) return;
    await sleep(500);
  }
}

/** How often each operation was requested of the Temporal server, as its own metrics say. */
async function callsTo({ temporal }: BenchEnvironment): Promise<Calls> {
  // The server prints the address to its log.
  const log = readFileSync(`/proc/${temporal.pid}/fd/1`, 'utf8');
  const url = /Temporal Metrics: +(\S+)/.exec(log)?.[1];
  if (url === undefined) throw new Error('the Temporal server did not print the address of its metrics');
  const { body } = await request(url);
  const text = await body.text();
  const countOf = (operation: string): number =>
    text
      .split('\n')
      .filter((line) => /^service_requests(_total)?\{/.test(line) && line.includes('service_name="frontend"'))
      .filter((line) => line.includes(`operation="${operation}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  return Object.fromEntries(OPERATIONS.map((operation) => [operation, countOf(operation)])) as Calls;
}

type Drain = {
  readonly accepted: number;
  readonly seconds: number;
  readonly before: Calls;
  readonly after: Calls;
};

async function report({ db }: BenchEnvironment, { accepted, seconds, before, after }: Drain): Promise<void> {
  const { rows } = await db.pool.query<{ end: string; count: number }>(
    `SELECT state || coalesce(' ' || failure_code, '') AS end, count(*)::int AS count FROM payments WHERE kind = 'collection' GROUP BY 1 ORDER BY 1`,
  );
  const perPayment = (count: number) => (count / Math.max(1, accepted)).toFixed(2);
  printTable([
    ['what', 'count', 'per accepted collection'],
    ['accepted during the fault', String(accepted), ''],
    ['refused during the fault', String(COUNT - accepted), ''],
    ['seconds until all were carried out', seconds.toFixed(0), ''],
    ...OPERATIONS.map((operation) => {
      const count = after[operation] - before[operation];
      return [operation, String(count), perPayment(count)];
    }),
    ...rows.map(({ end, count }) => [`ended ${end} (with ${WARM_UP} of the warm-up)`, String(count), '']),
  ]);
}
