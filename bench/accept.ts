// Compares accepting a collection with a bare server that inserts one row, in turns on one PostgreSQL within one run. Temporal does
// not answer, so nothing but accepting is measured.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addMerchant, forkEntry, messageFrom, requestCollection, startBenchEnvironment } from './bench-environment.ts';
import { cpuSecondsByName } from './cpu.ts';
import { median, percentile, printTable } from './table.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CALLERS = 32;
const WARM_UP_S = 3;
/** Of the rate that all callers together reach. */
const CALM_SHARE = 0.5;

type Target = { readonly baseUrl: string; readonly pids: Readonly<Record<string, number | undefined>> };
type Round = {
  readonly perSecond: number;
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly latenciesMs: readonly number[];
};

export async function benchAccept(): Promise<void> {
  const bench = await startBenchEnvironment({
    sandboxDecisionMs: 100,
    environment: {
      MALIPO_BACKLOG_MAX_COUNT: '1000000',
      MALIPO_BACKLOG_MAX_PER_MERCHANT: '1000000',
      MALIPO_BACKLOG_MAX_AGE_MS: '3600000',
    },
  });
  const { apiKey } = await addMerchant(bench.db);
  process.kill(bench.temporal.pid, 'SIGSTOP');
  const bareProcess = forkEntry('bare-server-process', [bench.postgres.urlFor('malipo')]);
  const { port } = await messageFrom<{ port: number }>(bareProcess);
  const postgres = { PostgreSQL: bench.postgres.pid };
  const bare = { baseUrl: `http://127.0.0.1:${port}`, pids: { server: bareProcess.pid, ...postgres } };
  const whole = { baseUrl: bench.baseUrl, pids: { server: bench.server.pid(), ...postgres } };

  for (const target of [bare, whole]) await flood(target, apiKey, WARM_UP_S);
  const rounds: { bare: Round; whole: Round }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.push({ bare: await flood(bare, apiKey, SECONDS), whole: await flood(whole, apiKey, SECONDS) });
  }
  const rate = median(rounds.map((round) => round.whole.perSecond)) * CALM_SHARE;
  const calm = await pace(whole, apiKey, rate);
  report(rounds, { rate, latenciesMs: calm });
  process.kill(bench.temporal.pid, 'SIGCONT');
  bareProcess.kill();
  await bench.stop();
}

/** As fast as all callers together can, each with one request at a time. */
async function flood(target: Target, apiKey: string, seconds: number): Promise<Round> {
  const before = cpuSecondsByName(target.pids);
  const startedMs = performance.now();
  const latenciesMs: number[] = [];
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() - startedMs < seconds * 1000) latenciesMs.push(await post(target, apiKey));
    }),
  );
  const count = latenciesMs.length;
  const cpuMs = Object.entries(cpuSecondsByName(target.pids)).map(
    ([name, total]) => [name, ((total - (before[name] ?? 0)) * 1000) / count] as const,
  );
  const perSecond = (count * 1000) / (performance.now() - startedMs);
  return { perSecond, cpuMs: Object.fromEntries(cpuMs), latenciesMs };
}

/** At this rate, whether or not earlier requests have their response. */
async function pace(target: Target, apiKey: string, perSecond: number): Promise<number[]> {
  const requests: Promise<number>[] = [];
  const startedMs = performance.now();
  for (let count = 0; count < perSecond * SECONDS; count++) {
    const waitMs = startedMs + (count * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    requests.push(post(target, apiKey));
  }
  return Promise.all(requests);
}

/** Another one each time, as the phones of payers are. */
function newPhone(): string {
  return `25677${randomInt(1_000_000, 10_000_000)}`;
}

async function post(target: Target, apiKey: string): Promise<number> {
  const startedMs = performance.now();
  const { statusCode, body } = await requestCollection(target, apiKey, newPhone());
  const text = await body.text();
  if (statusCode !== 202) throw new Error(`response ${statusCode}: ${text}`);
  return performance.now() - startedMs;
}

type Calm = { readonly rate: number; readonly latenciesMs: readonly number[] };

function report(rounds: readonly { bare: Round; whole: Round }[], calm: Calm): void {
  const line = (name: string, shape: 'bare' | 'whole') => {
    const all = rounds.map((round) => round[shape]);
    const latencies = all.flatMap(({ latenciesMs }) => latenciesMs);
    const cpu = (part: string) => median(all.map(({ cpuMs }) => cpuMs[part] ?? 0)).toFixed(2);
    return [
      name,
      median(all.map(({ perSecond }) => perSecond)).toFixed(0),
      cpu('server'),
      cpu('PostgreSQL'),
      percentile(latencies, 0.5).toFixed(1),
      percentile(latencies, 0.99).toFixed(1),
    ];
  };
  printTable([
    [`${CALLERS} callers`, 'per second', 'server, CPU ms each', 'PostgreSQL, CPU ms each', 'p50 ms', 'p99 ms'],
    line('bare Koa, one INSERT', 'bare'),
    line('a collection accepted', 'whole'),
  ]);
  const ratios = rounds.map(({ bare, whole }) => whole.perSecond / bare.perSecond);
  const p = (share: number) => percentile(calm.latenciesMs, share).toFixed(1);
  process.stdout.write(
    `\nratio: ${median(ratios).toFixed(2)} (rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})\n` +
      `at ${calm.rate.toFixed(0)} a second, half of that: p50 ${p(0.5)} ms, p99 ${p(0.99)} ms\n`,
  );
}
