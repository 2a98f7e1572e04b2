// The bench environment: engines, sandbox operator and server, each in its own process, as in a real start.
import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request, type Dispatcher } from 'undici';
import { loadConfig } from '../src/settings/config.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import { createRowAttestor } from '../src/security/row-attestation.ts';
import { developmentServer, productionServer } from '../chaos/engines.ts';
import type { seedStaffAndAccounts } from '../src/dev/demo-accounts.ts';
import type { prepareDatabase } from '../src/server/prepare-database.ts';
import { openDatabase, type Database } from '../src/db/platform/database.ts';
import { startChild, type SupervisedChild } from '../src/engines/process/child-process.ts';
import { freePort } from '../src/engines/process/ports.ts';
import { freshSecrets } from '../src/dev/demo-secrets.ts';
import { withConnection } from '../src/engines/postgres/connection.ts';
import { startPostgresServer, type PostgresServer } from '../src/engines/postgres/server.ts';
import { findProjectRoot } from '../src/project-root.ts';
import type { TemporalServer } from '../src/engines/temporal/server.ts';
import { prepareTemporal } from '../src/temporal/setup.ts';
import { familyOf } from './cpu.ts';

export const NAMESPACE = 'malipo-test';

/**
 * Where Temporal keeps its data: a file of SQLite, as on a developer's machine; databases beside ours, as in production; or these,
 * whose commits do not wait for the disk.
 */
export type TemporalEngine = 'sqlite' | 'postgresql' | 'postgresql-async';

/** Of 16 MB each. */
const WAL_FILES = 180;
/**
 * A new database has no used files of its log, and while it writes a new one, every commit waits. One that has run for a while has
 * some, and goes on with them.
 */
const KEPT_WAL = { min_wal_size: '3GB', max_wal_size: '8GB' };

/** What a payment costs; others after each restart. */
type Service = {
  readonly postgres: PostgresServer;
  readonly temporal: TemporalServer;
  readonly server: SupervisedChild;
};

export type BenchEnvironment = Service & {
  readonly postgresLog: string;
  readonly sandbox: SupervisedChild;
  readonly baseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly db: Database;
  /** Of the service: it seals the secrets in its database. */
  readonly keyRing: KeyRing;
  /** Kills all processes of the service at once, as when their machine dies, and starts them on the same data. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
};

export type BenchEnvironmentOptions = {
  readonly sandboxDecisionMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** postgresql.conf settings by name. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Of the checkout whose build is run; this one by default. */
  readonly root?: string;
  readonly engine?: TemporalEngine;
};

export async function startBenchEnvironment(options: BenchEnvironmentOptions): Promise<BenchEnvironment> {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-bench-'));
  const { root = findProjectRoot(), engine = 'sqlite' } = options;
  const postgresLog = join(folder, 'postgres.log');
  const postgresPort = await freePort();
  const temporalPort = await freePort('127.0.0.1', [postgresPort]);
  const startPostgres = () =>
    startPostgresServer({
      dataDir: join(folder, 'postgres'),
      fallbackDataDir: `${folder}-postgres`,
      port: postgresPort,
      logFile: postgresLog,
      settings: { ...KEPT_WAL, ...options.postgresSettings },
    });
  const startTemporal = (on: PostgresServer) =>
    startTemporalEngine(engine, on, { folder, namespace: NAMESPACE, port: temporalPort });
  const postgres = await startPostgres();
  const { ownerUrl, applicationUrl } = await postgres.ensureAccounts('malipo');
  const temporal = await startTemporal(postgres);
  const built = await builtIn(root);
  await built.prepareDatabase(ownerUrl, 'test');
  await fillWal(postgres);
  const environment = {
    MALIPO_FENCE_MARKER_FILE: join(folder, 'fence.json'),
    ...(await settingsFor(applicationUrl, temporal, options)),
  };
  const sandboxUrl = `http://127.0.0.1:${environment.MALIPO_SANDBOX_PORT}`;
  const callsPerSecond = Number(process.env['BENCH_CALLS_PER_SECOND'] ?? 100);
  await built.seedStaffAndAccounts(environment, join(folder, 'staff.json'), { url: sandboxUrl, callsPerSecond });
  const startProcess = (name: 'sandbox' | 'server', ready: 'message' | { url: string }) =>
    startChild({
      name,
      entry: join(root, `dist/src/server/entries/${name}.js`),
      execArgv: [],
      env: { ...process.env, ...environment },
      logFile: join(folder, `${name}.log`),
      ready,
    });
  const startServer = () => startProcess('server', { url: `${environment.MALIPO_PUBLIC_URL}/readyz` });
  const sandbox = await startProcess('sandbox', 'message');
  const starts = { postgres: startPostgres, temporal: startTemporal, server: startServer };
  const service = keepService({ postgres, temporal, server: await startServer() }, starts);
  return assemble(service, { environment, postgresLog, sandbox, folder });
}

