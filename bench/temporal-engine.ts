// The Temporal server of a bench environment, on the database that the benchmark names.
import { join } from 'node:path';
import { developmentServer, productionServer } from '../chaos/engines.ts';
import type { PostgresServer } from '../src/engines/postgres/server.ts';
import type { TemporalServer } from '../src/engines/temporal/server.ts';
import { prepareTemporal } from '../src/temporal/setup.ts';

/**
 * Where Temporal keeps its data: a file of SQLite, as on a developer's machine; databases beside ours, as in production; or these,
 * whose commits do not wait for the disk.
 */
export type TemporalEngine = 'sqlite' | 'postgresql' | 'postgresql-async';

type EngineOptions = { readonly folder: string; readonly namespace: string; readonly port: number };

/** Starts it on the data that an earlier start kept in `folder` or in this PostgreSQL. */
export async function startTemporalEngine(
  engine: TemporalEngine,
  postgres: PostgresServer,
  { folder, namespace, port }: EngineOptions,
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
