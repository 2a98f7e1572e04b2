// Runs a Temporal development server as a child process, set up for low cost, and says when it really answers.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { requireFreePort } from './ports.ts';
import { describeExit, launchProcess, type Exit, type SupervisedProcess } from './supervised-process.ts';

export type TemporalServerOptions = {
  /** The `temporal` program. */
  readonly binary: string;
  /** Absent: in memory, and lost at the end. */
  readonly databaseFile?: string;
  readonly host: string;
  readonly port: number;
  /** Absent: no web UI. */
  readonly uiPort?: number;
  /** Made at the start when they are missing; `default` is always there. */
  readonly namespaces: readonly string[];
  readonly logFile: string;
  /** Tests may trade what a power cut would lose for speed. */
  readonly synchronous?: 'normal' | 'off';
  readonly readyLimitMs?: number;
  /** Called as soon as the process exists, long before it answers. */
  readonly onSpawn?: (pid: number) => void;
};

export type TemporalServer = {
  /** host:port of the gRPC front end. */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly pid: number;
  /** Resolves when the process has ended, wanted or not. */
  readonly exited: Promise<Exit>;
  stop(): Promise<void>;
};

const STOP_LIMIT_MS = 15_000;
const POLL_MS = 100;

// Partitions of a task queue only forward to one another on a small machine; an eagerly started activity saves a round
// through matching. Some servers refuse a workflow id within the reuse interval after its last start; the database is what
// keeps a payment from being made twice. The time shift is how far ahead the server claims to have read its timers, so how
// late a new timer or retry may come: a second by default, in which a short workflow also costs a third more CPU. Fairness
// gives each webhook endpoint its turn when more retries are due than can be made at once. The last one would ask a server
// on the internet for its newest version.
const DYNAMIC_CONFIG = {
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  'history.workflowIdReuseMinimalInterval': '"1ms"',
  'history.timerProcessorMaxTimeShift': '"20ms"',
  'matching.enableFairness': true,
  'frontend.enableServerVersionCheck': false,
} as const;

// Nothing is inherited: without HOME the server neither reads the user's Temporal settings nor writes a cluster id to them.
// GOGC: a larger heap for markedly less time in the garbage collector. The last two keep server and UI from calling home.
const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  GOGC: '400',
  TEMPORAL_VERSION_CHECK_DISABLED: '1',
  TEMPORAL_DISABLE_NEWS_FETCH: 'true',
} as const;

/** Resolves when the server answers for each of the namespaces; rejects with the end of its log when it does not. */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { binary, databaseFile, host, port, uiPort, logFile, onSpawn } = options;
  // Asked beforehand, because whoever has the port might answer in our server's place.
  await requireFreePort('the Temporal server', port, host);
  if (uiPort !== undefined) await requireFreePort('the Temporal web UI', uiPort, host);
  if (databaseFile !== undefined) prepareDatabaseFile(databaseFile);
  const server = await launchProcess({ command: binary, args: argumentsFor(options), env: ENVIRONMENT, logFile });
  onSpawn?.(server.pid);
  const address = `${host}:${port}`;
  try {
    await waitUntilReady(server, address, options);
  } catch (error) {
    await server.stop('SIGTERM', STOP_LIMIT_MS);
    throw error;
  }
  if (databaseFile !== undefined) markAsComplete(databaseFile);
  return {
    address,
    uiUrl: uiPort === undefined ? undefined : `http://${host}:${uiPort}`,
    pid: server.pid,
    exited: server.exited,
    stop: async () => {
      await server.stop('SIGTERM', STOP_LIMIT_MS);
    },
  };
}

function argumentsFor({
  databaseFile,
  host,
  port,
  uiPort,
  namespaces,
  synchronous = 'normal',
}: TemporalServerOptions): string[] {
  const file = ['--db-filename', databaseFile ?? ''];
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', `synchronous=${synchronous}`];
  return [
    // The log level stays at its default, warn: naming it makes the server log every broken connection of its own shutdown.
    ...['server', 'start-dev', '--disable-config-file', '--disable-config-env'],
    ...['--ip', host, '--port', String(port)],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(databaseFile === undefined ? [] : [...file, ...pragmas]),
    ...namespaces.flatMap((namespace) => ['--namespace', namespace]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
  ];
}

// The server writes its tables only into a file that is not there yet. Killed while it did so, it would never start on that
// file again, so a file that no server was ever ready with is moved aside.
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

async function waitUntilReady(
  server: SupervisedProcess,
  address: string,
  { namespaces, logFile, readyLimitMs = 60_000 }: TemporalServerOptions,
): Promise<void> {
  const deadline = Date.now() + readyLimitMs;
  let missing = 'it does not answer';
  while (Date.now() < deadline) {
    const exit = server.exit();
    if (exit) throw new Error(failureText(`it ${describeExit(exit)}`, logFile, server));
    try {
      await askForNamespaces(address, namespaces);
      return;
    } catch (error) {
      missing = error instanceof Error ? error.message : String(error);
    }
    await sleep(POLL_MS);
  }
  throw new Error(failureText(`not within ${readyLimitMs / 1_000} s (${missing})`, logFile, server));
}

async function askForNamespaces(address: string, namespaces: readonly string[]): Promise<void> {
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
