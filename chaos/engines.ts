// The engines of a campaign: PostgreSQL with either of Temporal's servers, each restarted when it ends.
import { join } from 'node:path';
import { freePort } from '../src/engines/process/ports.ts';
import { startPostgresServer, TEMPORAL, type PostgresServer } from '../src/engines/postgres/server.ts';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../src/engines/temporal/binary.ts';
import { commitWithoutWaiting, startTemporalOnPostgres } from '../src/engines/temporal/on-postgres.ts';
import { startTemporalServer, type TemporalServer } from '../src/engines/temporal/server.ts';
import { startEngine, type Engine } from './engine.ts';

/**
 * `embedded`: Temporal's development server, as in `npm start`. `postgresql`: its production server, with its data in
 * the service's PostgreSQL, so that a fault there hits both. `postgresql-async`: the same, but Temporal's commits do
 * not wait for the disk. `postgresql-apart`: the same in a separate PostgreSQL, where our commits do not flush
 * Temporal's to the disk.
 */
export const ENGINE_KINDS = ['embedded', 'postgresql', 'postgresql-async', 'postgresql-apart'] as const;
export type EngineKind = (typeof ENGINE_KINDS)[number];

type EngineOptions = {
  readonly folder: string;
  readonly kind: EngineKind;
  readonly report: (line: string) => void;
};

export const DATABASE = 'malipo';
export const TEMPORAL_DATABASE = 'temporal';
const HOST = '127.0.0.1';
/** Several servers, and each of the four parts of Temporal's production server, have separate connections. */
const SETTINGS = { max_connections: '400' };
/** Commits that do not wait for the disk stay in memory for up to ten seconds, not 0.2, unless another one waits. */
const LATE_WRITES = { wal_writer_delay: '10s', wal_writer_flush_after: '1GB', wal_buffers: '64MB' };

export async function startPostgres(
  dataDir: string,
  { folder, kind, report }: EngineOptions,
  name = 'PostgreSQL',
): Promise<Engine<PostgresServer>> {
  const port = await freePort();
  const logFile = join(folder, `${name.replaceAll(' ', '-')}.log`);
  const settings = isAsync(kind) ? { ...SETTINGS, ...LATE_WRITES } : SETTINGS;
  return startEngine({
    name,
    logFile,
    report,
    start: (signal) => startPostgresServer({ dataDir, host: HOST, port, settings, logFile, signal }),
  });
}

function isAsync(kind: EngineKind): boolean {
  return kind === 'postgresql-async' || kind === 'postgresql-apart';
}

export async function startTemporal(
  postgres: PostgresServer,
  options: EngineOptions & { readonly namespace: string },
): Promise<Engine<TemporalServer>> {
  const { kind, folder, report } = options;
  const common = { host: HOST, port: await freePort(), logFile: join(folder, 'temporal.log') };
  const start =
    kind === 'embedded' ? await developmentServer(options, common) : await productionServer(postgres, options, common);
  return startEngine({ name: 'Temporal', logFile: common.logFile, report, start });
}

type ServerOptions = { readonly host: string; readonly port: number; readonly logFile: string };
type Start = (signal: AbortSignal) => Promise<TemporalServer>;

export async function developmentServer(
  { folder, report, namespace }: Pick<EngineOptions, 'folder' | 'report'> & { readonly namespace: string },
  common: ServerOptions,
): Promise<Start> {
  const binary = await resolveTemporalBinary({ report, env: process.env });
  const databaseFile = join(folder, 'temporal.db');
  return (signal) => startTemporalServer({ ...common, binary, databaseFile, namespaces: [namespace], signal });
}

/** Its databases are created unless they exist. */
export async function productionServer(
  postgres: PostgresServer,
  { folder, kind, report }: EngineOptions,
  common: ServerOptions,
): Promise<Start> {
  const programs = await resolveTemporalPrograms({ report, env: process.env });
  const { host, port } = postgres;
  await postgres.ensureAccounts(DATABASE, TEMPORAL_DATABASE);
  if (isAsync(kind)) await commitWithoutWaiting(postgres.adminUrl);
  const { username: user, password } = new URL(postgres.urlFor(TEMPORAL_DATABASE, TEMPORAL));
  return () => startTemporalOnPostgres({ ...common, programs, postgres: { host, port, user, password }, folder });
}
