// Many payments that wait for their payers, and what that does to the others: their time, the memory, and a restart.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../src/engines/process/ports.ts';
import { requestCollection, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { startWholeShape } from './collections.ts';
import { percentile } from './table.ts';
import { costOf, memoryMb, shown, statusQueries, sum } from './waiting-environment.ts';

const OPEN = Number(process.env['BENCH_OPEN'] ?? 10_000);
const PER_SECOND = 8;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 120);
const MAKE_AT_ONCE = 20;
/** Waits for a person, who never comes. */
const NEVER_ANSWERS = '256772000010';

type Whole = Awaited<ReturnType<typeof startWholeShape>>;

export async function benchOpen(): Promise<void> {
  const metricsPort = await freePort();
  const environment = { MALIPO_METRICS_PORT: String(metricsPort) };
  const bench = await startBenchEnvironment({ sandboxDecisionMs: 2000, environment });
  const whole = await startWholeShape(bench);
  await payBeside(whole, 10);
  const alone = await payBeside(whole, SECONDS);
  await makeOpen(bench, whole.apiKey);
  process.stdout.write(`${OPEN} open; MB: ${shown(memoryMb(bench))}\n`);
  const before = await statusQueries(metricsPort);
  const waiting = await costOf(bench, () => sleep(SECONDS * 1000));
  const queries = (await statusQueries(metricsPort)) - before;
  process.stdout.write(
    `${(queries / waiting.seconds).toFixed(1)} status queries a second that decide nothing: ` +
      `${(sum(waiting.cpuMs) / queries).toFixed(2)} ms of CPU each, with all that the processes do besides (${shown(waiting.cpuMs)} ms)\n`,
  );
  const beside = await payBeside(whole, SECONDS);
  report('none open', alone);
  report(`${OPEN} open`, beside);
  const ratio = (share: number) => (percentile(beside, share) / percentile(alone, share)).toFixed(2);
  process.stdout.write(`ratio p50 ${ratio(0.5)}, p99 ${ratio(0.99)}\nMB: ${shown(memoryMb(bench))}\n`);
  await restart(bench);
  whole.receiver.kill();
  await bench.stop();
}

function report(name: string, latencies: readonly number[]): void {
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  process.stdout.write(`${name}: request to webhook p50 ${p50} ms, p99 ${p99} ms, of which 2000 are the payer's\n`);
}

/** Normal payments at a fixed rate for so long; resolves to how long each took. */
async function payBeside(whole: Whole, seconds: number): Promise<number[]> {
  const paid: Promise<number>[] = [];
  const beganMs = performance.now();
  for (let next = 0; next < seconds * 1000; next += 1000 / PER_SECOND) {
    await sleep(Math.max(0, beganMs + next - performance.now()));
    paid.push(whole.runOne());
  }
  return Promise.all(paid);
}

async function makeOpen(bench: BenchEnvironment, apiKey: string): Promise<void> {
  let left = OPEN;
  const make = async () => {
    while (left-- > 0) {
      const response = await requestCollection(bench, apiKey, NEVER_ANSWERS);
      await response.body.dump();
      if (response.statusCode !== 202) throw new Error(`response ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: MAKE_AT_ONCE }, make));
  const sql = `SELECT count(*)::int AS count FROM payments WHERE state IN ('prompted', 'reconciling')`;
  const isMade = async () => ((await bench.db.pool.query<{ count: number }>(sql)).rows[0]?.count ?? 0) >= OPEN;
  while (!(await isMade())) await sleep(500);
}

/** Kills the server, has all queries due, and waits until none is. */
async function restart({ db, server }: BenchEnvironment): Promise<void> {
  const startedMs = performance.now();
  process.kill(server.pid() ?? 0, 'SIGKILL');
  await db.pool.query(`UPDATE work SET due_at = now(), claimed_until = NULL WHERE task = 'status_query'`);
  const sql = `SELECT FROM work WHERE task = 'status_query' AND coalesce(claimed_until, due_at) < now() LIMIT 1`;
  do await sleep(1000);
  while ((await db.pool.query(sql)).rowCount === 1);
  const seconds = (performance.now() - startedMs) / 1000;
  process.stdout.write(`server killed, all queries due: none overdue after ${seconds.toFixed(0)} s\n`);
}
