// The engines of the embedded start: PostgreSQL and Temporal as child processes on one data folder.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StartSettings } from '../settings/config.ts';
import type { Ports } from './embedded-ports.ts';
import { keepRunning, type KeptRunning } from '../engines/process/keep-running.ts';
import { startPostgresServer, type DatabaseUrls, type PostgresServer } from '../engines/postgres/server.ts';
import type { Engine } from '../engines/process/supervised-process.ts';
import type { RunRecord } from './run-record.ts';
import { resolveTemporalBinary } from '../engines/temporal/binary.ts';
import { startTemporalServer, type TemporalServer } from '../engines/temporal/server.ts';

export const HOST = '127.0.0.1';
const DATABASE = 'malipo';

export type EngineOptions = {
  readonly dataDir: string;
  readonly settings: StartSettings;
  readonly ports: Ports;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly namespace: string;
  readonly record: RunRecord;
  readonly report: (line: string) => void;
  /** Once it is aborted nothing is restarted. */
  readonly stopping: AbortSignal;
};

export type Engines = {
  readonly databaseUrls: DatabaseUrls;
  readonly temporalAddress: string;
  /** Undefined with an external Temporal cluster, whose UI is elsewhere. */
  readonly temporalUiUrl: string | undefined;
  /** Rejects if an engine has failed too often to be restarted. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
};

export async function startEngines(options: EngineOptions): Promise<Engines> {
  mkdirSync(join(options.dataDir, 'log'), { recursive: true });
  // Temporal first: it may have to be built, and a database that waits meanwhile would only delay Ctrl-C.
  const temporal = await startTemporal(options);
  const postgres = await startPostgres(options);
  const databaseUrls = await postgres.server.ensureAccounts(DATABASE);
  return {
    databaseUrls,
    temporalAddress: temporal?.server.address ?? options.settings.MALIPO_TEMPORAL_ADDRESS ?? '',
    temporalUiUrl: temporal?.server.uiUrl,
    failed: Promise.race([postgres.kept.failed, ...(temporal ? [temporal.kept.failed] : [])]),
    async stop() {
      await temporal?.kept.stop();
      await postgres.kept.stop();
    },
  };
}

type Started<Server extends Engine> = { readonly server: Server; readonly kept: KeptRunning };

/** Starts the engine, and keeps it running with the same addresses and data. */
async function startAndKeep<Server extends Engine>(
  { name, logFile, stopSignal }: { name: string; logFile: string; stopSignal: 'SIGINT' | 'SIGTERM' },
  { record, report, stopping }: EngineOptions,
  start: (given: { onSpawn: (pid: number) => void; signal: AbortSignal }) => Promise<Server>,
): Promise<Started<Server>> {
  const startOnce = async (signal: AbortSignal): Promise<Server> => {
    let spawned: number | undefined;
    const forget = (): void => {
      if (spawned !== undefined) record.remove(spawned);
    };
    const onSpawn = (pid: number): void => {
      forget();
      spawned = pid;
      record.add({ name, pid, stopSignal });
    };
    try {
      const server = await start({ onSpawn, signal });
      void server.exited.then(forget);
      return server;
    } catch (error) {
      forget();
      throw error;
    }
  };
  const server = await startOnce(stopping);
  return { server, kept: keepRunning(server, { name, logFile, start: startOnce, report, stopping }) };
}

/** PostgreSQL's folder, and the fallback for root if PostgreSQL's account cannot enter the data folder. */
function postgresFolders(dataDir: string): { readonly dataDir: string; readonly fallbackDataDir: string } {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return { dataDir: join(dataDir, 'postgres'), fallbackDataDir: join('/var/lib/malipo', hash) };
}

/** The folder of an earlier start's database; undefined if there is none. */
export function existingDatabase(dataDir: string): string | undefined {
  const clusters = Object.values(postgresFolders(dataDir)).map((folder) => join(folder, 'cluster'));
  return clusters.find((folder) => existsSync(folder));
}

async function startPostgres(options: EngineOptions): Promise<Started<PostgresServer>> {
  const { dataDir, ports, report } = options;
  const logFile = join(dataDir, 'log', 'postgres.log');
  const name = 'PostgreSQL';
  report(`starting PostgreSQL on port ${ports.postgres}`);
  return startAndKeep({ name, logFile, stopSignal: 'SIGINT' }, options, (given) =>
    startPostgresServer({
      ...postgresFolders(dataDir),
      host: HOST,
      port: ports.postgres,
      logFile,
      report,
      outlivesParent: true,
      ...given,
    }),
  );
}

async function startTemporal(options: EngineOptions): Promise<Started<TemporalServer> | null> {
  const { dataDir, settings, record, report, environment, namespace, ports } = options;
  if (settings.MALIPO_TEMPORAL_ADDRESS !== undefined) {
    report(`using the Temporal cluster at ${settings.MALIPO_TEMPORAL_ADDRESS}`);
    return null;
  }
  const binary = await resolveTemporalBinary({
    report,
    env: environment,
    onSpawn: (pid) => {
      record.add({ name: 'the download or the Go build', pid });
    },
  });
  const logFile = join(dataDir, 'log', 'temporal.log');
  const name = 'the Temporal server';
  report(`starting the Temporal server on port ${ports.temporal}, its UI on port ${ports.temporalUi}`);
  return startAndKeep({ name, logFile, stopSignal: 'SIGTERM' }, options, (given) =>
    startTemporalServer({
      binary,
      databaseFile: join(dataDir, 'temporal.db'),
      host: HOST,
      port: ports.temporal,
      uiPort: ports.temporalUi,
      namespaces: [namespace],
      logFile,
      outlivesParent: true,
      ...given,
    }),
  );
}
