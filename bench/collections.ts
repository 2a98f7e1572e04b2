// Compares whole collections with the bare workflow, in turns on one Temporal server within one run; and with those that
// `BENCH_BESIDE` names, on engines of their own.
import type { ChildProcess } from 'node:child_process';
import { cpuMsSince, cpuSecondsByName, type Pids } from './cpu.ts';
import {
  forkEntry,
  forkServer,
  messageFrom,
  NAMESPACE,
  requestCollection,
  startBenchEnvironment,
  type BenchEnvironment,
  type TemporalEngine,
} from './bench-environment.ts';
import { addEndpoint, addMerchant } from './merchants.ts';
import { median, percentile, printTable, type Round } from './table.ts';

export const COUNT = Number(process.env['BENCH_COUNT'] ?? 400);
export const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const WARM_UP = 50;
const IN_FLIGHT = Number(process.env['BENCH_IN_FLIGHT'] ?? 40);
/** From the operator's acceptance of the prompt to its callback, the same for both. */
const DECISION_MS = 100;

/**
 * What is measured in the same turns, as `NAME=ROOT:ENGINE:SETTING=VALUE…` with spaces between them: another checkout that is built
 * (this one if the root is empty), where Temporal keeps its data (`sqlite`, `postgresql`, `postgresql-async`), and settings of the
 * service. On each other engine the bare workflow is measured, too.
 */
const BESIDE = (process.env['BENCH_BESIDE'] ?? '').split(' ').filter((each) => each !== '');

type Shape = {
  run(count: number): Promise<number[]>;
  readonly pids: () => Pids;
  stop(): Promise<void>;
};

export async function benchCollections(): Promise<void> {
  const bench = await startBenchEnvironment({ sandboxDecisionMs: DECISION_MS });
  const shapes: Record<string, Shape> = { bare: await startBare(bench), whole: await startWhole(bench) };
  for (const each of BESIDE) Object.assign(shapes, await startBeside(each));
  for (const shape of Object.values(shapes)) await shape.run(WARM_UP);
  const rounds: Record<string, Round>[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const measured: Record<string, Round> = {};
    // None is always the first of a round.
    const order = round % 2 === 0 ? Object.entries(shapes).reverse() : Object.entries(shapes);
    for (const [name, shape] of order) measured[name] = await measure(shape.pids(), () => shape.run(COUNT));
    rounds.push(measured);
  }
  report(rounds);
  for (const shape of Object.values(shapes).reverse()) await shape.stop();
}

async function startBeside(text: string): Promise<Record<string, Shape>> {
  const name = text.split('=', 1)[0] ?? '';
  const [root = '', engine = '', ...settings] = text.slice(name.length + 1).split(':');
  const bench = await startBenchEnvironment({
    sandboxDecisionMs: DECISION_MS,
    environment: Object.fromEntries(settings.map((setting) => setting.split('=', 2) as [string, string])),
    ...(root !== '' && { root }),
    ...(engine !== '' && { engine: engine as TemporalEngine }),
  });
  const bare = engine === '' || engine === 'sqlite' ? {} : { [`bare of ${name}`]: await startBare(bench) };
  return { ...bare, [name]: await startWhole(bench) };
}

async function startBare(bench: BenchEnvironment): Promise<Shape> {
  const bare = forkEntry('bare-process', [bench.temporal.address, NAMESPACE]);
  await messageFrom(bare);
  return {
    run: (count) => runBare(bare, count),
    pids: () => ({ 'bare worker': bare.pid, Temporal: bench.temporal.pid }),
    stop() {
      bare.send('stop');
      return Promise.resolve();
    },
  };
}

async function startWhole(bench: BenchEnvironment): Promise<Shape> {
  const whole = await startWholeShape(bench);
  return {
    run: (count) => whole.run(count),
    pids: () => ({
      server: bench.server.pid(),
      Temporal: bench.temporal.pid,
      PostgreSQL: bench.postgres.pid,
      sandbox: bench.sandbox.pid(),
      receiver: whole.receiver.pid,
      driver: process.pid,
    }),
    async stop() {
      whole.receiver.kill();
      await bench.stop();
    },
  };
}

async function runBare(bare: ChildProcess, count: number): Promise<number[]> {
  bare.send({ count, inFlight: IN_FLIGHT, decisionMs: DECISION_MS });
  await messageFrom(bare);
  return [];
}

/** Whole collections of a new merchant with a receiver of its own, from request to webhook, some in flight at a time. */
export async function startWholeShape(bench: BenchEnvironment) {
  const { child: receiver, port } = await forkServer('receiver-process');
  const { merchantId, apiKey } = await addMerchant(bench.db);
  const { keyRing } = bench;
  await addEndpoint(bench.db, { merchantId, url: `http://127.0.0.1:${port}/`, keyRing });
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
    apiKey,
    arrival,
    runOne,
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
export async function measure(pids: Pids, work: () => Promise<number[]>): Promise<Round> {
  const before = cpuSecondsByName(pids);
  const startedMs = performance.now();
  const latenciesMs = await work();
  const seconds = (performance.now() - startedMs) / 1000;
  return { perSecond: COUNT / seconds, cpuMs: cpuMsSince(before, pids, COUNT), latenciesMs };
}

function report(rounds: readonly Readonly<Record<string, Round>>[]): void {
  const names = Object.keys(rounds[0] ?? {});
  const valuesOf = (value: (round: Readonly<Record<string, Round>>) => number | undefined) =>
    median(rounds.map((round) => value(round) ?? Number.NaN));
  const line = (name: string) => {
    const processes = Object.keys(rounds[0]?.[name]?.cpuMs ?? {});
    const cpu = processes.map((each) => [each, valuesOf((round) => round[name]?.cpuMs[each])] as const);
    const total = cpu.reduce((sum, [, ms]) => sum + ms, 0);
    const parts = cpu.map(([each, ms]) => `${each} ${ms.toFixed(1)}`).join(', ');
    return [name, valuesOf((round) => round[name]?.perSecond).toFixed(1), total.toFixed(1), parts];
  };
  printTable([['shape', 'per second', 'CPU ms each', 'by process'], ...names.map(line)]);
  for (const name of names.filter((each) => !each.startsWith('bare'))) {
    const bare = names.includes(`bare of ${name}`) ? `bare of ${name}` : 'bare';
    const latencies = rounds.flatMap((round) => round[name]?.latenciesMs ?? []);
    const ratios = rounds.map((round) => (round[name]?.perSecond ?? 0) / (round[bare]?.perSecond ?? 0));
    const shown = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
    process.stdout.write(
      `\n${name}: request to webhook p50 ${percentile(latencies, 0.5)} ms, p99 ${percentile(latencies, 0.99)} ms` +
        ` (${IN_FLIGHT} in flight, of which ${DECISION_MS} ms are the operator's)\n` +
        `ratio ${name} / ${bare}: ${median(ratios).toFixed(2)} (rounds: ${shown})\n`,
    );
  }
}
