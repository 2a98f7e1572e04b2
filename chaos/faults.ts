// Carries out the scheduled faults, and heals each at the end of its time.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { withConnection } from '../src/engines/postgres/connection.ts';
import { identifyProcess, isRunning } from '../src/engines/process/process-identity.ts';
import type { FaultLine } from './checker/evidence.ts';
import type { Engine } from './engine.ts';
import { openLineFile } from './line-file.ts';
import { describeFault, partHitBy, PLUGS, type PlannedFault } from './schedule.ts';
import type { Part, Topology } from './topology.ts';

/** A fault as it happened: on a busy machine it may begin and end later than planned. */
export type Fault = PlannedFault & { readonly begunAtMs: number; readonly healedAtMs: number };

type FaultsOptions = {
  readonly topology: Topology;
  readonly seed: string;
  readonly startMs: number;
  readonly report: Report;
};

export type Heal = () => Promise<void>;
type Report = (line: string) => void;
/** Records each action on the service before it happens. */
type Record = (line: FaultLine) => void;

const SWITCHING = { limitMs: 5000, tries: 20, waitMs: 500 } as const;
const ENGINE_START = { limitMs: 60_000, lookEveryMs: 100 } as const;
/** Longer than the server waits for an operator, or for a receiver, in the demonstration. */
const LATENCY_MS = { operator: 7000, receiver: 5000 } as const;
const OPERATOR_ERROR_RATE = 0.6;
const NOT_HEALED: Heal = () => Promise.resolve();

/** Resolves with all faults when the last one is healed. */
export async function runFaults(schedule: readonly PlannedFault[], options: FaultsOptions): Promise<Fault[]> {
  const file = openLineFile(options.topology.evidence.faultFile);
  const record: Record = (line) => {
    file.append(line);
  };
  const underWay = schedule.map(async (planned): Promise<Fault> => {
    const { number: fault, kind } = planned;
    await sleep(Math.max(0, options.startMs + planned.atMs - Date.now()));
    options.report(describeFault(planned));
    const begunAtMs = Date.now();
    record({ type: 'begun', fault, kind, hits: partHitBy(kind), atMs: begunAtMs });
    const heal = await begin(planned, options, record);
    await sleep(planned.durationMs);
    await heal();
    const healedAtMs = Date.now();
    record({ type: 'healed', fault, atMs: healedAtMs });
    return { ...planned, begunAtMs, healedAtMs };
  });
  return Promise.all(underWay);
}

async function begin(
  { kind, target, number, durationMs }: PlannedFault,
  options: FaultsOptions,
  record: Record,
): Promise<Heal> {
  const { topology, seed, report } = options;
  const { serverProcesses, temporal, postgres, temporalPostgres, sandbox, receiver, disk } = topology;
  const server = serverProcesses[target % serverProcesses.length];
  switch (kind) {
    case 'server_killed':
      return end(server, 'SIGKILL', record);
    case 'server_stopped':
      return stopProcess(server);
    case 'temporal_killed':
      return endEngine(temporal, 'SIGKILL', { durationMs, record });
    case 'temporal_stopped':
      return stopProcess(temporal);
    case 'postgres_killed':
      return endEngine(postgres, 'SIGKILL', { durationMs, record });
    case 'postgres_shut_down':
      // PostgreSQL's immediate shutdown: it ends every connection, and recovers from its log at the next start.
      return endEngine(postgres, 'SIGQUIT', { durationMs, record });
    case 'postgres_stopped':
      return stopProcess(postgres);
    case 'all_backends_terminated':
      return terminateBackends(topology, report, () => true);
    case 'some_backends_terminated':
      return terminateBackends(topology, report, (pid) => isChosen(`${seed}/${number}/${pid}`));
    case 'operator_slow':
      return switchOperator(topology, report, { latencyMs: LATENCY_MS.operator });
    case 'operator_errors':
      return switchOperator(topology, report, { errorRate: OPERATOR_ERROR_RATE });
    case 'operator_down':
      return switchOperator(topology, report, { down: true });
    case 'operator_killed':
      return end(sandbox, 'SIGKILL', record);
    case 'operator_stopped':
      return stopProcess(sandbox);
    case 'receiver_slow':
      return switchReceiver(topology, report, { name: 'slow', latencyMs: LATENCY_MS.receiver });
    case 'receiver_errors':
      return switchReceiver(topology, report, { name: 'errors' });
    case 'receiver_down':
      return switchReceiver(topology, report, { name: 'down' });
    case 'receiver_killed':
      return end(receiver, 'SIGKILL', record);
    case 'disk_full':
      disk?.fill();
      return () => Promise.resolve(disk?.makeRoom());
    case 'plug_of_engines_pulled':
    case 'plug_of_database_pulled': {
      const engines = kind === PLUGS.engines ? [temporalPostgres, temporal] : [temporalPostgres];
      for (const engine of engines) engine.holdDown(Date.now() + durationMs);
      pullPlug(engines, record);
      return () => untilAllRun(engines);
    }
  }
}

