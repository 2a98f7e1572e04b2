// Brings a database to the present schema: applies the files of `schema/` once each, in order, while servers work on it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { grantAccess } from './access.ts';
import { compareSchema, listText, readSchemaFiles, type AppliedFile, type SchemaFile } from './schema-files.ts';
import { connectionTo } from './session-settings.ts';

// An arbitrary fixed number, so that only one process migrates a database at a time.
const ADVISORY_LOCK = 7_261_544_019;

/** How a migration waits for locks that others hold. */
export type Patience = {
  /** Statements behind a waiting migration wait with it, those of payments too. Autovacuum makes way after one second. */
  readonly lockTimeoutMs: number;
  /** From one try to the next; doubles up to the longest. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** A statement that takes longer holds its locks for too long. */
  readonly statementTimeoutMs: number;
  readonly giveUpAfterMs: number;
  readonly report: (line: string) => void;
};

const PATIENCE: Patience = {
  lockTimeoutMs: 1500,
  pauseMs: 3000,
  longestPauseMs: 30_000,
  statementTimeoutMs: 10_000,
  giveUpAfterMs: 15 * 60_000,
  report: () => undefined,
};
const LOOK_FOR_LOCK_EVERY_MS = 200;
/** SQLSTATE of a lock that was not to be had in time, and of two that waited for each other. */
const BLOCKED = new Set(['55P03', '40P01']);

export type MigrateOptions = Partial<Patience> & { readonly folder?: string };

type Run = { readonly client: Client; readonly patience: Patience };

/**
 * Applies the files that the database lacks, grants the rights of the accounts (`access.ts`), and returns the names of
 * the files. Requires the address of the account that owns the database. Safe to run from several processes.
 * Throws if an applied file was altered since, or is unknown to this version.
 */
export async function migrate(ownerUrl: string, { folder, ...chosen }: MigrateOptions = {}): Promise<string[]> {
  const files = await readSchemaFiles(folder);
  const client = new Client({ ...connectionTo(ownerUrl), application_name: 'malipo-migrate' });
  // Without a listener, a lost connection would end the process; the running or next statement fails in any case.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const run = { client, patience: { ...PATIENCE, ...chosen } };
    await takeTurn(client);
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL,
       oldest_servers text)`,
    );
    const { rows } = await client.query<AppliedFile>(
      `SELECT name, sha256, to_jsonb(m) ->> 'oldest_servers' AS "oldestServers" FROM schema_migrations m ORDER BY name`,
    );
    const { missing, unknown, later } = compareSchema(files, rows);
    if (unknown.length > 0) throw otherSchema(unknown);
    if (later.length > 0 && missing.length > 0) throw otherSchema(later);
    // Its accounts have the rights that the later version granted.
    if (later.length > 0) return [];
    for (const file of missing) await apply(run, file, { isLast: file === missing.at(-1) });
    if (missing.length === 0) await inTransaction(run, 'the rights of the accounts', () => grantAccess(client));
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Asks again and again: a statement that waits would keep an index from being built concurrently, which waits for all statements. */
async function takeTurn(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    await sleep(LOOK_FOR_LOCK_EVERY_MS);
  }
}

/** With the last file the accounts get their rights, so that a server which finds all its files can use them. */
async function apply(run: Run, file: SchemaFile, { isLast }: { readonly isLast: boolean }): Promise<void> {
  const { client } = run;
  if (file.mode === 'alone') await runAlone(run, file);
  if (file.mode === 'batches') await runInBatches(run, file);
  await inTransaction(run, file.name, async () => {
    if (file.mode === 'transaction') {
      if (file.isMigration && !file.validates) await limitStatements(run);
      await client.query(file.sql);
      await client.query('SET LOCAL statement_timeout = 0');
    }
    if (isLast) await grantAccess(client);
    await client.query(
      'INSERT INTO schema_migrations (name, sha256, applied_at, oldest_servers) VALUES ($1, $2, now(), $3)',
      [file.name, file.sha256, file.oldestServers],
    );
  });
}

async function limitStatements({ client, patience }: Run): Promise<void> {
  await client.query(`SET LOCAL statement_timeout = ${patience.statementTimeoutMs}`);
}

async function inTransaction(run: Run, name: string, work: () => Promise<void>): Promise<void> {
  const { client, patience } = run;
  await untilUnblocked(run, name, async () => {
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${patience.lockTimeoutMs}`);
      await work();
      await client.query('COMMIT');
    } catch (error) {
      // Where the connection is lost the server rolls back by itself.
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

/**
 * A statement that PostgreSQL runs in no transaction block, such as an index that is built concurrently: it stops nobody while it waits.
 * One that failed leaves an index that nothing uses.
 */
async function runAlone(run: Run, { name, sql }: SchemaFile): Promise<void> {
  const { client } = run;
  const index = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY ([a-z0-9_]+) ON /m.exec(sql)?.[1];
  await untilUnblocked(run, name, async () => {
    if (index !== undefined) {
      const { rows } = await client.query<{ isValid: boolean }>(
        'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
        [`public.${index}`],
      );
      // It was built, and the process ended before it recorded that.
      if (rows[0]?.isValid === true) return;
      if (rows[0]) await client.query(`DROP INDEX CONCURRENTLY public.${index}`);
    }
    await client.query(sql);
  });
}

/** Runs the statement again and again, each time in a transaction of its own, until it changes nothing more. */
async function runInBatches(run: Run, { name, sql }: SchemaFile): Promise<void> {
  let total = 0;
  for (let changed = -1; changed !== 0; total += changed) {
    await inTransaction(run, name, async () => {
      changed = (await run.client.query(sql)).rowCount ?? 0;
    });
    if (changed > 0) run.patience.report(`${name}: ${total + changed} rows so far`);
  }
}

async function untilUnblocked({ patience }: Run, name: string, work: () => Promise<void>): Promise<void> {
  const { report, giveUpAfterMs, longestPauseMs } = patience;
  const beganMs = performance.now();
  for (let pauseMs = patience.pauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      await work();
      return;
    } catch (error) {
      const isBlocked = error instanceof DatabaseError && BLOCKED.has(error.code ?? '');
      if (!isBlocked) throw new Error(`migration ${name} failed and was rolled back`, { cause: error });
      if (performance.now() - beganMs > giveUpAfterMs)
        throw new Error(`migration ${name} found its tables in use for too long, and changed nothing`, {
          cause: error,
        });
      report(`${name}: a transaction of somebody else uses its tables; the next try is in ${pauseMs / 1000} s`);
    }
    await sleep(pauseMs);
  }
}

function otherSchema(names: readonly string[]): Error {
  return new Error(
    `this version does not know these schema files of the database, or has changed them: ${listText(names)}. ` +
      'Until the first release the schema is edited in place, and a database of another version is created again. ' +
      'For `npm start`, remove its data folder (MALIPO_DATA_DIR, `var` by default). Otherwise drop the database and its ' +
      'Temporal namespace, then run `npm run accounts` and `npm run migrate`.',
  );
}
