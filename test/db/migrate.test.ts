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

  it('numbers the entries of the accounts that are there already, and posts on from there', async () => {
    const all = await names();
    const earlier = all.filter((file) => file < '0007-ledger-entry-numbers.sql');
    for (const file of earlier) await cp(join(MIGRATIONS, file), join(folder, file));
    await migrate(url, folder);
    await query(LEDGER_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    const entries = 'SELECT debit_entry, credit_entry FROM ledger_transfers ORDER BY id';
    assert.deepEqual(await query(entries), [
      { debit_entry: null, credit_entry: '1' },
      { debit_entry: '2', credit_entry: '1' },
      { debit_entry: null, credit_entry: '3' },
      { debit_entry: '2', credit_entry: null },
    ]);
    const accounts = 'SELECT kind, entry_count, balance_minor FROM ledger_accounts ORDER BY kind';
    assert.deepEqual(await query(accounts), [
      { kind: 'available', entry_count: '3', balance_minor: '9000' },
      { kind: 'held', entry_count: '2', balance_minor: '0' },
      { kind: 'operator', entry_count: null, balance_minor: null },
    ]);
    await query(ONE_MORE_TRANSFER);
    assert.deepEqual((await query(entries)).at(-1), { debit_entry: null, credit_entry: '4' });
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

const transferOf = (kind: string, payment: string, [debit, credit]: [string, string], amountMinor: number) =>
  `INSERT INTO ledger_transfers (kind, ${payment.startsWith('col') ? 'collection_id' : 'payout_id'}, debit_account_id,
     credit_account_id, amount_minor, currency, created_at)
   VALUES ('${kind}', '${payment}', '${debit}', '${credit}', ${amountMinor}, 'UGX', now());`;

const MERCHANT = `mer_${'0'.repeat(26)}`;
const [AVAILABLE, HELD, OPERATOR] = [`${MERCHANT}/available`, `${MERCHANT}/held`, 'operator/mtn-momo/UGX'];

// Two collections and a payout that was paid, as an earlier version posted them. The rules of then are not at issue.
const LEDGER_OF_BEFORE = `
  SET session_replication_role = replica;
  INSERT INTO merchants VALUES ('${MERCHANT}', 'Shop', 'UGX', now());
  INSERT INTO ledger_accounts (id, kind, merchant_id, operator, currency, balance_minor) VALUES
    ('${AVAILABLE}', 'available', '${MERCHANT}', NULL, 'UGX', 9000), ('${HELD}', 'held', '${MERCHANT}', NULL, 'UGX', 0),
    ('${OPERATOR}', 'operator', NULL, 'mtn-momo', 'UGX', NULL);
  ${transferOf('collection_paid', 'col_1', [OPERATOR, AVAILABLE], 5000)}
  ${transferOf('payout_held', 'pay_1', [AVAILABLE, HELD], 1000)}
  ${transferOf('collection_paid', 'col_2', [OPERATOR, AVAILABLE], 5000)}
  ${transferOf('payout_paid', 'pay_1', [HELD, OPERATOR], 1000)}`;

// No collection stands behind it, so the check of that is left out; the posting and the check at commit are not.
const ONE_MORE_TRANSFER = `
  BEGIN;
  ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_check,
    DROP CONSTRAINT ledger_transfers_collection_id_fkey;
  ${transferOf('collection_paid', 'col_3', [OPERATOR, AVAILABLE], 5000)}
  COMMIT`;

async function queryAt(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
