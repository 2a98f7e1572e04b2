// Sends a backlog of webhooks to receivers of several speeds, and part of it through one workflow per event, in one
// run.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeBacklog, type BacklogTarget } from './backlog.ts';
import { cpuMsSince, cpuSecondsByName, type Pids } from './cpu.ts';
import { forkServer, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { addReceivers } from './merchants.ts';
import { printTable, type Round } from './table.ts';

const COUNT = Number(process.env['BENCH_COUNT'] ?? 20_000);
const TEXTBOOK_COUNT = Number(process.env['BENCH_TEXTBOOK_COUNT'] ?? 500);
const RECEIVERS = 8;
/** Concurrent requests at each receiver. */
const WORKERS = 16;
const WARM_UP = 500;
const POLL_EVERY_MS = 100;

type Run = Pick<Round, 'perSecond' | 'cpuMs'> & {
  /** Resident memory of the server at the start of the run, and its maximum. */
  readonly memoryMb: readonly [number, number];
};

export async function benchBacklogs(): Promise<void> {
  const bench = await startBenchEnvironment({ sandboxDecisionMs: 100 });
  const { child: receiver, port } = await forkServer('slow-receiver-process', [String(WORKERS)]);
  const targetsAt = (ms: number) => {
    const urls = Array.from({ length: RECEIVERS }, (_, index) => `http://127.0.0.1:${port}/${ms}/${index}`);
    return addReceivers(bench.db, urls, bench.keyRing);
  };
  const pids = { server: bench.server.pid(), PostgreSQL: bench.postgres.pid, Temporal: bench.temporal.pid };
  const quick = await targetsAt(1);
  const measured = (targets: readonly BacklogTarget[], count: number, state: 'pending' | 'retrying') =>
    measure({ bench, pids }, targets, { count, state });

  await measured(quick, WARM_UP, 'pending');
  await measured(quick, WARM_UP / 10, 'retrying');
  const textbook = await measured(quick, TEXTBOOK_COUNT, 'retrying');
  const runs = new Map<number, Run>();
  for (const ms of [1, 50, 500]) runs.set(ms, await measured(await targetsAt(ms), COUNT, 'pending'));
  report(textbook, runs);
  receiver.kill();
  await bench.stop();
}

type Watched = { readonly bench: BenchEnvironment; readonly pids: Pids };

async function measure(
  { bench: { db }, pids }: Watched,
  targets: readonly BacklogTarget[],
  backlog: { readonly count: number; readonly state: 'pending' | 'retrying' },
): Promise<Run> {
  const { rows: before } = await db.pool.query<{ now: Date }>('SELECT now()');
  const cpuBefore = cpuSecondsByName(pids);
  const memoryBefore = memoryMbOf(pids['server']);
  let memoryMax = memoryBefore;
  await makeBacklog(db, targets, backlog);
  const startedMs = performance.now();
  for (;;) {
    const { rows } = await db.pool.query<{ pending: number }>(
      `SELECT count(*)::int AS pending FROM deliveries WHERE created_at >= $1 AND state <> 'delivered'`,
      [before[0]?.now],
    );
    memoryMax = Math.max(memoryMax, memoryMbOf(pids['server']));
    if (rows[0]?.pending === 0) break;
    await sleep(POLL_EVERY_MS);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const cpuMs = cpuMsSince(cpuBefore, pids, backlog.count);
  return { perSecond: backlog.count / seconds, cpuMs, memoryMb: [memoryBefore, memoryMax] };
}

function memoryMbOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}

function report(textbook: Run, runs: ReadonlyMap<number, Run>): void {
  const line = (name: string, run: Run, ms: number) => {
    const total = Object.values(run.cpuMs).reduce((sum, each) => sum + each, 0);
    const parts = Object.entries(run.cpuMs).map(([process, each]) => `${process} ${each.toFixed(2)}`);
    const limit = (RECEIVERS * WORKERS * 1000) / ms;
    return [
      name,
      run.perSecond.toFixed(0),
      limit.toFixed(0),
      (run.perSecond / textbook.perSecond).toFixed(1),
      total.toFixed(2),
      parts.join(', '),
      run.memoryMb.join(' to '),
    ];
  };
  printTable([
    ['', 'per second', 'receivers’ limit', '× textbook', 'CPU ms each', 'by process', 'server MB'],
    line(`a workflow each, 1 ms (${TEXTBOOK_COUNT})`, textbook, 1),
    ...[...runs].map(([ms, run]) => line(`dispatcher, ${ms} ms (${COUNT})`, run, ms)),
  ]);
}
