// Runs a PostgreSQL server as a child process on a data folder of our own, which later starts reuse.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, escapeIdentifier } from 'pg';
import { APPLICATION, REPORTS } from '../../db/platform/access.ts';
import { createAccounts } from '../../db/platform/create-accounts.ts';
import { requireFreePort } from '../process/ports.ts';
import { postgresBinariesFor } from './binaries.ts';
import {
  endLeftoverServer,
  initialiseCluster,
  locateCluster,
  POSTGRES_ENVIRONMENT,
  postmasterStatus,
  SUPERUSER,
  type Cluster,
} from './cluster.ts';
import { withConnection } from './connection.ts';
import {
  describeExit,
  launchEngine,
  type Engine,
  type EngineOptions,
  type SupervisedProcess,
} from '../process/supervised-process.ts';

export type PostgresServerOptions = EngineOptions & {
  /** Has the cluster and its password. No other process may use it: a server that runs there is ended. */
  readonly dataDir: string;
  /** Used if this process is root and PostgreSQL's account cannot enter `dataDir`; without it that is an error. */
  readonly fallbackDataDir?: string;
  readonly host?: string;
  readonly port: number;
  /** postgresql.conf settings by name; tests pass `fsync: 'off'`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly report?: (line: string) => void;
};

/** The accounts of a service on this server. */
export type AccountName = typeof OWNER | typeof APPLICATION | typeof REPORTS | typeof TEMPORAL;

/** The addresses of one database of the service, by account. */
export type DatabaseUrls = { readonly ownerUrl: string; readonly applicationUrl: string; readonly reportUrl: string };

export const OWNER = 'malipo_owner';
export const TEMPORAL = 'malipo_temporal';

/** The access of a process to a running server, its own or another's. */
export type PostgresAccess = {
  readonly host: string;
  readonly port: number;
  /** The folder in use: `dataDir` or `fallbackDataDir`. */
  readonly dataDir: string;
  /** postgres:// with the superuser's password, to the database `postgres`. */
  readonly adminUrl: string;
  /** The address for the superuser, or for an account with its generated password. */
  urlFor(database: string, account?: AccountName): string;
  /** Creates the database unless it exists. The superuser owns it. */
  ensureDatabase(name: string): Promise<void>;
  /** Creates a database of the service with its accounts, and Temporal's if its data are on this server. */
  ensureAccounts(database: string, temporalDatabase?: string): Promise<DatabaseUrls>;
};

export type PostgresServer = PostgresAccess & Engine;

// SIGINT closes client connections and stops; SIGTERM would wait for the clients to disconnect.
const STOP = { signal: 'SIGINT', limitMs: 30_000 } as const;
const POLL_MS = 25;
const DUPLICATE_DATABASE = '42P04';
// After SIGKILL to a server its child processes take a moment to exit; a statement continues until its timeout.
const STILL_IN_USE = 'pre-existing shared memory block';
const STILL_IN_USE_TRIES = 60;
const STILL_IN_USE_WAIT_MS = 500;

/** Resolves when the server accepts connections; otherwise rejects with a message for a person. */
export async function startPostgresServer(options: PostgresServerOptions): Promise<PostgresServer> {
  const { host = '127.0.0.1', port, settings = {}, report = () => undefined } = options;
  const { dataDir, fallbackDataDir } = options;
  const cluster = locateCluster({ dataDir, fallbackDataDir, report });
  const binaries = postgresBinariesFor(cluster.account, report);
  await endLeftoverServer(cluster, report);
  await requireFreePort('PostgreSQL', port, host);
  initialiseCluster(cluster, binaries.initdb, settings['fsync'] !== 'off');
  const adminUrl = `postgres://${SUPERUSER}:${cluster.password}@${host}:${port}/postgres`;
  const engine = await launchUntilReady(binaries.postgres, { cluster, adminUrl }, { ...options, host });
  return { ...accessTo(adminUrl, cluster.dataDir), ...engine };
}

/** Access to a server that `startPostgresServer` started, even in another process, by its `adminUrl` and `dataDir`. */
export function accessTo(adminUrl: string, dataDir: string): PostgresAccess {
  const { hostname: host, port, password: ofSuperuser } = new URL(adminUrl);
  const urlFor = (database: string, account?: AccountName): string => {
    const login = `${account ?? SUPERUSER}:${account ? passwordOf(account, ofSuperuser) : ofSuperuser}`;
    return `postgres://${login}@${host}:${port}/${encodeURIComponent(database)}`;
  };
  return {
    host,
    port: Number(port),
    dataDir,
    adminUrl,
    urlFor,
    ensureDatabase: (name) => ensureDatabase(adminUrl, name),
    async ensureAccounts(database, temporalDatabase) {
      const urls = {
        ownerUrl: urlFor(database, OWNER),
        applicationUrl: urlFor(database, APPLICATION),
        reportUrl: urlFor(database, REPORTS),
      };
      const temporalUrl = temporalDatabase === undefined ? undefined : urlFor(temporalDatabase, TEMPORAL);
      await createAccounts({ adminUrl, ...urls, temporalUrl });
      return urls;
    },
  };
}

/** The same at every start, without a file for each. None reveals another one or the superuser's. */
function passwordOf(account: AccountName, ofSuperuser: string): string {
  return createHmac('sha256', ofSuperuser).update(account).digest('base64url');
}

type LaunchOptions = PostgresServerOptions & { readonly host: string };

async function launchUntilReady(
  command: string,
  { cluster, adminUrl }: { readonly cluster: Cluster; readonly adminUrl: string },
  options: LaunchOptions,
): Promise<Engine> {
  const { dataDir: cwd, account } = cluster;
  const program = { command, args: argumentsFor(cluster, options), env: POSTGRES_ENVIRONMENT, cwd, account, end: STOP };
  for (let tries = 1; ; tries++) {
    let isStillInUse = false as boolean;
    try {
      return await launchEngine(program, options, async (server) => {
        const problem = await waitUntilReady(server, cluster, options);
        if (problem === undefined) return checkConnection(adminUrl, cluster);
        options.signal?.throwIfAborted();
        isStillInUse = server.logTail().includes(STILL_IN_USE);
        const end = `The end of ${options.logFile}:\n${server.logTail()}`;
        throw new Error(`PostgreSQL did not start on port ${options.port}: ${problem}. ${end}`);
      });
    } catch (error) {
      if (!isStillInUse || tries === STILL_IN_USE_TRIES) throw error;
    }
    await sleep(STILL_IN_USE_WAIT_MS);
  }
}

function argumentsFor(cluster: Cluster, { host, port, settings }: LaunchOptions): string[] {
  const all = {
    listen_addresses: host,
    // Nothing uses a socket file, which would need a folder that every account may write to.
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', cluster.folder, '-p', String(port), ...flags];
}

/** Undefined if the server is ready, otherwise the reason. */
async function waitUntilReady(
  server: SupervisedProcess,
  cluster: Cluster,
  { readyLimitMs: limitMs = 60_000, signal }: LaunchOptions,
): Promise<string | undefined> {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    if (signal?.aborted) return 'it is to stop';
    const exit = server.exit();
    if (exit) return `it ${describeExit(exit)}`;
    const status = postmasterStatus(cluster);
    if (status?.isReady && status.pid === server.pid) return undefined;
    await sleep(POLL_MS);
  }
  return `it was not ready within ${limitMs / 1_000} s`;
}

async function checkConnection(adminUrl: string, cluster: Cluster): Promise<void> {
  const rows = await query(adminUrl, 'SHOW data_directory').catch((error: unknown) => {
    throw new Error(`PostgreSQL runs, but the password in ${cluster.dataDir}/password does not open it`, {
      cause: error,
    });
  });
  const folder = (rows[0] as { data_directory?: unknown } | undefined)?.data_directory;
  if (folder !== cluster.folder)
    throw new Error(`the PostgreSQL that answers serves ${String(folder)}, not ${cluster.folder}`);
}

async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const found = await query(adminUrl, 'SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (found.length > 0) return;
  try {
    await query(adminUrl, `CREATE DATABASE ${escapeIdentifier(name)}`);
  } catch (error) {
    // Another process has created it meanwhile.
    if (!(error instanceof DatabaseError && error.code === DUPLICATE_DATABASE)) throw error;
  }
}

async function query(url: string, sql: string, values: readonly string[] = []): Promise<unknown[]> {
  const config = { connectionString: url, connectionTimeoutMillis: 10_000 };
  return withConnection(config, async (client) => (await client.query<object>(sql, [...values])).rows);
}
