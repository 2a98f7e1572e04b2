// PostgreSQL and Temporal for the tests: real servers, leased on first use, once per run.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { z } from 'zod';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { APPLICATION, REPORTS } from '../../src/db/platform/access.ts';
import { accessToDatabase } from '../../src/db/platform/create-accounts.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../src/db/platform/database.ts';
import { stampEnvironment } from '../../src/db/platform/deployment.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import { accessTo, OWNER, type PostgresAccess } from '../../src/engines/postgres/server.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../../src/engines/temporal/binary.ts';
import { createLog } from '../../src/log.ts';
import { installRuntime } from '../../src/server/worker.ts';
import type { SdkMetrics } from '../../src/server/metrics/sdk-metrics.ts';
import { testAttestor } from './attestation.ts';
import { keepersFolder, leaseEngines, NAMESPACE, type TemporalPlace } from './engine-lease.ts';
import { hashOfFiles } from './hash-of-files.ts';
import { freshFence } from './fresh-fence.ts';
import { queryAt } from './one-client.ts';
import { atRunEnd } from './run-end.ts';

export { NAMESPACE };

/** With the packages of Temporal; `test/tidy.test.ts` refuses imports of anything else. */
const WORKFLOW_SOURCES = ['workflows', 'src/domain', 'package-lock.json'];

const DAY_MS = 24 * 60 * 60_000;

const root = findProjectRoot();
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
    const created = mkdtempSync(join(tmpdir(), 'malipo-test-'));
    folder = created;
    // PostgreSQL's own account must be able to enter it.
    chmodSync(created, 0o711);
    atRunEnd(() => {
      rmSync(created, { recursive: true, force: true });
      return Promise.resolve();
    });
  }
  return folder;
}

/** Which of Temporal's servers the tests run on: the development server, which is quick, or the production server. */
const kindOfTemporal = z.enum(['sqlite', 'postgresql']).parse(process.env['MALIPO_TEST_TEMPORAL'] ?? 'sqlite');

const keeper = once(async () => {
  const leased = await leaseEngines(kindOfTemporal);
  atRunEnd(async (isEarly) => {
    // Without the release nobody gets engines that this run leaves in the middle of something.
    if (!isEarly) {
      const { postgres: place } = await leased.ask({ ask: 'status' });
      if (place) await tidyUp(place.adminUrl);
      await leased.ask({ ask: 'release' });
    }
    leased.close();
  });
  return leased;
});

/** Leaves the server to the next run as it was: its own settings, and no database but the templates and Temporal's. */
async function tidyUp(adminUrl: string): Promise<void> {
  const left = await queryAt(
    adminUrl,
    `SELECT format('DROP DATABASE %I WITH (FORCE)', datname) AS sql FROM pg_database
     WHERE NOT datistemplate AND datname NOT IN ('postgres', 'malipo', 'temporal', 'temporal_visibility')`,
  );
  await queryAt(adminUrl, ...left.map(({ sql }) => String(sql)), 'ALTER SYSTEM RESET ALL', 'SELECT pg_reload_conf()');
}

export type TestPostgres = PostgresAccess & { readonly pid: number };

export const postgres = once(async (): Promise<TestPostgres> => {
  const { adminUrl, dataDir, pid } = await (await keeper()).ask({ ask: 'postgres' });
  return { ...accessTo(adminUrl, dataDir), pid };
});

/** The database that the tests' own are copied from; made once for each version of the schema. */
const template = once(async (): Promise<string> => {
  const server = await postgres();
  const name = `malipo_template_${hashOfFiles(['src/db'])}`;
  const [found] = await queryAt(
    server.adminUrl,
    `SELECT datistemplate AS "isComplete" FROM pg_database WHERE datname = '${name}'`,
  );
  if (found?.['isComplete'] === true) return name;
  if (found) await queryAt(server.adminUrl, `DROP DATABASE ${name}`);
  const { ownerUrl } = await server.ensureAccounts(name);
  await migrateAndStamp(ownerUrl);
  await queryAt(server.adminUrl, `ALTER DATABASE ${name} IS_TEMPLATE true`);
  return name;
});

/** As `npm run migrate` does for the test environment. */
export async function migrateAndStamp(ownerUrl: string): Promise<void> {
  await migrate(ownerUrl, { folder: join(root, 'src/db/schema') });
  const db = openAt(ownerUrl);
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

export const temporal = once(async (): Promise<TemporalPlace> => {
  const kind =
    kindOfTemporal === 'sqlite' ? { binary: await temporalBinary() } : { programs: await temporalPrograms() };
  const server = await (await keeper()).ask({ ask: 'temporal', kind });
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
  atRunEnd(() => connection.close());
  return new Client({ connection, namespace: NAMESPACE });
});

/** Bundled once for each version of what the workflows import, and kept for a day beside the keepers. */
export const workflowBundle = once(async (): Promise<WorkflowBundleWithSourceMap> => {
  const folder = keepersFolder();
  const file = join(folder, `workflows-${hashOfFiles(WORKFLOW_SOURCES)}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as WorkflowBundleWithSourceMap;
  const bundle = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
    workflowInterceptorModules: [join(root, 'workflows/trace-interceptor.ts')],
    logger: new DefaultLogger('ERROR'),
  });
  for (const name of readdirSync(folder).filter((each) => each.startsWith('workflows-'))) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > DAY_MS) rmSync(join(folder, name), { force: true });
  }
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  writeFileSync(unfinished, JSON.stringify(bundle));
  renameSync(unfinished, file);
  return bundle;
});

export type TestDatabase = {
  /** The address for the application's account, with which the server runs. */
  readonly url: string;
  /** The address for its owner, who migrates it. */
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

/** Opens the database at this address, with limits that decide nothing unless others are given. The caller closes it. */
export function openAt(url: string, options: Partial<DatabaseOptions> = {}): Database {
  return openDatabase({ ...LIMITS, url, ...options });
}

export function openTestDatabase(applicationUrl: string, adminUrl: string): Pick<TestDatabase, 'url' | 'db'> {
  const application = openAt(applicationUrl, { attestor: testAttestor });
  const admin = openAt(adminUrl);
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
  return openAt(url, { poolSize: 1, attestor: testAttestor, ...connection });
}

/** Creates a separate database with the current schema, copied from a template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const [server, source] = [await postgres(), await template()];
  const name = `test_${randomBytes(6).toString('hex')}`;
  await queryAt(
    server.adminUrl,
    `CREATE DATABASE ${name} TEMPLATE ${source} OWNER ${OWNER}`,
    ...accessToDatabase(name, [APPLICATION, REPORTS]),
  );
  await queryAt(server.urlFor(name), ...freshFence());
  const database = openTestDatabase(server.urlFor(name, APPLICATION), server.urlFor(name));
  return {
    ...database,
    ownerUrl: server.urlFor(name, OWNER),
    async drop() {
      await database.db.close();
      await dropUnused(server.adminUrl, name);
    },
  };
}

// PostgreSQL's SQLSTATE object_in_use.
const IN_USE = '55006';
/** PostgreSQL itself waits five seconds for connections to end: those of a killed process may take longer on a busy machine. */
const DROP_TRIES = 12;

/** Without FORCE, so that a leaked connection fails the test that leaked it. */
async function dropUnused(adminUrl: string, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await queryAt(adminUrl, `DROP DATABASE ${name}`);
      return;
    } catch (error) {
      if (tries === DROP_TRIES || (error as { readonly code?: string }).code !== IN_USE) throw error;
    }
  }
}