/** Does nothing while the part is down. */
async function end(part: Part | undefined, signal: NodeJS.Signals, record: Record): Promise<Heal> {
  const pid = part?.pid();
  if (pid !== undefined) {
    record({ type: 'signal', pid, signal, atMs: Date.now() });
    process.kill(pid, signal);
  }
  return Promise.resolve(NOT_HEALED);
}

async function endEngine(
  engine: Engine,
  signal: NodeJS.Signals,
  { durationMs, record }: { readonly durationMs: number; readonly record: Record },
): Promise<Heal> {
  engine.holdDown(Date.now() + durationMs);
  await end(engine, signal, record);
  // Until it runs again: the start time of an engine is not the service's fault.
  return () => untilAllRun([engine]);
}

async function untilAllRun(engines: readonly Engine[]): Promise<void> {
  const giveUpAtMs = Date.now() + ENGINE_START.limitMs;
  while (engines.some((engine) => engine.pid() === undefined) && Date.now() < giveUpAtMs)
    await sleep(ENGINE_START.lookEveryMs);
}

/** Stops the process until it is healed. */
export async function stopProcess(part: Part | undefined): Promise<Heal> {
  const pid = part?.pid();
  // The same process later: its number may belong to another one by then.
  const stopped = pid === undefined ? undefined : identifyProcess(pid);
  if (stopped === undefined) return Promise.resolve(NOT_HEALED);
  process.kill(stopped.pid, 'SIGSTOP');
  return () => {
    if (isRunning(stopped)) process.kill(stopped.pid, 'SIGCONT');
    return Promise.resolve();
  };
}

async function terminateBackends(
  { adminUrl }: Topology,
  report: Report,
  isWanted: (pid: number) => boolean,
): Promise<Heal> {
  const config = { connectionString: adminUrl, connectionTimeoutMillis: SWITCHING.limitMs };
  try {
    await withConnection(config, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = 'malipo' AND backend_type = 'client backend'`,
      );
      const chosen = rows.map(({ pid }) => pid).filter(isWanted);
      await client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [chosen]);
    });
  } catch (error) {
    // PostgreSQL itself is unavailable because of another fault.
    report(`no connection could be ended: ${String(error)}`);
  }
  return NOT_HEALED;
}

function isChosen(text: string): boolean {
  return (createHash('sha256').update(text).digest()[0] ?? 0) % 2 === 0;
}

export async function switchOperator(topology: Topology, report: Report, faults: object): Promise<Heal> {
  const url = `${topology.sandbox.url}/sandbox/faults`;
  await put(url, faults, report);
  return () => put(url, {}, report);
}

export async function switchReceiver(topology: Topology, report: Report, mode: object): Promise<Heal> {
  await put(topology.receiver.url, mode, report);
  return () => put(topology.receiver.url, { name: 'ok' }, report);
}

// A part that was killed meanwhile has lost its fault, and accepts the switch once it is up again.
async function put(url: string, body: object, report: Report): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const response = await request(url, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(SWITCHING.limitMs),
      });
      await response.body.dump();
      return;
    } catch (error) {
      if (tries === SWITCHING.tries) throw error;
      if (tries === 1) report(`${url} does not respond (${String(error)}); it is asked again`);
      await sleep(SWITCHING.waitMs);
    }
  }
}

/**
 * Kills every process of these engines at once, so that memory that was not written is lost. Unlike a power loss,
 * written data that were not flushed stay, because the operating system continues. Only events of the same millisecond
 * can happen between two of the kills.
 */
function pullPlug(engines: readonly Engine[], record: Record): void {
  const pids = engines.flatMap((engine) => {
    const pid = engine.pid();
    return pid === undefined ? [] : [pid, ...childrenOf(pid)];
  });
  const atMs = Date.now();
  for (const pid of pids) record({ type: 'signal', pid, signal: 'SIGKILL', atMs });
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself: the end of a connection is the end of its process.
    }
  }
}

/** Each connection and each task of PostgreSQL is a process that would notice only a moment later. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
