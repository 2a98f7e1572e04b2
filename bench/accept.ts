// Compares accepting a collection, or with `BENCH_NOUN=payout` a payout, with a bare server that inserts one row, in turns on one
// PostgreSQL within one run. The service has no role but `api`, and Temporal does not answer, so nothing but accepting is measured.
// `BENCH_BESIDE` names the folder of another checkout that is built, which is measured in the same turns on engines of its own.
import { randomInt } from 'node:crypto';
import type { Database } from '../src/db/platform/database.ts';
import { forkServer, requestPayment, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { callAll } from './callers.ts';
import { cpuMsSince, cpuSecondsByName, type Pids } from './cpu.ts';
import { addMerchant, addPayoutMerchant } from './merchants.ts';
import { median, percentile, printTable, type Round } from './table.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CALLERS = 32;
const WARM_UP_S = 3;
/** Of the rate that all callers together reach; of two checkouts, with the slower one. */
const CALM_SHARE = 0.5;

const NOUN = process.env['BENCH_NOUN'] === 'payout' ? 'payout' : 'collection';
const BESIDE = process.env['BENCH_BESIDE'];

const SHAPES = BESIDE === undefined ? (['bare', 'whole'] as const) : (['bare', 'whole', 'beside'] as const);
type Shape = 'bare' | 'whole' | 'beside';
type Target = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pids: Pids;
};
type Rounds = Readonly<Record<Shape, readonly Round[]>>;

export async function benchAccept(): Promise<void> {
  const bench = await startBench();
  const beside = BESIDE === undefined ? null : await startBench(BESIDE);
  const benches = beside ? [bench, beside] : [bench];
  const bare = await forkServer('bare-server-process', [bench.postgres.urlFor('malipo')]);
  const pids = { server: bare.child.pid, PostgreSQL: bench.postgres.pid };
  const whole = await targetOf(bench);
  const targets: Record<Shape, Target> = {
    bare: { baseUrl: `http://127.0.0.1:${bare.port}`, apiKey: whole.apiKey, pids },
    whole,
    beside: beside ? await targetOf(beside) : whole,
  };
  const takeTurns = async (rounds: number, run: (target: Target) => Promise<Round>): Promise<Rounds> => {
    const measured: Record<Shape, Round[]> = { bare: [], whole: [], beside: [] };
    for (let round = 1; round <= rounds; round++) {
      for (const shape of SHAPES) measured[shape].push(await run(targets[shape]));
      for (const { db } of benches) await emptyQueue(db);
    }
    return measured;
  };

  for (const { temporal } of benches) process.kill(temporal.pid, 'SIGSTOP');
  await takeTurns(1, (target) => flood(target, WARM_UP_S));
  const loaded = await takeTurns(ROUNDS, (target) => flood(target, SECONDS));
  const rates = [loaded.whole, loaded.beside].map((rounds) => median(rounds.map(({ perSecond }) => perSecond)));
  const rate = CALM_SHARE * Math.min(...rates.slice(0, benches.length));
  const calm = await takeTurns(ROUNDS, (target) => pace(target, rate));
  report(loaded, `${CALLERS} callers`);
  const ratios = loaded.whole.map(({ perSecond }, index) => perSecond / (loaded.bare[index]?.perSecond ?? 0));
  const each = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  process.stdout.write(`\nratio: ${median(ratios).toFixed(2)} (rounds: ${each})\n\n`);
  report(calm, `at ${rate.toFixed(0)} a second`);
  for (const { temporal } of benches) process.kill(temporal.pid, 'SIGCONT');
  bare.child.kill();
  for (const each of benches) await each.stop();
}

function startBench(root?: string): Promise<BenchEnvironment> {
  return startBenchEnvironment({
    sandboxDecisionMs: 100,
    environment: {
      MALIPO_ROLES: 'api',
      MALIPO_BACKLOG_MAX_COUNT: '1000000',
      MALIPO_BACKLOG_MAX_PER_MERCHANT: '1000000',
      MALIPO_BACKLOG_MAX_AGE_MS: '3600000',
    },
    ...(root !== undefined && { root }),
  });
}

