// The engines of a campaign: PostgreSQL with either of Temporal's servers, each started again when it ends.
import { join } from 'node:path';
import { freePort } from '../src/dev/ports.ts';
import { startPostgresServer, type PostgresServer } from '../src/dev/postgres-server.ts';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../src/dev/temporal-binary.ts';
import { startTemporalOnPostgres } from '../src/dev/temporal-on-postgres.ts';
import { startTemporalServer } from '../src/dev/temporal-server.ts';
import { keepRunning, type Engine } from './engine.ts';

/**
 * `embedded`: Temporal's development server, as `npm start` has it. `postgresql`: its production server, with its data in
 * the PostgreSQL that the service uses too, so that a fault there hits both.
 */
export type EngineKind = 'embedded' | 'postgresql';

type EngineOptions = {
  readonly folder: string;
  readonly kind: EngineKind;
  readonly report: (line: string) => void;
};

export type Postgres = Pick<PostgresServer, 'host' | 'port' | 'adminUrl' | 'urlFor' | 'ensureDatabase'> & {
  readonly engine: Engine;
};

const HOST = '127.0.0.1';
/** Several servers, and each of the four parts of Temporal's production server, keep connections of their own. */
const SETTINGS = { max_connections: '400' };

export async function startPostgres(dataDir: string, { folder, report }: EngineOptions): Promise<Postgres> {
  const port = await freePort();
  const logFile = join(folder, 'postgres.log');
  const start = () => startPostgresServer({ dataDir, host: HOST, port, settings: SETTINGS, logFile });
  const first = await start();
  let next: PostgresServer | undefined = first;
  const engine = await keepRunning({
    name: 'PostgreSQL',
    report,
    start: async () => {
      const server = next ?? (await start());
      next = undefined;
      return server;
    },
  });
  return {
    host: HOST,
    port,
    // Address and password are the same after every start.
    adminUrl: first.adminUrl,
    urlFor: (database) => first.urlFor(database),
    ensureDatabase: (name) => first.ensureDatabase(name),
    engine,
  };
}

export async function startTemporal(
  postgres: Postgres,
  options: EngineOptions & { readonly namespace: string },
): Promise<{ readonly engine: Engine; readonly address: string }> {
  const { kind, report } = options;
  const port = await freePort();
  const start =
    kind === 'embedded' ? await developmentServer(options, port) : await productionServer(postgres, options, port);
  return { engine: await keepRunning({ name: 'Temporal', report, start }), address: `${HOST}:${port}` };
}

async function developmentServer(
  { folder, report, namespace }: EngineOptions & { readonly namespace: string },
  port: number,
) {
  const binary = await resolveTemporalBinary({ report, env: process.env });
  return () =>
    startTemporalServer({
      binary,
      databaseFile: join(folder, 'temporal.db'),
      host: HOST,
      port,
      namespaces: [namespace],
      logFile: join(folder, 'temporal.log'),
    });
}

async function productionServer(postgres: Postgres, { folder, report }: EngineOptions, port: number) {
  const programs = await resolveTemporalPrograms({ report, env: process.env });
  const { username: user, password } = new URL(postgres.adminUrl);
  return () =>
    startTemporalOnPostgres({
      programs,
      postgres: { host: postgres.host, port: postgres.port, user, password },
      folder,
      host: HOST,
      port,
      logFile: join(folder, 'temporal.log'),
    });
}
