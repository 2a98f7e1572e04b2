// Compares whole collections with the bare workflow, in turns on one Temporal server within one run.
import type { ChildProcess } from 'node:child_process';
import { registerEndpoint } from '../src/operations/webhooks/register-endpoint.ts';
import { loadConfig } from '../src/config.ts';
import { cpuSecondsOf, ownCpuSeconds } from './cpu.ts';
import {
  addMerchant,
  forkEntry,
  messageFrom,
  NAMESPACE,
  requestCollection,
  startBenchEnvironment,
  type BenchEnvironment,
} from './bench-environment.ts';
import { median, percentile, printTable } from './table.ts';

export const COUNT = Number(process.env['BENCH_COUNT'] ?? 400);
export const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const WARM_UP = 100;
const IN_FLIGHT = Number(process.env['BENCH_IN_FLIGHT'] ?? 40);
/** From the operator's acceptance of the prompt to its callback, the same for both. */
const DECISION_MS = 100;

export type Round = {
  readonly perSecond: number;
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly latenciesMs: readonly number[];
};

export async function benchCollections(): Promise<void> {
  const bench = await startBenchEnvironment({ sandboxDecisionMs: DECISION_MS });
  const bare = forkEntry('bare-process', [bench.temporal.address, NAMESPACE]);
  await messageFrom(bare);
  const whole = await startWholeShape(bench);

  await runBare(bare, WARM_UP);
  await whole.run(WARM_UP);
  const rounds: { bare: Round; whole: Round }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.push({
      bare: await measure({ 'bare worker': bare.pid, Temporal: bench.temporal.pid }, () => runBare(bare, COUNT)),
      whole: await measure(
        {
          server: bench.server.pid(),
          Temporal: bench.temporal.pid,
          PostgreSQL: bench.postgres.pid,
          sandbox: bench.sandbox.pid(),
          receiver: whole.receiver.pid,
          driver: process.pid,
        },
        () => whole.run(COUNT),
      ),
    });
  }
  report(rounds);
  bare.send('stop');
  whole.receiver.kill();
  await bench.stop();
}

async function runBare(bare: ChildProcess, count: number): Promise<number[]> {
  bare.send({ count, inFlight: IN_FLIGHT, decisionMs: DECISION_MS });
  await messageFrom(bare);
  return [];
}

/** Whole collections of a new merchant with a receiver of its own, from request to webhook, some in flight at a time. */
export async function startWholeShape(bench: BenchEnvironment) {
  const receiver = forkEntry('receiver-process');
  const { port } = await messageFrom<{ port: number }>(receiver);
  const { merchantId, apiKey } = await addMerchant(bench.db);
  const { MALIPO_SECRET_KEYS: keyRing } = loadConfig(bench.environment).settings;
  const url = `http://127.0.0.1:${port}/`;
  await registerEndpoint(bench.db, { merchantId, url, description: null, eventTypes: null, keyRing, at: new Date() });
  const arrivals = new Map<string, (atMs: number) => void>();
  const early = new Map<string, number>();
  receiver.on('message', ({ id, atMs }: { id: string; atMs: number }) => {
    const resolve = arrivals.get(id);
    if (resolve) resolve(atMs);
    else early.set(id, atMs);
  });
  const arrival = (id: string) =>
    new Promise<number>((resolve) => {
      const atMs = early.get(id);
      if (atMs === undefined) arrivals.set(id, resolve);
      else resolve(atMs);
    });

  async function runOne(): Promise<number> {
    const startedAtMs = Date.now();
    const response = await requestCollection(bench, apiKey);
    const body = (await response.body.json()) as { id: string };
    if (response.statusCode !== 202) throw new Error(`response ${response.statusCode}: ${JSON.stringify(body)}`);
    return (await arrival(body.id)) - startedAtMs;
  }

  return {
    receiver,
    async run(count: number): Promise<number[]> {
      const latencies: number[] = [];
      let left = count;
      await Promise.all(
        Array.from({ length: IN_FLIGHT }, async () => {
          while (left-- > 0) latencies.push(await runOne());
        }),
      );
      return latencies;
    },
  };
}

/** What `work`, which makes `COUNT` collections, costs these processes. */
export async function measure(
  pids: Readonly<Record<string, number | undefined>>,
  work: () => Promise<number[]>,
): Promise<Round> {
  const cpu = () => Object.entries(pids).map(([name, pid]) => [name, secondsOf(pid)] as const);
  const before = new Map(cpu());
  const startedMs = performance.now();
  const latenciesMs = await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const cpuMs = Object.fromEntries(
    cpu().map(([name, total]) => [name, ((total - (before.get(name) ?? 0)) * 1000) / COUNT]),
  );
  return { perSecond: COUNT / seconds, cpuMs, latenciesMs };
}

// All other processes are children of this one, so this one counts without its children.
function secondsOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  return pid === process.pid ? ownCpuSeconds() : cpuSecondsOf(pid);
}

function report(rounds: readonly { bare: Round; whole: Round }[]): void {
  const cpuOf = (shape: 'bare' | 'whole', name: string) => median(rounds.map((round) => round[shape].cpuMs[name] ?? 0));
  const rate = (shape: 'bare' | 'whole') => median(rounds.map((round) => round[shape].perSecond));
  const line = (shape: 'bare' | 'whole') => {
    const names = Object.keys(rounds[0]?.[shape].cpuMs ?? {});
    const total = names.reduce((sum, name) => sum + cpuOf(shape, name), 0);
    const parts = names.map((name) => `${name} ${cpuOf(shape, name).toFixed(1)}`).join(', ');
    return [shape, rate(shape).toFixed(1), total.toFixed(1), parts];
  };
  printTable([['shape', 'per second', 'CPU ms each', 'by process'], line('bare'), line('whole')]);
  const latencies = rounds.flatMap((round) => round.whole.latenciesMs);
  const ratios = rounds.map((round) => round.whole.perSecond / round.bare.perSecond);
  process.stdout.write(
    `\nrequest to webhook: p50 ${percentile(latencies, 0.5)} ms, p99 ${percentile(latencies, 0.99)} ms` +
      ` (${IN_FLIGHT} in flight, of which ${DECISION_MS} ms are the operator's)\n` +
      `ratio whole / bare: ${median(ratios).toFixed(2)} (rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})\n`,
  );
}
