// The engines of the embedded start: PostgreSQL and Temporal as child processes on one data folder.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StartSettings } from '../config.ts';
import { choosePort } from './ports.ts';
import { startPostgresServer, type PostgresServer } from './postgres-server.ts';
import type { RunRecord } from './run-record.ts';
import { resolveTemporalBinary } from './temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';

export const HOST = '127.0.0.1';
const DATABASE = 'malipo';

export type Report = (line: string) => void;
type PortName = Extract<keyof StartSettings, `${string}_PORT`>;

export type EngineOptions = {
  readonly dataDir: string;
  readonly settings: StartSettings;
  readonly isExplicit: (name: keyof StartSettings) => boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly namespace: string;
  readonly record: RunRecord;
  readonly report: Report;
};

export type Engines = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Undefined with an external Temporal cluster, whose UI is elsewhere. */
  readonly temporalUiUrl: string | undefined;
  /** Rejects when an engine ends unexpectedly. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
};

/** Chooses the port for one part of the embedded start; reports it when it is not the usual one. */
export function portFor(options: EngineOptions, name: string, setting: PortName): Promise<number> {
  const { settings, isExplicit, report } = options;
  return choosePort({
    name,
    host: HOST,
    preferred: settings[setting],
    setting,
    isExplicit: isExplicit(setting),
    report,
  });
}

export async function startEngines(options: EngineOptions): Promise<Engines> {
  mkdirSync(join(options.dataDir, 'log'), { recursive: true });
  // Temporal first: it may have to be built, and a database that waits meanwhile would only delay Ctrl-C.
  const temporal = await startTemporal(options);
  const postgres = await startPostgres(options);
  await postgres.ensureDatabase(DATABASE);
  return {
    databaseUrl: postgres.urlFor(DATABASE),
    temporalAddress: temporal?.address ?? options.settings.MALIPO_TEMPORAL_ADDRESS ?? '',
    temporalUiUrl: temporal?.uiUrl,
    failed: Promise.race([
      endOf('PostgreSQL', postgres),
      ...(temporal ? [endOf('the Temporal server', temporal)] : []),
    ]),
    async stop() {
      await temporal?.stop();
      await postgres.stop();
    },
  };
}

async function startPostgres(options: EngineOptions): Promise<PostgresServer> {
  const { dataDir, record, report } = options;
  const port = await portFor(options, 'PostgreSQL', 'MALIPO_POSTGRES_PORT');
  report(`starting PostgreSQL on port ${port}`);
  return startPostgresServer({
    dataDir: join(dataDir, 'postgres'),
    // For root, when PostgreSQL's account cannot enter the project's folder.
    fallbackDataDir: join('/var/lib/malipo', createHash('sha256').update(dataDir).digest('hex').slice(0, 16)),
    host: HOST,
    port,
    logFile: join(dataDir, 'log', 'postgres.log'),
    report,
    onSpawn: (pid) => {
      record.add({ name: 'PostgreSQL', pid, stopSignal: 'SIGINT' });
    },
  });
}

async function startTemporal(options: EngineOptions): Promise<TemporalServer | null> {
  const { dataDir, settings, record, report, environment, namespace } = options;
  if (settings.MALIPO_TEMPORAL_ADDRESS !== undefined) {
    report(`using the Temporal cluster at ${settings.MALIPO_TEMPORAL_ADDRESS}`);
    return null;
  }
  const binary = await resolveTemporalBinary({
    report,
    env: environment,
    onSpawn: (pid) => {
      record.add({ name: 'the Go build', pid });
    },
  });
  const port = await portFor(options, 'the Temporal server', 'MALIPO_TEMPORAL_PORT');
  const uiPort = await portFor(options, 'the Temporal UI', 'MALIPO_TEMPORAL_UI_PORT');
  report(`starting the Temporal server on port ${port}, its UI on port ${uiPort}`);
  return startTemporalServer({
    binary,
    databaseFile: join(dataDir, 'temporal.db'),
    host: HOST,
    port,
    uiPort,
    namespaces: [namespace],
    logFile: join(dataDir, 'log', 'temporal.log'),
    onSpawn: (pid) => {
      record.add({ name: 'the Temporal server', pid });
    },
  });
}

async function endOf(name: string, engine: { readonly exited: Promise<unknown> }): Promise<never> {
  await engine.exited;
  throw new Error(`${name} ended by itself; its log is in the data folder`);
}
