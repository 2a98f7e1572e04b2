// The bench environment of benchmarks whose payments wait, and what they measure by: status queries, CPU, memory, and how long after
// its callback the merchant knows of a payment.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetch } from 'undici';
import { freePort } from '../src/engines/process/ports.ts';
import type { CollectionId } from '../src/domain/ids.ts';
import { acceptedId, requestCollection, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { startWholeShape } from './collections.ts';
import { cpuMsSince, cpuSecondsByName, familyOf } from './cpu.ts';
import { printTable } from './table.ts';

export type WaitingEnvironment = {
  readonly bench: BenchEnvironment;
  /** When the webhook about the end of each payment came, as far as it has come. */
  readonly endedAtMs: ReadonlyMap<CollectionId, number>;
  /** Requests a collection of this phone; undefined if the service refuses it for now. */
  request(phone: string): Promise<CollectionId | undefined>;
  /** Resolves when the webhook about its end has come. */
  ended(id: CollectionId): Promise<void>;
  /** What the processes cost while `work` runs, and how often the service asks for a status meanwhile. */
  costOf(work: () => Promise<unknown>): Promise<Cost>;
  /** What the processes cost while nothing happens, once the work before has settled. */
  costAtRest(): Promise<Cost>;
  /** In MB, of each process with its children. What several of them share counts once, as the buffers of PostgreSQL. */
  memory(): string;
  /** From the first callback about each of these payments to the webhook about its end, in milliseconds; without those whose end no callback brought. */
  callbackToWebhookMs(ids: readonly CollectionId[]): Promise<number[]>;
  stop(): Promise<void>;
};

type Options = { readonly sandboxDecisionMs: number; readonly environment?: Readonly<Record<string, string>> };

/** `BENCH_ROOT`: another checkout that is built and is run in place of this one. */
export async function startWaitingEnvironment(options: Options): Promise<WaitingEnvironment> {
  const metricsPort = await freePort();
  const root = process.env['BENCH_ROOT'];
  const bench = await startBenchEnvironment({
    ...options,
    environment: { MALIPO_METRICS_PORT: String(metricsPort), ...options.environment },
    ...(root !== undefined && { root }),
  });
  const whole = await startWholeShape(bench);
  const endedAtMs = new Map<CollectionId, number>();
  const costOf = (work: () => Promise<unknown>) => costIn(bench, () => countStatusQueries(metricsPort), work);
  return {
    bench,
    endedAtMs,
    request: async (phone) => acceptedId<CollectionId>(await requestCollection(bench, whole.apiKey, phone)),
    async ended(id) {
      endedAtMs.set(id, await whole.arrival(id));
    },
    costOf,
    async costAtRest() {
      await sleep(SETTLE_MS);
      return costOf(() => sleep(REST_MS));
    },
    memory: () => memoryOf(bench),
    callbackToWebhookMs: (ids) => callbackToWebhookMs(bench, endedAtMs, ids),
    async stop() {
      whole.receiver.kill();
      await bench.stop();
    },
  };
}

async function countStatusQueries(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = text.matchAll(/^malipo_operator_calls_total\{[^}]*call="get_collection_status"[^}]*\} (\S+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

export const SERVICE = ['server', 'Temporal', 'PostgreSQL'] as const;
const MEASURED = [...SERVICE, 'sandbox'] as const;
/** The sandbox is no part of the service. */
type Each = Readonly<Record<(typeof MEASURED)[number], number>>;

function pidsOf({ server, temporal, postgres, sandbox }: BenchEnvironment) {
  return { server: server.pid(), Temporal: temporal.pid, PostgreSQL: postgres.pid, sandbox: sandbox.pid() };
}

export type Cost = { readonly cpuMs: Each; readonly seconds: number; readonly queries: number };

async function costIn(
  bench: BenchEnvironment,
  statusQueries: () => Promise<number>,
  work: () => Promise<unknown>,
): Promise<Cost> {
  const queriesBefore = await statusQueries();
  const before = cpuSecondsByName(pidsOf(bench));
  const startedMs = performance.now();
  await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const spentMs = cpuMsSince(before, pidsOf(bench));
  const cpuMs = byProcess((name) => spentMs[name] ?? 0);
  return { cpuMs, seconds, queries: (await statusQueries()) - queriesBefore };
}

const SETTLE_MS = 10_000;
const REST_MS = 20_000;

type CpuReport = { readonly atRest: Cost; readonly of: string; readonly count: number; readonly digits: number };

/** The CPU time of each process for one of so many, and how much of it the processes would have taken at rest. */
export function printCpu(cost: Cost, { atRest, of, count, digits }: CpuReport): void {
  const each = byProcess((name) => cost.cpuMs[name] / count);
  const ofRest = byProcess((name) => ((atRest.cpuMs[name] / atRest.seconds) * cost.seconds) / count);
  const line = (name: string, all: number, rest: number) => [name, all.toFixed(digits), rest.toFixed(digits)];
  process.stdout.write('\n');
  printTable([
    ['process', `CPU ms a ${of}`, 'of it at rest'],
    ...SERVICE.map((name) => line(name, each[name], ofRest[name])),
    line('service', sumOfService(each), sumOfService(ofRest)),
    line('sandbox', each.sandbox, ofRest.sandbox),
  ]);
}

export function byProcess(value: (name: (typeof MEASURED)[number]) => number): Each {
  return Object.fromEntries(MEASURED.map((name) => [name, value(name)])) as Each;
}

export function sumOfService(values: Each): number {
  return SERVICE.reduce((sum, name) => sum + values[name], 0);
}

function memoryOf(bench: BenchEnvironment): string {
  const pids = pidsOf(bench);
  return SERVICE.map((name) => {
    const pid = pids[name];
    const kB = (pid === undefined ? [] : familyOf(pid)).reduce((sum, member) => sum + residentKb(member), 0);
    return `${name} ${Math.round(kB / 1024)} MB`;
  }).join(', ');
}

function residentKb(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
  } catch {
    // It has ended.
    return 0;
  }
}

async function callbackToWebhookMs(
  { db }: BenchEnvironment,
  endedAtMs: ReadonlyMap<CollectionId, number>,
  ids: readonly CollectionId[],
): Promise<number[]> {
  const { rows } = await db.pool.query<{ id: CollectionId; ms: number }>(
    `SELECT payment_id AS id, (extract(epoch FROM min(received_at)) * 1000)::float8 AS ms FROM operator_callbacks
     WHERE payment_id = ANY($1) GROUP BY payment_id`,
    [ids],
  );
  return rows.map(({ id, ms }) => (endedAtMs.get(id) ?? Number.NaN) - ms).filter((ms) => ms >= 0);
}
