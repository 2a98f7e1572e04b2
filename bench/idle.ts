// What the service costs while nothing happens: CPU of each process and transactions of its database, beside other checkouts.
import { setTimeout as sleep } from 'node:timers/promises';
import { startWholeShape } from './collections.ts';
import { startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { cpuSecondsByName } from './cpu.ts';
import { printTable } from './table.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
/** Tables and indexes that were never used cost less to look at. */
const WARM_UP = 200;
const SETTLE_MS = 20_000;
/** Other checkouts that are built, as `NAME=ROOT` with spaces between them. */
const BESIDE = (process.env['BENCH_BESIDE'] ?? '').split(' ').filter((each) => each !== '');

/** All idle at the same time: what is counted is CPU, and not time. */
export async function benchIdle(): Promise<void> {
  const benches: [string, BenchEnvironment][] = [['now', await startBenchEnvironment({ sandboxDecisionMs: 100 })]];
  for (const each of BESIDE) {
    const [name = '', root = ''] = each.split('=');
    benches.push([name, await startBenchEnvironment({ sandboxDecisionMs: 100, root })]);
  }
  for (const [, bench] of benches) {
    const whole = await startWholeShape(bench);
    await whole.run(WARM_UP);
    whole.receiver.kill();
  }
  await sleep(SETTLE_MS);
  const before = await Promise.all(benches.map(([, bench]) => stateOf(bench)));
  await sleep(SECONDS * 1000);
  const after = await Promise.all(benches.map(([, bench]) => stateOf(bench)));
  const columns = Object.keys(before[0] ?? {});
  printTable([
    ['each second', ...columns],
    ...benches.map(([name], index) => [
      name,
      ...columns.map((column) =>
        (((after[index]?.[column] ?? 0) - (before[index]?.[column] ?? 0)) / SECONDS).toFixed(1),
      ),
    ]),
  ]);
  for (const [, bench] of benches) await bench.stop();
}

async function stateOf({ server, postgres, temporal, db }: BenchEnvironment): Promise<Record<string, number>> {
  const cpu = cpuSecondsByName({ server: server.pid(), PostgreSQL: postgres.pid, Temporal: temporal.pid });
  const { rows } = await db.pool.query<{ count: string }>(
    `SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()`,
  );
  const ms = Object.entries(cpu).map(([name, seconds]) => [`${name}, CPU ms`, seconds * 1000] as const);
  return { ...Object.fromEntries(ms), transactions: Number(rows[0]?.count) };
}
