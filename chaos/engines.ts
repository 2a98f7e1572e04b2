// The engines of a campaign: PostgreSQL with either of Temporal's servers, each started again when it ends.
import { join } from 'node:path';
import { freePort } from '../src/engines/process/ports.ts';
import { startPostgresServer, TEMPORAL, type PostgresServer } from '../src/engines/postgres/server.ts';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../src/engines/temporal/binary.ts';
import { commitWithoutWaiting, startTemporalOnPostgres } from '../src/engines/temporal/on-postgres.ts';
import { startTemporalServer, type TemporalServer } from '../src/engines/temporal/server.ts';
import { startEngine, type Engine } from './engine.ts';

/**
 * `embedded`: Temporal's development server, as `npm start` has it. `postgresql`: its production server, with its data in
 * the PostgreSQL that the service uses too, so that a fault there hits both. `postgresql-async`: the same, but no commit of
 * Temporal's waits for the disk. `postgresql-apart`: that in a PostgreSQL of its own, where no commit of ours takes its
 * commits along to the disk.
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
/** Several servers, and each of the four parts of Temporal's production server, keep connections of their own. */
const SETTINGS = { max_connections: '400' };
/** Commits that do not wait for the disk stay in memory for up to ten seconds, in place of 0.2, unless another commit waits. */
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

/** Its databases are created where they are not there yet. */
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
