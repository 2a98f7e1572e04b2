// Brings a database to the present schema: applies the files of `schema/` once each, in order, each in its own transaction.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { grantAccess } from './access.ts';
import { statement, type Queryable } from './database.ts';
import { connectionTo } from './session-settings.ts';

const OWN_FOLDER = fileURLToPath(new URL('../schema', import.meta.url));
// An arbitrary fixed number, so that only one process migrates a database at a time.
const ADVISORY_LOCK = 7_261_544_019;

type Applied = { readonly name: string; readonly sha256: string };
type Migration = Applied & { readonly sql: string };

/**
 * Applies the files that the database lacks, grants the rights of the accounts (`access.ts`), and returns the names of
 * the files. Requires the address of the account that owns the database. Safe to run from several processes.
 * Throws if an applied file was altered since, or is unknown to this version.
 */
export async function migrate(ownerUrl: string, folder: string = OWN_FOLDER): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new Client({ ...connectionTo(ownerUrl), application_name: 'malipo-migrate' });
  // Without a listener, a lost connection would end the process; the running or next statement fails in any case.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL)',
    );
    const { rows } = await client.query<Applied>('SELECT name, sha256 FROM schema_migrations ORDER BY name');
    const { missing, unknown } = compare(migrations, rows);
    if (unknown.length > 0) throw otherSchema(unknown);
    for (const migration of missing) await apply(client, migration);
    await grantAccess(client);
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

export type MigrationDifferences = {
  readonly missing: readonly string[];
  /** Applied files that this version does not know, or knows with other content. */
  readonly unknown: readonly string[];
};

const LIST_APPLIED = statement('migration_list_applied')`SELECT name, sha256 FROM public.schema_migrations`;

/** How the database differs from this version. Any account that can read it may ask; nothing changes. */
export async function compareMigrations(db: Queryable, folder: string = OWN_FOLDER): Promise<MigrationDifferences> {
  const { missing, unknown } = compare(await readMigrations(folder), await db.run<Applied>(LIST_APPLIED, []));
  return { missing: missing.map(({ name }) => name), unknown };
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** `unknown`: the names of the applied files that are not among the migrations, or not with this content. */
function compare(migrations: readonly Migration[], applied: readonly Applied[]) {
  const isSame = (one: Applied, other: Applied) => one.name === other.name && one.sha256 === other.sha256;
  return {
    missing: migrations.filter((migration) => !applied.some(({ name }) => name === migration.name)),
    unknown: applied.filter((file) => !migrations.some((each) => isSame(each, file))).map(({ name }) => name),
  };
}

function otherSchema([first, ...others]: readonly string[]): Error {
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return new Error(
    `this version does not know these schema files of the database, or has changed them: ${first ?? ''}${more}. ` +
      'Until the first release the schema is edited in place, and a database of another version is created again. ' +
      'For `npm start`, remove its data folder (MALIPO_DATA_DIR, `var` by default). Otherwise drop the database and its ' +
      'Temporal namespace, then run `npm run accounts` and `npm run migrate`.',
  );
}

async function apply(client: Client, { name, sql, sha256 }: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(sql);
    await client.query('INSERT INTO schema_migrations (name, sha256, applied_at) VALUES ($1, $2, now())', [
      name,
      sha256,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    // If the connection is lost, the server rolls back by itself.
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`migration ${name} failed and was rolled back`, { cause: error });
  }
}
