// Migrations: each file is applied once, in order, in one transaction, and never after an applied file was altered.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { migrate } from '../../src/db/migrate.ts';
import { postgres, runFolder } from '../support/engines.ts';

const MIGRATIONS = fileURLToPath(new URL('../../src/db/migrations', import.meta.url));

describe('migrating a database', () => {
  let url: string;
  let name: string;
  let folder: string;

  beforeEach(async () => {
    const server = await postgres();
    name = `empty_${randomBytes(6).toString('hex')}`;
    await server.ensureDatabase(name);
    url = server.urlFor(name);
    folder = await mkdtemp(join(runFolder(), 'migrations-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
    await queryAt((await postgres()).adminUrl, `DROP DATABASE ${name}`);
  });

  const query = (sql: string) => queryAt(url, sql);
  const names = async () => (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();

  it('applies every file in order, and nothing when it runs again', async () => {
    assert.deepEqual(await migrate(url, MIGRATIONS), await names());
    assert.deepEqual(await migrate(url, MIGRATIONS), []);
    const rows = await query('SELECT name FROM schema_migrations ORDER BY applied_at, name');
    const recorded = rows.map((row) => row['name']);
    assert.deepEqual(recorded, await names());
  });

  it('applies the project’s own files when it gets no other folder', async () => {
    assert.deepEqual(await migrate(url), await names());
  });

  it('applies a new file to the rows that are already there', async () => {
    await writeFile(join(folder, '0001-keys.sql'), 'CREATE TABLE keys (name text, scopes text[])');
    await migrate(url, folder);
    await query("INSERT INTO keys VALUES ('a', '{payouts:write}'), ('b', '{balance:read,payouts:write}')");
    await writeFile(
      join(folder, '0002-scopes.sql'),
      `UPDATE keys SET scopes = array_remove(scopes, 'payouts:write');
       ALTER TABLE keys ADD CHECK (NOT 'payouts:write' = ANY (scopes))`,
    );
    assert.deepEqual(await migrate(url, folder), ['0002-scopes.sql']);
    assert.deepEqual(await query('SELECT name, scopes FROM keys ORDER BY name'), [
      { name: 'a', scopes: [] },
      { name: 'b', scopes: ['balance:read'] },
    ]);
  });

  it('applies each file once when several processes run it at the same time', async () => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, MIGRATIONS)));
    assert.deepEqual(applied.flat().sort(), await names());
  });

  it('fails when a file was altered after it was applied', async () => {
    await cp(MIGRATIONS, folder, { recursive: true });
    await migrate(url, folder);
    await appendFile(join(folder, '0002-payments.sql'), '\n-- a remark\n');
    await assert.rejects(migrate(url, folder), /0002-payments.sql was altered/);
  });

  it('fails when the database has a migration that it does not know', async () => {
    await migrate(url, MIGRATIONS);
    await assert.rejects(migrate(url, folder), /which this version does not know/);
  });

  it('applies only the new file when the others are applied already', async () => {
    await writeFile(join(folder, '0001-a.sql'), 'CREATE TABLE a (id int)');
    await migrate(url, folder);
    await writeFile(join(folder, '0002-b.sql'), 'CREATE TABLE b (id int)');
    assert.deepEqual(await migrate(url, folder), ['0002-b.sql']);
  });

  it('rolls back a file that fails, keeps the files before it, and applies the rest once the file is corrected', async () => {
    await writeFile(join(folder, '0001-a.sql'), 'CREATE TABLE a (id int)');
    await writeFile(join(folder, '0002-b.sql'), 'CREATE TABLE b (id int); SELECT 1 / 0;');
    await writeFile(join(folder, '0003-c.sql'), 'CREATE TABLE c (id int)');
    await assert.rejects(migrate(url, folder), /0002-b.sql failed and was rolled back/);
    const [row] = await query("SELECT to_regclass('a') AS a, to_regclass('b') AS b, to_regclass('c') AS c");
    assert.deepEqual(row, { a: 'a', b: null, c: null });
    await writeFile(join(folder, '0002-b.sql'), 'CREATE TABLE b (id int)');
    assert.deepEqual(await migrate(url, folder), ['0002-b.sql', '0003-c.sql']);
  });
});

async function queryAt(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