type Starts = {
  readonly postgres: () => Promise<PostgresServer>;
  readonly temporal: (on: PostgresServer) => Promise<TemporalServer>;
  readonly server: () => Promise<SupervisedChild>;
};
type RestartedService = { readonly current: () => Service; readonly killAndRestart: () => Promise<void> };

function keepService(first: Service, starts: Starts): RestartedService {
  let current = first;
  return {
    current: () => current,
    async killAndRestart() {
      const { postgres, temporal, server } = current;
      const all = [server.pid(), temporal.pid, postgres.pid].flatMap((pid) => (pid === undefined ? [] : familyOf(pid)));
      for (const pid of all) kill(pid);
      // Of a process that is dead already, a stop ends its supervision alone.
      await Promise.all([server.stop(), temporal.exited, postgres.exited]);
      const restarted = await starts.postgres();
      const parts = { postgres: restarted, temporal: await starts.temporal(restarted) };
      current = { ...parts, server: await starts.server() };
    },
  };
}

/** A connection of PostgreSQL may have ended in the meantime. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

type Around = {
  readonly environment: Readonly<Record<'MALIPO_PUBLIC_URL', string>> & Readonly<Record<string, string>>;
  readonly postgresLog: string;
  readonly sandbox: SupervisedChild;
  readonly folder: string;
};

function assemble(
  { current, killAndRestart }: RestartedService,
  { environment, postgresLog, sandbox, folder }: Around,
): BenchEnvironment {
  const { MALIPO_SECRET_KEYS: keyRing, MALIPO_ATTESTATION_KEYS: attestationKeys } = loadConfig(environment).settings;
  const db = openDatabase({
    url: current().postgres.urlFor('malipo'),
    poolSize: 4,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
    attestor: createRowAttestor({
      environment: 'test',
      keyRing: attestationKeys,
      report: () => undefined,
    }),
  });
  return {
    get postgres() {
      return current().postgres;
    },
    get temporal() {
      return current().temporal;
    },
    get server() {
      return current().server;
    },
    postgresLog,
    sandbox,
    baseUrl: environment.MALIPO_PUBLIC_URL,
    environment,
    db,
    keyRing,
    killAndRestart,
    async stop() {
      await db.close();
      await current().server.stop();
      await sandbox.stop();
      await current().temporal.stop();
      await current().postgres.stop();
      rmSync(folder, { recursive: true, force: true });
      rmSync(`${folder}-postgres`, { recursive: true, force: true });
    },
  };
}

type EngineFolder = { readonly folder: string; readonly namespace: string; readonly port: number };

/** Starts it on the data that an earlier start kept in `folder` or in this PostgreSQL. */
async function startTemporalEngine(
  engine: TemporalEngine,
  postgres: PostgresServer,
  { folder, namespace, port }: EngineFolder,
): Promise<TemporalServer> {
  const report = (line: string) => void process.stderr.write(`${line}\n`);
  const options = { folder, namespace, report };
  const common = { host: '127.0.0.1', port, logFile: join(folder, 'temporal.log') };
  const start =
    engine === 'sqlite'
      ? await developmentServer(options, common)
      : await productionServer(postgres, { ...options, kind: engine }, common);
  const server = await start(new AbortController().signal);
  await prepareTemporal({ address: server.address, namespace });
  return server;
}