async function targetOf({ db, baseUrl, server, postgres }: BenchEnvironment): Promise<Target> {
  const { apiKey } = await (NOUN === 'payout' ? addPayoutMerchant : addMerchant)(db);
  return { baseUrl, apiKey, pids: { server: server.pid(), PostgreSQL: postgres.pid } };
}

/** As the worker would: without it ever more collections would wait to be sent, and once a second they are counted. */
async function emptyQueue({ pool }: Database): Promise<void> {
  await pool.query(
    `UPDATE payments SET send_begun_at = now() WHERE kind = 'collection' AND state = 'initiated' AND send_begun_at IS NULL`,
  );
  await pool.query(`UPDATE work SET is_started = true, due_at = now() + interval '1 day' WHERE NOT is_started`);
  await pool.query('VACUUM ANALYZE payments, work');
}

/** As fast as all callers together can, each with one request at a time. */
function flood(target: Target, seconds: number): Promise<Round> {
  const endMs = performance.now() + seconds * 1000;
  return measure(target, async (latenciesMs) => {
    const caller = async (): Promise<void> => {
      while (performance.now() < endMs) latenciesMs.push(await post(target));
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  });
}

/**
 * At this rate, whether or not earlier requests have their response. It begins a second before it is measured: the connections that
 * were closed while nothing was requested are opened again.
 */
async function pace(target: Target, perSecond: number): Promise<Round> {
  const call = (seconds: number, work: () => Promise<void>) =>
    callAll({ count: Math.round(perSecond * seconds), perSecond }, work);
  await call(1, async () => {
    await post(target);
  });
  return measure(target, (latenciesMs) => call(SECONDS, async () => void latenciesMs.push(await post(target))));
}

async function measure(target: Target, run: (latenciesMs: number[]) => Promise<void>): Promise<Round> {
  const latenciesMs: number[] = [];
  const before = cpuSecondsByName(target.pids);
  const startedMs = performance.now();
  await run(latenciesMs);
  const count = latenciesMs.length;
  const perSecond = (count * 1000) / (performance.now() - startedMs);
  return { perSecond, cpuMs: cpuMsSince(before, target.pids, count), latenciesMs };
}

/** Another one each time, as the phones of payers are. */
function newPhone(): string {
  return `25677${randomInt(1_000_000, 10_000_000)}`;
}

async function post(target: Target): Promise<number> {
  const startedMs = performance.now();
  const { statusCode, body } = await requestPayment(target, NOUN, target.apiKey, newPhone());
  const text = await body.text();
  if (statusCode !== 202) throw new Error(`response ${statusCode}: ${text}`);
  return performance.now() - startedMs;
}

const NAMES: Readonly<Record<Shape, string>> = {
  bare: 'bare Koa, one INSERT',
  whole: `a ${NOUN} accepted`,
  beside: 'by the other checkout',
};

/** Of each column the median of the rounds, and their p99s. */
function report(rounds: Rounds, load: string): void {
  const lines = SHAPES.map((shape) => {
    const of = (read: (round: Round) => number) => median(rounds[shape].map(read));
    const p99s = rounds[shape].map(({ latenciesMs }) => percentile(latenciesMs, 0.99));
    return [
      NAMES[shape],
      of(({ perSecond }) => perSecond).toFixed(0),
      of(({ cpuMs }) => cpuMs['server'] ?? 0).toFixed(2),
      of(({ cpuMs }) => cpuMs['PostgreSQL'] ?? 0).toFixed(2),
      of(({ latenciesMs }) => percentile(latenciesMs, 0.5)).toFixed(1),
      p99s.map((p) => p.toFixed(1)).join(', '),
    ];
  });
  printTable([[load, 'per second', 'server, CPU ms each', 'PostgreSQL, CPU ms each', 'p50 ms', 'p99 ms'], ...lines]);
}
