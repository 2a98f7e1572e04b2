// PostgreSQL and Temporal for the tests: real servers, started on first use, once per run.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { Client as PgClient } from 'pg';
import { z } from 'zod';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { APPLICATION, REPORTS } from '../../src/db/platform/access.ts';
import { accessToDatabase } from '../../src/db/platform/create-accounts.ts';
import { openDatabase, type Database } from '../../src/db/platform/database.ts';
import { stampEnvironment } from '../../src/db/platform/deployment.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { OWNER, startPostgresServer, TEMPORAL, type PostgresServer } from '../../src/engines/postgres/server.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../../src/engines/temporal/binary.ts';
import { startTemporalOnPostgres } from '../../src/engines/temporal/on-postgres.ts';
import { startTemporalServer, type TemporalServer } from '../../src/engines/temporal/server.ts';
import { createLog } from '../../src/log.ts';
import { installRuntime } from '../../src/server/worker.ts';
import type { SdkMetrics } from '../../src/server/metrics/sdk-metrics.ts';
import { testAttestor } from './attestation.ts';

export const NAMESPACE = 'malipo-test';
const TEMPLATE = 'malipo_template';
const TEMPORAL_DATABASE = 'temporal';

const root = findProjectRoot();
const stops: (() => Promise<void>)[] = [];
let folder: string | null = null;

/** Log lines of the parts under test; silent unless MALIPO_TEST_LOG names a level. */
export const testLog = createLog({ level: process.env['MALIPO_TEST_LOG'] ?? 'silent', process: 'test' });

function once<Value>(start: () => Promise<Value>): () => Promise<Value> {
  let started: Promise<Value> | null = null;
  return () => (started ??= start());
}

/** A temporary folder of this run, removed at its end. */
export function runFolder(): string {
  if (folder === null) {
    folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
    // PostgreSQL's own account must be able to enter it.
    chmodSync(folder, 0o711);
  }
  return folder;
}

export const postgres = once(async (): Promise<PostgresServer> => {
  const server = await startPostgresServer({
    dataDir: join(runFolder(), 'postgres'),
    fallbackDataDir: `${runFolder()}-postgres`,
    port: await freePort(),
    // Tests need no durability across a power cut.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
    logFile: join(runFolder(), 'postgres.log'),
  });
  stops.push(async () => {
    await server.stop();
    rmSync(`${runFolder()}-postgres`, { recursive: true, force: true });
  });
  const { ownerUrl } = await server.ensureAccounts(
    TEMPLATE,
    kindOfTemporal === 'sqlite' ? undefined : TEMPORAL_DATABASE,
  );
  await migrateAndStamp(ownerUrl);
  return server;
});

/** As `npm run migrate` does for the test environment. */
export async function migrateAndStamp(ownerUrl: string): Promise<void> {
  await migrate(ownerUrl, join(root, 'src/db/schema'));
  const db = openDatabase({ ...LIMITS, url: ownerUrl });
  await stampEnvironment(db, 'test', new Date());
  await db.close();
}

export const temporalBinary = once(() =>
  resolveTemporalBinary({
    report: (line) => {
      process.stdout.write(`${line}\n`);
    },
    env: process.env,
  }),
);

/** The programs of the production server; building them takes minutes, once per machine. */
export const temporalPrograms = once(() =>
  resolveTemporalPrograms({
    report: (line) => {
      process.stdout.write(`${line}\n`);
    },
    env: process.env,
  }),
);

/** Which of Temporal's servers the tests run on: the development server, which is quick, or the production server. */
const kindOfTemporal = z.enum(['sqlite', 'postgresql']).parse(process.env['MALIPO_TEST_TEMPORAL'] ?? 'sqlite');

async function startDevelopmentServer(): Promise<TemporalServer> {
  return startTemporalServer({
    binary: await temporalBinary(),
    host: '127.0.0.1',
    port: await freePort(),
    uiPort: await freePort(),
    namespaces: [NAMESPACE],
    logFile: join(runFolder(), 'temporal.log'),
  });
}

