// The mechanism of the schema files: each is applied once, in order, in one transaction, and never after an applied file was altered.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../src/db/platform/migrate.ts';
import { postgres, runFolder } from '../support/engines.ts';
import { queryAt } from '../support/one-client.ts';

const OWN_FILES = fileURLToPath(new URL('../../src/db/schema', import.meta.url));

describe('migrating a database', () => {
  let url: string;
  let name: string;
  let folder: string;

  beforeEach(async () => {
    const server = await postgres();
    name = `empty_${randomBytes(6).toString('hex')}`;
    await server.ensureDatabase(name);
    url = server.urlFor(name);
    folder = await mkdtemp(join(runFolder(), 'schema-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
    await queryAt((await postgres()).adminUrl, `DROP DATABASE ${name}`);
  });

  const query = (sql: string) => queryAt(url, sql);
  const write = (file: string, sql: string) => writeFile(join(folder, file), sql);

  /** The folder gets files whose later ones need the earlier ones. */
  async function writeThree(): Promise<readonly string[]> {
    await write('010-keys.sql', 'CREATE TABLE keys (name text PRIMARY KEY, scopes text[])');
    await write('020-uses.sql', 'CREATE TABLE uses (key text REFERENCES keys)');
    await write('100-view.sql', 'CREATE VIEW used AS SELECT key FROM uses');
    return ['010-keys.sql', '020-uses.sql', '100-view.sql'];
  }

  it('applies every file in order, and nothing when it runs again', async () => {
    const names = await writeThree();
    assert.deepEqual(await migrate(url, { folder }), names);
    assert.deepEqual(await migrate(url, { folder }), []);
    const rows = await query('SELECT name FROM schema_migrations ORDER BY applied_at, name');
    assert.deepEqual(
      rows.map((row) => row['name']),
      names,
    );
  });

  it('applies the project’s own files when it gets no other folder', async () => {
    const names = (await readdir(OWN_FILES)).sort();
    assert.deepEqual(await migrate(url), names);
    assert.deepEqual(await migrate(url, { folder: OWN_FILES }), []);
  });

  it('applies a new file to the rows that are already there', async () => {
    await write('010-keys.sql', 'CREATE TABLE keys (name text, scopes text[])');
    await migrate(url, { folder });
    await query("INSERT INTO keys VALUES ('a', '{payouts:write}'), ('b', '{balance:read,payouts:write}')");
    await write(
      '020-scopes.sql',
      `UPDATE keys SET scopes = array_remove(scopes, 'payouts:write');
       ALTER TABLE keys ADD CHECK (NOT 'payouts:write' = ANY (scopes))`,
    );
    assert.deepEqual(await migrate(url, { folder }), ['020-scopes.sql']);
    assert.deepEqual(await query('SELECT name, scopes FROM keys ORDER BY name'), [
      { name: 'a', scopes: [] },
      { name: 'b', scopes: ['balance:read'] },
    ]);
  });

  it('applies each file once when several processes run it at the same time', async () => {
    const names = await writeThree();
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, { folder })));
    assert.deepEqual(applied.flat().sort(), names);
  });

  it('fails when a file was altered after it was applied', async () => {
    await writeThree();
    await migrate(url, { folder });
    await appendFile(join(folder, '020-uses.sql'), '\n-- a remark\n');
    await write('200-later.sql', 'CREATE TABLE later (id int)');
    await assert.rejects(migrate(url, { folder }), refusalOf('020-uses.sql'));
    assert.deepEqual(await query("SELECT to_regclass('later') AS later"), [{ later: null }]);
  });

  it('fails when the database has a file that it does not know', async () => {
    await writeThree();
    await migrate(url, { folder });
    await rm(join(folder, '100-view.sql'));
    await assert.rejects(migrate(url, { folder }), refusalOf('100-view.sql'));
  });

  it('says of a database that other files made how to create it again', async () => {
    await writeThree();
    await migrate(url, { folder });
    await assert.rejects(
      migrate(url),
      /010-keys\.sql and 2 more\. Until .* remove its data folder .* run `npm run accounts` and `npm run migrate`\.$/,
    );
  });

  it('applies only the new file when the others are applied already', async () => {
    await write('010-a.sql', 'CREATE TABLE a (id int)');
    await migrate(url, { folder });
    await write('020-b.sql', 'CREATE TABLE b (id int)');
    assert.deepEqual(await migrate(url, { folder }), ['020-b.sql']);
  });

  it('rolls back a file that fails, keeps the files before it, and applies the rest once the file is corrected', async () => {
    await write('010-a.sql', 'CREATE TABLE a (id int)');
    await write('020-b.sql', 'CREATE TABLE b (id int); SELECT 1 / 0;');
    await write('030-c.sql', 'CREATE TABLE c (id int)');
    await assert.rejects(migrate(url, { folder }), /020-b.sql failed and was rolled back/);
    const [row] = await query("SELECT to_regclass('a') AS a, to_regclass('b') AS b, to_regclass('c') AS c");
    assert.deepEqual(row, { a: 'a', b: null, c: null });
    await write('020-b.sql', 'CREATE TABLE b (id int)');
    assert.deepEqual(await migrate(url, { folder }), ['020-b.sql', '030-c.sql']);
  });
});

function refusalOf(file: string): RegExp {
  return new RegExp(`^Error: .*schema files of the database, or has changed them: ${file}\\.`);
}
