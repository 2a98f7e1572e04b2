// Runs Temporal's production server as a child process, with its data in databases of a PostgreSQL server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { withConnection } from '../postgres/connection.ts';
import { freePorts, requireFreePort } from '../process/ports.ts';
import { launchEngine, type EngineOptions } from '../process/supervised-process.ts';
import type { TemporalPrograms } from './binary.ts';
import { DYNAMIC_CONFIG, TEMPORAL_ENVIRONMENT, untilTemporalResponds, type TemporalServer } from './server.ts';

export type TemporalOnPostgresOptions = EngineOptions & {
  readonly programs: TemporalPrograms;
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    /** The account may create databases, or owns existing ones. */
    readonly user: string;
    readonly password: string;
  };
  readonly folder: string;
  readonly host: string;
  readonly port: number;
};

// As in docker-compose.yml. It cannot be changed once the databases exist.
const HISTORY_SHARDS = '4';
const DATABASES = { store: 'temporal', visibility: 'temporal_visibility' } as const;
const STOP = { signal: 'SIGTERM', limitMs: 20_000 } as const;
const DATABASE_LIMIT_MS = 20_000;
/** Exists in every cluster before anybody has created a namespace. */
const OWN_NAMESPACE = 'temporal-system';
// Besides the address that clients use.
const INNER_PORTS = [
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
] as const;

/**
 * Creates the server's databases or updates their schema, and resolves when the server responds. `prepareTemporal`
 * creates namespaces. Only one server at a time may run on the same databases.
 */
export async function startTemporalOnPostgres(options: TemporalOnPostgresOptions): Promise<TemporalServer> {
  const { programs, host, port } = options;
  await requireFreePort('the Temporal server', port, host);
  await prepareSchemas(options);
  await forgetMembers(options);
  const address = `${host}:${port}`;
  const env = await environmentFor(options);
  const program = { command: programs.server, args: ['--allow-no-auth', 'start'], env, end: STOP };
  const engine = await launchEngine(program, options, (server) =>
    untilTemporalResponds(server, address, { ...options, namespaces: [OWN_NAMESPACE] }),
  );
  return { ...engine, address, uiUrl: undefined };
}

/** Only for trials: commits to Temporal's two databases no longer wait for the disk. The URL is an administrator's. */
export async function commitWithoutWaiting(adminUrl: string): Promise<void> {
  await withConnection({ connectionString: adminUrl }, async (client) => {
    for (const database of Object.values(DATABASES)) {
      await client.query(`ALTER DATABASE ${database} SET synchronous_commit = off`);
    }
  });
}

async function environmentFor(options: TemporalOnPostgresOptions): Promise<Record<string, string>> {
  const { postgres, host, port, folder } = options;
  const inner = await freePorts(INNER_PORTS.length, host, [port]);
  return {
    ...TEMPORAL_ENVIRONMENT,
    LOG_LEVEL: 'warn',
    DB: 'postgres12_pgx',
    DBNAME: DATABASES.store,
    VISIBILITY_DBNAME: DATABASES.visibility,
    POSTGRES_SEEDS: postgres.host,
    DB_PORT: String(postgres.port),
    VISIBILITY_DB_PORT: String(postgres.port),
    POSTGRES_USER: postgres.user,
    POSTGRES_PWD: postgres.password,
    NUM_HISTORY_SHARDS: HISTORY_SHARDS,
    BIND_ON_IP: host,
    FRONTEND_GRPC_PORT: String(port),
    ...Object.fromEntries(INNER_PORTS.map((name, index) => [name, String(inner[index])])),
    DYNAMIC_CONFIG_FILE_PATH: writeDynamicConfig(folder),
  };
}

/** YAML, which includes JSON. */
function writeDynamicConfig(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'temporal-dynamic-config.yaml');
  const values = Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value }]]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(values), null, 2));
  return file;
}

async function prepareSchemas(options: TemporalOnPostgresOptions): Promise<void> {
  for (const [database, schema] of [
    [DATABASES.store, 'temporal'],
    [DATABASES.visibility, 'visibility'],
  ] as const) {
    const tool = (...args: string[]): Promise<string | undefined> => runSqlTool(options, ['--db', database, ...args]);
    // Both fail after an earlier start. Any other fault also fails the update.
    await tool('create-database');
    await tool('setup-schema', '-v', '0.0');
    const problem = await tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
    if (problem !== undefined)
      throw new Error(`the database ${database} could not be prepared for Temporal: ${problem}`);
  }
}

/**
 * The four parts of the server find each other by a table of members, in which those of a server that was killed stay for a
 * while. A new server waits 40 s for them, and hands no work to anybody meanwhile. Only one server runs on the database.
 */
async function forgetMembers(options: TemporalOnPostgresOptions): Promise<void> {
  const { host, port, user, password } = options.postgres;
  const limits = { connectionTimeoutMillis: DATABASE_LIMIT_MS, query_timeout: DATABASE_LIMIT_MS };
  await withConnection({ host, port, user, password, database: DATABASES.store, ...limits }, (client) =>
    client.query('DELETE FROM cluster_membership'),
  );
}

/** Undefined when it succeeded, otherwise the last line that it printed. */
async function runSqlTool(
  { programs, postgres }: TemporalOnPostgresOptions,
  args: readonly string[],
): Promise<string | undefined> {
  const env = {
    PATH: TEMPORAL_ENVIRONMENT.PATH,
    SQL_PLUGIN: 'postgres12_pgx',
    SQL_HOST: postgres.host,
    SQL_PORT: String(postgres.port),
    SQL_USER: postgres.user,
    SQL_PASSWORD: postgres.password,
  };
  const child = spawn(programs.sqlTool, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (code === 0) return undefined;
  return stripVTControlCharacters(`${output}${errors}`).trim().split('\n').at(-1) ?? '';
}