/** The schema, and what is written there first, are those of the build that is run. */
async function builtIn(root: string) {
  const prepared = (await import(join(root, 'dist/src/server/prepare-database.js'))) as {
    readonly prepareDatabase: typeof prepareDatabase;
  };
  const seeded = (await import(join(root, 'dist/src/dev/demo-accounts.js'))) as {
    readonly seedStaffAndAccounts: typeof seedStaffAndAccounts;
  };
  return { ...prepared, ...seeded };
}

/** Writes and frees as many files of the log as are kept. */
async function fillWal(postgres: PostgresServer): Promise<void> {
  await withConnection({ connectionString: postgres.adminUrl }, async (client) => {
    for (let file = 0; file < WAL_FILES; file++) {
      await client.query(`SELECT pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()`);
    }
    await client.query('CHECKPOINT');
  });
}

async function settingsFor(databaseUrl: string, temporal: TemporalServer, options: BenchEnvironmentOptions) {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  return {
    MALIPO_DATABASE_URL: databaseUrl,
    MALIPO_TEMPORAL_ADDRESS: temporal.address,
    MALIPO_TEMPORAL_NAMESPACE: NAMESPACE,
    MALIPO_HTTP_PORT: String(port),
    MALIPO_METRICS_PORT: '0',
    MALIPO_PUBLIC_URL: `http://127.0.0.1:${port}`,
    MALIPO_RATE_LIMIT_PER_SECOND: '0',
    // All clients have this machine's address.
    MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: '5000',
    MALIPO_LOG_LEVEL: 'warn',
    ...freshSecrets('bench'),
    MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'true',
    MALIPO_SANDBOX_PORT: String(sandboxPort),
    MALIPO_SANDBOX_DECISION_MS: String(options.sandboxDecisionMs),
    MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: `http://127.0.0.1:${port}/operators/airtel-money/callbacks`,
    ...options.environment,
  };
}

/** Runs a TypeScript file of this folder as a child process with an IPC channel. */
export function forkEntry(name: string, args: readonly string[] = []): ChildProcess {
  const entry = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  return fork(entry, args, { execArgv: ['--import=tsx/esm'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

export async function messageFrom<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message];
  return message;
}

/** Runs one of the servers of this folder; resolves once it listens. */
export async function forkServer(name: string, args: readonly string[] = []) {
  const child = forkEntry(name, args);
  const { port } = await messageFrom<{ port: number }>(child);
  return { child, port };
}

/** Requests one collection under a new idempotency key, of a payer who pays at once, or of this phone. */
export function requestCollection(bench: Pick<BenchEnvironment, 'baseUrl'>, apiKey: string, phone = '256772000100') {
  return requestPayment(bench, 'collection', apiKey, phone);
}

/** Requests one collection or payout of this phone under a new idempotency key. */
export function requestPayment(
  { baseUrl }: Pick<BenchEnvironment, 'baseUrl'>,
  noun: 'collection' | 'payout',
  apiKey: string,
  phone: string,
) {
  return request(`${baseUrl}/v1/api/${noun}s`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ phone, amount: 5000, reference: 'bench' }),
  });
}

/** Undefined if the service refuses the request for want of capacity. Throws for any other refusal. */
export async function acceptedId<Id>({ statusCode, body }: Dispatcher.ResponseData): Promise<Id | undefined> {
  const response = (await body.json()) as { readonly id: Id };
  if (statusCode === 202) return response.id;
  if (statusCode === 429 || statusCode === 503) return undefined;
  throw new Error(`response ${statusCode}: ${JSON.stringify(response)}`);
}
