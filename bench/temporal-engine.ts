// The Temporal server of a bench environment, on the database that the benchmark names.
import { join } from 'node:path';
import { TEMPORAL, type PostgresServer } from '../src/engines/postgres/server.ts';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../src/engines/temporal/binary.ts';
import { commitWithoutWaiting, startTemporalOnPostgres } from '../src/engines/temporal/on-postgres.ts';
import { startTemporalServer, type TemporalServer } from '../src/engines/temporal/server.ts';
import { prepareTemporal } from '../src/temporal/setup.ts';

/**
 * Where Temporal keeps its data: a file of SQLite, as on a developer's machine; databases beside ours, as in production; or these,
 * whose commits do not wait for the disk.
 */
export type TemporalEngine = 'sqlite' | 'postgresql' | 'postgresql-async';

export const TEMPORAL_DATABASE = 'temporal';
const HOST = '127.0.0.1';

type EngineOptions = { readonly folder: string; readonly namespace: string; readonly port: number };

/** Starts it on the data that an earlier start kept in `folder` or in this PostgreSQL. */
export async function startTemporalEngine(
  engine: TemporalEngine,
  postgres: PostgresServer,
  { folder, namespace, port: ownPort }: EngineOptions,
): Promise<TemporalServer> {
  const resolve = { report: (line: string) => process.stderr.write(`${line}\n`), env: process.env };
  const common = { host: HOST, port: ownPort, logFile: join(folder, 'temporal.log') };
  if (engine === 'sqlite') {
    const server = await startTemporalServer({
      ...common,
      binary: await resolveTemporalBinary(resolve),
      databaseFile: join(folder, 'temporal.db'),
      namespaces: [namespace],
    });
    await prepareTemporal({ address: server.address, namespace });
    return server;
  }
  if (engine === 'postgresql-async') await commitWithoutWaiting(postgres.adminUrl, TEMPORAL_DATABASE);
  const { hostname: host, port, password } = new URL(postgres.urlFor(TEMPORAL_DATABASE, TEMPORAL));
  const server = await startTemporalOnPostgres({
    ...common,
    programs: await resolveTemporalPrograms(resolve),
    postgres: { host, port: Number(port), user: TEMPORAL, password: decodeURIComponent(password) },
    folder,
  });
  await prepareTemporal({ address: server.address, namespace });
  return server;
}
