// Migrations: applied once, in order, whole or not at all, and never when the files are not those that were applied.
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
  const names = async () => (await readdir(MIGRATIONS)).sort();

  it('applies every file in order, and nothing when it is done again', async () => {
    assert.deepEqual(await migrate(url, MIGRATIONS), await names());
    assert.deepEqual(await migrate(url, MIGRATIONS), []);
    const rows = await query('SELECT name FROM schema_migrations ORDER BY applied_at, name');
    assert.deepEqual(
      rows.map((row) => row['name']),
      await names(),
    );
  });

  it('uses the project’s own files when told of no others', async () => {
    assert.deepEqual(await migrate(url), await names());
  });

  it('takes payouts from keys of before there were people, and leaves them all else', async () => {
    for (const file of (await names()).filter((file) => file < '0004'))
      await cp(join(MIGRATIONS, file), join(folder, file));
    await migrate(url, folder);
    const scopes = { a: ['payouts:write'], b: ['balance:read', 'payouts:write'], c: ['balance:read'] };
    await query(`INSERT INTO merchants VALUES ('mer_${'0'.repeat(26)}', 'Shop', 'UGX', now())`);
    for (const [letter, list] of Object.entries(scopes)) {
      await query(
        `INSERT INTO api_keys (id, merchant_id, name, environment, hint, key_sha256, scopes, created_at)
         VALUES ('key_${letter.repeat(26).replace(/^./, '0')}', 'mer_${'0'.repeat(26)}', '${letter}', 'test', 'abcd', sha256('${letter}'),
                 ARRAY['${list.join("','")}'], now())`,
      );
    }
    await migrate(url, MIGRATIONS);
    const rows = await query("SELECT name, array_to_string(scopes, ' ') AS scopes FROM api_keys ORDER BY name");
    assert.deepEqual(
      rows.map((row) => row['scopes']),
      ['payouts:read', 'balance:read', 'balance:read'],
    );
  });

  it('is safe from several processes at once: each file is applied by one of them', async () => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(url, MIGRATIONS)));
    assert.deepEqual(applied.flat().sort(), await names());
  });

  it('refuses when a file was altered after it was applied', async () => {
    await cp(MIGRATIONS, folder, { recursive: true });
    await migrate(url, folder);
    await appendFile(join(folder, '0002-webhooks.sql'), '\n-- a thought\n');
    await assert.rejects(migrate(url, folder), /0002-webhooks.sql was altered/);
  });

  it('refuses a database that is ahead of it', async () => {
    await migrate(url, MIGRATIONS);
    await assert.rejects(migrate(url, folder), /which this version does not know/);
  });

  it('applies what is new after a refusal was put right', async () => {
    await writeFile(join(folder, '0001-a.sql'), 'CREATE TABLE a (id int)');
    await migrate(url, folder);
    await writeFile(join(folder, '0002-b.sql'), 'CREATE TABLE b (id int)');
    assert.deepEqual(await migrate(url, folder), ['0002-b.sql']);
  });

  it('leaves nothing of a file that fails, and keeps those before it', async () => {
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
