// Runs a Temporal development server as a child process with low-cost settings, and waits until it is ready.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { freePort, requireFreePort } from '../process/ports.ts';
import {
  describeExit,
  launchEngine,
  type Engine,
  type EngineOptions,
  type SupervisedProcess,
} from '../process/supervised-process.ts';

export type TemporalServerOptions = EngineOptions & {
  readonly binary: string;
  /** Without it the data are in memory and lost at the end. */
  readonly databaseFile?: string;
  readonly host: string;
  readonly port: number;
  /** Without it there is no web UI. */
  readonly uiPort?: number;
  /** Created at the start when they are missing; `default` always exists. */
  readonly namespaces: readonly string[];
  /** Tests use `off`: it is faster, and data may be lost in a power cut. */
  readonly synchronous?: 'normal' | 'off';
};

export type TemporalServer = Engine & {
  /** host:port of the gRPC front end. */
  readonly address: string;
  readonly uiUrl: string | undefined;
};

const STOP = { signal: 'SIGTERM', limitMs: 15_000 } as const;
const POLL_MS = 100;

// What follows applies to both kinds of server. One partition per task queue: on a small machine more of them only forward tasks to one another. Eager activities
// save a round trip through matching. Some servers refuse to reuse a workflow id within the reuse interval; here the
// database prevents a second payment. The time shift is how late a new timer or retry may fire: one second by default,
// which also costs a short workflow a third more CPU. Fairness gives each webhook endpoint its turn when more retries
// are due than can be sent at once. A workflow that waits needs no place in the cache of histories. The version check would query a
// server on the internet.
export const DYNAMIC_CONFIG = {
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  'history.workflowIdReuseMinimalInterval': '1ms',
  'history.timerProcessorMaxTimeShift': '20ms',
  'matching.enableFairness': true,
  'history.hostLevelCacheMaxSize': 2000,
  'frontend.enableServerVersionCheck': false,
} as const;

// Nothing is inherited: without HOME the server neither reads nor writes the user's Temporal settings. GOGC: a larger
// heap, and much less time in the garbage collector, up to GOMEMLIMIT. The last two keep server and UI from calling
// servers on the internet.
export const TEMPORAL_ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  GOGC: '400',
  GOMEMLIMIT: '500MiB',
  TEMPORAL_VERSION_CHECK_DISABLED: '1',
  TEMPORAL_DISABLE_NEWS_FETCH: 'true',
} as const;

/** Resolves when the server responds for each of the namespaces; otherwise rejects with the end of its log. */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { binary, databaseFile, host, port, uiPort } = options;
  // Checked first: another server on this port would answer the readiness check.
  await requireFreePort('the Temporal server', port, host);
  if (uiPort !== undefined) await requireFreePort('the Temporal web UI', uiPort, host);
  if (databaseFile !== undefined) prepareDatabaseFile(databaseFile);
  const address = `${host}:${port}`;
  const taken = uiPort === undefined ? [port] : [port, uiPort];
  const args = argumentsFor(options, await freePort(host, taken));
  const engine = await launchEngine(
    { command: binary, args, env: TEMPORAL_ENVIRONMENT, end: STOP },
    options,
    (server) => untilTemporalResponds(server, address, options),
  );
  if (databaseFile !== undefined) markAsComplete(databaseFile);
  return { ...engine, address, uiUrl: uiPort === undefined ? undefined : `http://${host}:${uiPort}` };
}

function argumentsFor(
  { databaseFile, host, port, uiPort, namespaces, synchronous = 'normal' }: TemporalServerOptions,
  httpPort: number,
): string[] {
  const file = ['--db-filename', databaseFile ?? ''];
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', `synchronous=${synchronous}`];
  return [
    // No log level: if it is set, even to the default, the server logs every broken connection of its own shutdown.
    ...['server', 'start-dev', '--disable-config-file', '--disable-config-env'],
    // Left to itself it picks an HTTP port that any outgoing connection may be given first, and then ends.
    ...['--ip', host, '--port', String(port), '--http-port', String(httpPort)],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(databaseFile === undefined ? [] : [...file, ...pragmas]),
    ...namespaces.flatMap((namespace) => ['--namespace', namespace]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${JSON.stringify(value)}`,
    ]),
  ];
}

// The server creates its tables only in a new file. A server killed meanwhile leaves a file on which none can start, so
// a file with which no server was ever ready is moved aside.
function prepareDatabaseFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file) || existsSync(markerOf(file))) return;
  renameSync(file, `${file}.unfinished`);
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
}

function markAsComplete(file: string): void {
  if (!existsSync(markerOf(file)))
    writeFileSync(markerOf(file), 'A server was ready with the database beside this file.\n');
}

function markerOf(file: string): string {
  return `${file}.complete`;
}

/** Resolves when the server responds for each of the namespaces; otherwise rejects with the end of its log. */
export async function untilTemporalResponds(
  server: SupervisedProcess,
  address: string,
  {
    namespaces,
    logFile,
    readyLimitMs = 60_000,
    signal,
  }: Pick<TemporalServerOptions, 'namespaces' | 'logFile' | 'readyLimitMs' | 'signal'>,
): Promise<void> {
  const deadline = Date.now() + readyLimitMs;
  let missing = 'it does not answer';
  while (Date.now() < deadline) {
    signal?.throwIfAborted();
    const exit = server.exit();
    if (exit) throw new Error(failureText(`it ${describeExit(exit)}`, logFile, server));
    try {
      await checkNamespaces(address, namespaces);
      return;
    } catch (error) {
      missing = error instanceof Error ? error.message : String(error);
    }
    await sleep(POLL_MS);
  }
  throw new Error(failureText(`not within ${readyLimitMs / 1_000} s (${missing})`, logFile, server));
}

async function checkNamespaces(address: string, namespaces: readonly string[]): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '2s' });
  try {
    for (const namespace of namespaces) await connection.workflowService.describeNamespace({ namespace });
  } finally {
    await connection.close();
  }
}

function failureText(reason: string, logFile: string, server: SupervisedProcess): string {
  return `the Temporal server did not start: ${reason}. The end of ${logFile}:\n${server.logTail()}`;
}
