// The schema files of this version, and whether a database is one that this version can work on.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseError } from 'pg';
import { statement, type Queryable } from './database.ts';

const OWN_FOLDER = fileURLToPath(new URL('../schema', import.meta.url));

/** What a database records of a file that was applied to it. */
export type AppliedFile = {
  readonly name: string;
  readonly sha256: string;
  /**
   * Servers that know the schema up to this file may run on the database once it has the file of this row. Null: only servers that know
   * the file of this row.
   */
  readonly oldestServers: string | null;
};
export type SchemaFile = AppliedFile & {
  readonly sql: string;
  /** `alone`: its one statement runs outside of a transaction. `batches`: it runs again until it changes nothing more. */
  readonly mode: 'transaction' | 'alone' | 'batches';
  /** Later than the schema of the first release, so servers may work meanwhile. */
  readonly isMigration: boolean;
  /** It only reads what is there, while others work. */
  readonly validates: boolean;
};

/** The schema of the first release has lower numbers, and is edited in place until then. */
export const FIRST_MIGRATION = '200';
const MODES = { 'outside of a transaction': 'alone', 'in batches': 'batches' } as const;

export type SchemaDifferences = {
  readonly missing: readonly SchemaFile[];
  /** What the database has and this version does not know, or knows with another content. */
  readonly unknown: readonly string[];
  /** What a later version added. It says that this version may run on the database. */
  readonly later: readonly string[];
};

/** In the order in which they are applied. */
export async function readSchemaFiles(folder: string = OWN_FOLDER): Promise<SchemaFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      return schemaFile(name, await readFile(join(folder, name), 'utf8'));
    }),
  );
}

/** Its first lines say in comments how it runs, and beside which servers: CONTRIBUTING.md. */
export function schemaFile(name: string, sql: string): SchemaFile {
  const mode = /^-- runs: (.+)$/m.exec(sql)?.[1];
  if (mode !== undefined && !(mode in MODES)) throw new Error(`${name}: there is no way to run a file named ${mode}`);
  return {
    name,
    sql,
    sha256: createHash('sha256').update(sql).digest('hex'),
    oldestServers: /^-- oldest servers: (\S+)$/m.exec(sql)?.[1] ?? null,
    mode: mode === undefined ? 'transaction' : MODES[mode as keyof typeof MODES],
    isMigration: name >= FIRST_MIGRATION,
    validates: /\bVALIDATE CONSTRAINT\b/.test(sql),
  };
}

// A database of another version may lack the column.
const LIST_APPLIED = statement('schema_list_applied')`
  SELECT name, sha256, to_jsonb(m) ->> 'oldest_servers' AS oldest_servers FROM public.schema_migrations m`;

/** Takes any account that reads the database; changes nothing. */
export async function readSchemaDifferences(db: Queryable, files?: readonly SchemaFile[]): Promise<SchemaDifferences> {
  return compareSchema(files ?? (await readSchemaFiles()), await db.run<AppliedFile>(LIST_APPLIED, []));
}

export function compareSchema(files: readonly SchemaFile[], applied: readonly AppliedFile[]): SchemaDifferences {
  const known = new Map(files.map((file) => [file.name, file]));
  const last = files.at(-1)?.name ?? '';
  const others = applied.filter(({ name, sha256 }) => known.get(name)?.sha256 !== sha256);
  const isLater = ({ name, oldestServers }: AppliedFile) =>
    name > last && oldestServers !== null && known.has(oldestServers);
  return {
    missing: files.filter(({ name }) => !applied.some((file) => file.name === name)),
    unknown: others.filter((file) => !isLater(file)).map(({ name }) => name),
    later: others.filter(isLater).map(({ name }) => name),
  };
}

/** Why this version does nothing on such a database; null: it works on it. */
export function schemaFault({ missing, unknown }: SchemaDifferences): string | null {
  if (unknown.length > 0) {
    const names = listText(unknown);
    return `the database is newer than this version can use, or of another version, which added or changed ${names}`;
  }
  if (missing.length === 0) return null;
  const names = listText(missing.map(({ name }) => name));
  return `the database is older than this version needs: it lacks ${names} (npm run migrate)`;
}

/** SQLSTATE classes of what is not there, or not with this name. */
const ABSENT = /^(3F|42)[0-9A-Z]{3}$/;

/** As `schemaFault`, for the database itself. An account that cannot read the list of its files is a fault, too. */
export async function findSchemaFault(db: Queryable, files: readonly SchemaFile[]): Promise<string | null> {
  try {
    return schemaFault(await readSchemaDifferences(db, files));
  } catch (error) {
    if (error instanceof DatabaseError && ABSENT.test(error.code ?? '')) return `the schema: ${error.message}`;
    throw error;
  }
}

export function listText([first = '', ...others]: readonly string[]): string {
  return others.length > 0 ? `${first} and ${others.length} more` : first;
}
