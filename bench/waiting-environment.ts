// What the benchmarks of waiting payments measure by: status queries, memory and CPU of the processes.
import { readdirSync, readFileSync } from 'node:fs';
import { fetch } from 'undici';
import { cpuSecondsByName } from './cpu.ts';
import type { BenchEnvironment } from './bench-environment.ts';

/** The processes that a payment costs; the sandbox and the driver are not the service's. */
export const pidsOf = (bench: BenchEnvironment) => ({
  server: bench.server.pid(),
  Temporal: bench.temporal.pid,
  PostgreSQL: bench.postgres.pid,
});

/** Calls for the status of a collection since the server began, whatever the operator said. */
export async function statusQueries(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = text.matchAll(/^malipo_operator_calls_total\{[^}]*call="get_collection_status"[^}]*\} (\S+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** MB of memory of the process alone that no other process of its kind shares, summed with those of its children. */
export function memoryMb(bench: BenchEnvironment): Record<string, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = /^PPid:\s+(\d+)$/m.exec(read(`/proc/${name}/status`))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const familyOf = (pid: number): number[] => [
    pid,
    ...[...parents].filter(([, parent]) => parent === pid).flatMap(([child]) => familyOf(child)),
  ];
  return Object.fromEntries(
    Object.entries(pidsOf(bench)).map(([name, pid]) => {
      const kb = pid === undefined ? [] : familyOf(pid).map((each) => pssKb(each));
      return [name, Math.round(kb.reduce((sum, one) => sum + one, 0) / 1024)];
    }),
  );
}

// What several processes share counts once: PostgreSQL's share their buffers.
function pssKb(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/** CPU milliseconds of each process while `work` ran, and how long that took. */
export async function costOf(
  bench: BenchEnvironment,
  work: () => Promise<unknown>,
): Promise<{ readonly cpuMs: Readonly<Record<string, number>>; readonly seconds: number }> {
  const before = cpuSecondsByName(pidsOf(bench));
  const startedMs = performance.now();
  await work();
  const after = cpuSecondsByName(pidsOf(bench));
  const cpuMs = Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, (seconds - (before[name] ?? 0)) * 1000]),
  );
  return { cpuMs, seconds: (performance.now() - startedMs) / 1000 };
}

export function shown(values: Readonly<Record<string, number>>, digits = 0): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
    .join(', ');
}

export const sum = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((total, value) => total + value, 0);
