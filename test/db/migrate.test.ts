// The mechanism of the schema files: each is applied once, in order, in one transaction, and never after an applied file was altered.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../src/db/platform/migrate.ts';
import { postgres, runFolder } from '../support/engines.ts';
import { queryAt, withClient } from '../support/one-client.ts';
import { eventually } from '../support/test-environment.ts';

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

  describe('that is in use', () => {
    const BEFORE = '-- oldest servers: 010-keys.sql\n';
    /** Holds what a report holds: a lock that keeps others from changing the table. */
    async function withReport(work: () => Promise<void>): Promise<void> {
      await withClient(url, async (report) => {
        await report.query('BEGIN');
        await report.query('SELECT FROM keys');
        await work();
        await report.query('COMMIT');
      });
    }
    /** The migration, and how often it has let everybody pass and will try again. */
    function beginMigration(options: Partial<Parameters<typeof migrate>[1]> = {}) {
      const lines: string[] = [];
      const report = (line: string) => void lines.push(line);
      const short = { lockTimeoutMs: 50, pauseMs: 20, longestPauseMs: 40, report };
      const migrated = migrate(url, { folder, ...short, ...options });
      migrated.catch(() => undefined);
      return { migrated, lines };
    }

    beforeEach(async () => {
      await writeThree();
      await migrate(url, { folder });
    });

    it('waits for a lock for a moment, lets everybody pass, and tries again until the lock is to be had', async () => {
      await write('210-note.sql', `${BEFORE}ALTER TABLE keys ADD COLUMN note text`);
      let migration: ReturnType<typeof beginMigration> | undefined;
      await withReport(async () => {
        migration = beginMigration();
        const { lines } = migration;
        await eventually('it to try again', () => lines.length > 3);
        // A statement behind a migration that waits would wait as well.
        await query("INSERT INTO keys (name) VALUES ('meanwhile')");
        assert.match(lines[0] ?? '', /^210-note\.sql: .* uses its tables; the next try is in 0\.02 s$/);
      });
      assert.deepEqual(await migration?.migrated, ['210-note.sql']);
      assert.deepEqual(await query('SELECT name, note FROM keys'), [{ name: 'meanwhile', note: null }]);
    });

    it('gives up in the end, and has changed nothing', async () => {
      await write(
        '210-note.sql',
        `${BEFORE}ALTER TABLE uses ADD COLUMN note text; ALTER TABLE keys ADD COLUMN note text`,
      );
      await withReport(() =>
        assert.rejects(
          beginMigration({ giveUpAfterMs: 0 }).migrated,
          /210-note\.sql found its tables in use for too long/,
        ),
      );
      const columns = "SELECT FROM information_schema.columns WHERE column_name = 'note'";
      assert.deepEqual(await query(columns), []);
      assert.deepEqual(await migrate(url, { folder }), ['210-note.sql']);
    });

    it('is not held by a statement that takes long', async () => {
      await write('210-slow.sql', `${BEFORE}ALTER TABLE keys ADD COLUMN note text; SELECT pg_sleep(60)`);
      await assert.rejects(beginMigration({ statementTimeoutMs: 50 }).migrated, (error: Error) =>
        String(error.cause).includes('statement timeout'),
      );
    });

    it('gets an index concurrently, also after one that was not completed, and twice none', async () => {
      await query("INSERT INTO keys (name, scopes) VALUES ('a', '{x}'), ('b', '{x}')");
      const index = 'CREATE UNIQUE INDEX CONCURRENTLY keys_once ON keys (scopes)';
      await write('210-once.sql', `${BEFORE}-- runs: outside of a transaction\n${index};\n`);
      await assert.rejects(beginMigration().migrated, /210-once\.sql failed/);
      const indexes = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('keys_once')";
      assert.deepEqual(await query(indexes), [{ indisvalid: false }]);
      await query("DELETE FROM keys WHERE name = 'b'");
      assert.deepEqual(await beginMigration().migrated, ['210-once.sql']);
      assert.deepEqual(await query(indexes), [{ indisvalid: true }]);
      // As if the process had ended before it recorded the file.
      await query("DELETE FROM schema_migrations WHERE name = '210-once.sql'");
      assert.deepEqual(await beginMigration().migrated, ['210-once.sql']);
    });

    it('gets an index concurrently while another process waits for its turn to migrate', async () => {
      await write(
        '210-by.sql',
        `${BEFORE}-- runs: outside of a transaction\nCREATE INDEX CONCURRENTLY keys_by ON keys (scopes)`,
      );
      const all = await Promise.all([1, 2, 3].map(() => beginMigration().migrated));
      assert.deepEqual(all.flat(), ['210-by.sql']);
    });

    it('has its rows changed batch by batch, with the progress', async () => {
      await query("INSERT INTO keys (name) SELECT 'k' || n FROM generate_series(1, 25) n");
      const some = 'SELECT name FROM keys WHERE scopes IS NULL LIMIT 10';
      await write(
        '210-fill.sql',
        `${BEFORE}-- runs: in batches\nUPDATE keys SET scopes = '{}' WHERE name IN (${some})`,
      );
      const { migrated, lines } = beginMigration();
      assert.deepEqual(await migrated, ['210-fill.sql']);
      assert.deepEqual(
        lines,
        [10, 20, 25].map((rows) => `210-fill.sql: ${rows} rows so far`),
      );
      assert.deepEqual(await query('SELECT FROM keys WHERE scopes IS NULL'), []);
    });

    it('is left alone by an earlier version that may run beside the later one, and refused by one that may not', async () => {
      await write('210-note.sql', `-- oldest servers: 100-view.sql\nALTER TABLE keys ADD COLUMN note text`);
      await migrate(url, { folder });
      await rm(join(folder, '210-note.sql'));
      assert.deepEqual(await migrate(url, { folder }), []);
      await query("UPDATE schema_migrations SET oldest_servers = '210-note.sql' WHERE name = '210-note.sql'");
      await assert.rejects(migrate(url, { folder }), refusalOf('210-note.sql'));
    });
  });
});

function refusalOf(file: string): RegExp {
  return new RegExp(`^Error: .*schema files of the database, or has changed them: ${file}\\.`);
}