/** On the tests' own PostgreSQL, beside the databases of the service. */
async function startProductionServer(): Promise<TemporalServer> {
  const server = await postgres();
  const { host, port } = server;
  const { username, password } = new URL(server.urlFor(TEMPORAL_DATABASE, TEMPORAL));
  return startTemporalOnPostgres({
    programs: await temporalPrograms(),
    postgres: { host, port, user: username, password },
    folder: runFolder(),
    host: '127.0.0.1',
    port: await freePort(),
    logFile: join(runFolder(), 'temporal.log'),
  });
}

export const temporal = once(async (): Promise<TemporalServer> => {
  const start = kindOfTemporal === 'sqlite' ? startDevelopmentServer : startProductionServer;
  const server = await start();
  stops.push(() => server.stop());
  await prepareTemporal({ address: server.address, namespace: NAMESPACE });
  return server;
});

const nativeRuntime = once(() => Promise.resolve(installRuntime(testLog)));

/**
 * Must run before anything that opens a Temporal connection, so that the SDK logs to `testLog`. Resolves to what the SDK measures of the
 * whole run.
 */
export async function prepareRuntime(): Promise<SdkMetrics> {
  return nativeRuntime();
}

/** A client to inspect Temporal from outside the server under test. */
export const temporalClient = once(async (): Promise<Client> => {
  await prepareRuntime();
  const connection = await NativeConnection.connect({ address: (await temporal()).address });
  stops.unshift(() => connection.close());
  return new Client({ connection, namespace: NAMESPACE });
});

export const workflowBundle = once((): Promise<WorkflowBundleWithSourceMap> => {
  return bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
    workflowInterceptorModules: [join(root, 'workflows/trace-interceptor.ts')],
    logger: new DefaultLogger('ERROR'),
  });
});

export type TestDatabase = {
  /** Of the application's account, with which the server runs. */
  readonly url: string;
  /** Of the account that owns it, with which it is migrated. */
  readonly ownerUrl: string;
  /**
   * Statements and transactions have the application's account too, so that a right that it lacks shows. The pool has the superuser:
   * what a test does through it, no process of ours can do.
   */
  readonly db: Database;
  readonly drop: () => Promise<void>;
};

// They decide nothing: they only end what would wait for ever.
const LIMITS = { poolSize: 20, statementTimeoutMs: 60_000, connectTimeoutMs: 60_000, onIdleError: () => undefined };

export function openTestDatabase(applicationUrl: string, adminUrl: string): Pick<TestDatabase, 'url' | 'db'> {
  const application = openDatabase({ ...LIMITS, url: applicationUrl, attestor: testAttestor });
  const admin = openDatabase({ ...LIMITS, url: adminUrl });
  const closeBoth = async (): Promise<void> => {
    await Promise.all([application.close(), admin.close()]);
  };
  return { url: applicationUrl, db: { ...application, pool: admin.pool, close: closeBoth } };
}

/** Opens the database once more, with one connection, which keeps the plans of its statements; the caller closes it. */
export function openOneConnection(
  { url }: Pick<TestDatabase, 'url'>,
  connection?: { readonly claimsFromQueues: true },
): Database {
  return openDatabase({ ...LIMITS, poolSize: 1, url, attestor: testAttestor, ...connection });
}

/** Creates a separate database with the current schema, copied from a template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await postgres();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} OWNER ${OWNER}`);
  await administer(server, ...accessToDatabase(name, [APPLICATION, REPORTS]));
  const database = openTestDatabase(server.urlFor(name, APPLICATION), server.urlFor(name));
  return {
    ...database,
    ownerUrl: server.urlFor(name, OWNER),
    async drop() {
      await database.db.close();
      // Without FORCE, so that a leaked connection fails the test that leaked it.
      await administer(server, `DROP DATABASE ${name}`);
    },
  };
}

async function administer(server: PostgresServer, ...statements: readonly string[]): Promise<void> {
  const client = new PgClient({ connectionString: server.adminUrl });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Stops everything at the end of the run, in reverse order of the starts; one that cannot be stopped keeps none running. */
export async function stopEngines(): Promise<void> {
  const problems: unknown[] = [];
  for (const stop of stops.splice(0).reverse()) await stop().catch((error: unknown) => problems.push(error));
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
  if (problems.length > 0) throw new AggregateError(problems, 'not everything could be stopped');
}
