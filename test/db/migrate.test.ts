// Migrations: each file is applied once, in order, in one transaction, and never after an applied file was altered.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { migrate } from '../../src/db/platform/migrate.ts';
import { RECOVERED_BEFORE } from './recovered-before.ts';
import {
  AUDIT_LOG_OF_BEFORE,
  AVAILABLE,
  KEYS_OF_BEFORE,
  LEDGER_OF_BEFORE,
  MERCHANT_OF_BEFORE,
  OPERATOR,
  PAYMENTS_OF_BEFORE,
  REFUNDS_OF_BEFORE,
  SESSION_OF_BEFORE,
  collectionId,
  keyId,
  nounOf,
  payoutId,
  transferOf,
} from './rows-before.ts';
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

  /** Brings the database to where it was before this file. */
  async function migrateBefore(next: string): Promise<void> {
    const earlier = (await names()).filter((file) => file < next);
    for (const file of earlier) await cp(join(MIGRATIONS, file), join(folder, file));
    await migrate(url, folder);
  }

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
    await migrateBefore('0007-ledger-entry-numbers.sql');
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
    const balances =
      'SELECT debit_balance_minor AS debit, credit_balance_minor AS credit FROM ledger_transfers ORDER BY posted_at';
    assert.deepEqual(await query(balances), [
      { debit: null, credit: '5000' },
      { debit: '4000', credit: '1000' },
      { debit: null, credit: '9000' },
      { debit: '0', credit: null },
    ]);
    await query(ONE_MORE_TRANSFER);
    assert.deepEqual((await query(balances)).at(-1), { debit: null, credit: '14000' });
    assert.deepEqual((await query(entries)).at(-1), { debit_entry: null, credit_entry: '4' });
  });

  it('takes the payments that are pending already for sent', async () => {
    await migrateBefore('0010-send-begun.sql');
    await query(PAYMENTS_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    assert.deepEqual(await query('SELECT state FROM collections WHERE send_begun_at = created_at ORDER BY id'), [
      { state: 'initiated' },
      { state: 'prompted' },
      { state: 'reconciling' },
    ]);
  });

  it('ends the sessions of before, which have no id', async () => {
    await migrateBefore('0027-sessions.sql');
    await query(SESSION_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    assert.deepEqual(await query('SELECT id FROM sessions'), []);
    assert.equal((await query('SELECT id FROM users')).length, 1);
  });

  it('withdraws what was approved and proposed before a recovery of before, also where newer files are applied already', async () => {
    const own = '0067-withdrawn-approvals.sql';
    for (const file of await names()) if (file !== own) await cp(join(MIGRATIONS, file), join(folder, file));
    await migrate(url, folder);
    await query(RECOVERED_BEFORE);
    assert.deepEqual(await migrate(url, MIGRATIONS), [own]);
    assert.deepEqual(
      await query(
        'SELECT right(user_id, 1) AS who, withdrawn_at IS NULL AS stands FROM payout_approvals ORDER BY user_id',
      ),
      [
        { who: '0', stands: false },
        { who: '1', stands: true },
      ],
    );
    assert.deepEqual(await query('SELECT right(proposed_by, 1) AS who, state FROM policy_changes ORDER BY id'), [
      { who: '0', state: 'withdrawn' },
      { who: '1', state: 'pending' },
    ]);
    const entries = await query('SELECT action, right(user_id, 1) AS who FROM audit_entries ORDER BY action');
    assert.deepEqual(entries.map(Object.values), [
      ['payout.approval_withdrawn', '0'],
      ['policy_change.withdrawn', '0'],
    ]);
  });

  it('ends the recoveries that one of the staff made alone', async () => {
    await migrateBefore('0030-named-staff.sql');
    await query(`INSERT INTO users (id, email, name, password_hash, created_at)
                 VALUES ('usr_${'0'.repeat(26)}', 'a@b.example', 'A', '$argon2id$', now())`);
    await query(`INSERT INTO recoveries (token_sha256, user_id, created_at, expires_at)
                 SELECT decode(repeat('ab', 32), 'hex'), id, now(), now() + interval '1 day' FROM users`);
    await migrate(url, MIGRATIONS);
    assert.deepEqual(await query('SELECT * FROM recoveries'), []);
    assert.deepEqual(await query('SELECT recovered_at, lost_second_factor FROM users'), [
      { recovered_at: null, lost_second_factor: false },
    ]);
  });

  it('lets an approver decide on refunds of before that nobody has begun to send, and sends no other again', async () => {
    await migrateBefore('0034-approved-refunds.sql');
    await query(REFUNDS_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    assert.deepEqual(
      await query(`SELECT state, send_deadline_at IS NULL AS unreleased, workflow_started_at IS NULL AS unstarted,
                     expires_at > now() + interval '6 days' AS waits FROM reversals ORDER BY id`),
      [
        { state: 'queued', unreleased: true, unstarted: true, waits: true },
        { state: 'reconciling', unreleased: false, unstarted: false, waits: true },
        { state: 'failed', unreleased: false, unstarted: false, waits: true },
      ],
    );
  });

  it('has a person settle which of several payments one receipt paid, and lets no other share one', async () => {
    await migrateBefore('0012-operator-receipts.sql');
    await query(PAYMENTS_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    const shared = ['collections', 'payouts'].map((table) => `SELECT id FROM ${table} WHERE receipt_shared`);
    const later = [collectionId(5), collectionId(6), payoutId(2)];
    assert.deepEqual(
      await query(`${shared.join(' UNION ALL ')} ORDER BY id`),
      later.map((id) => ({ id })),
    );
    assert.deepEqual(
      await query(`SELECT coalesce(collection_id, payout_id) AS id, kind, operator_receipt AS receipt, settled_at
                   FROM discrepancies ORDER BY id`),
      later.map((id) => ({ id, kind: 'receipt_reused', receipt: '4711', settled_at: null })),
    );
    assert.deepEqual(
      await query('SELECT subject_id AS id, action, outcome FROM audit_entries ORDER BY id'),
      later.map((id) => ({ id, action: `${nounOf(id)}.discrepancy_found`, outcome: 'done' })),
    );
    const [reconciling, another] = [collectionId(3), collectionId(8)];
    const succeeds = (fields: string) =>
      query(`SET session_replication_role = replica;
             UPDATE collections SET state = 'succeeded', version = 3, ${fields} WHERE id = '${reconciling}'`);
    await assert.rejects(succeeds(`operator_receipt = '4711'`), /collections_one_per_receipt/);
    await assert.rejects(query(`UPDATE collections SET receipt_shared = true WHERE id = '${another}'`), /never change/);
  });

  it('continues the audit logs that are there already, and signs what was not signed', async () => {
    await migrateBefore('0062-audit-logs-of-merchants.sql');
    await query(AUDIT_LOG_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    const chains = 'SELECT chain, position, unsigned_since IS NOT NULL AS is_unsigned FROM audit_chains ORDER BY chain';
    assert.deepEqual(await query(chains), [
      { chain: MERCHANT_OF_BEFORE, position: '1', is_unsigned: true },
      { chain: 'service', position: '0', is_unsigned: false },
    ]);
    await query(
      `INSERT INTO audit_links SELECT '${MERCHANT_OF_BEFORE}', 2, entry_id, sha256('') FROM audit_entries_to_link`,
    );
    assert.deepEqual(await query('SELECT * FROM audit_entries_to_link'), []);
    assert.equal((await query(chains))[0]!['position'], '2');
  });

  it('keeps when each API key was last used', async () => {
    await migrateBefore('0096-uses-of-api-keys.sql');
    await query(KEYS_OF_BEFORE);
    await migrate(url, MIGRATIONS);
    assert.deepEqual(await query('SELECT * FROM api_key_uses ORDER BY api_key_id'), [
      { api_key_id: keyId(1), last_used_at: new Date('2026-01-02T03:04:05Z') },
      { api_key_id: keyId(2), last_used_at: null },
    ]);
  });

  it('brings a database with a file of before its mend to the same schema as any other', async () => {
    const schema = async () => await Promise.all(SCHEMA.map(query));
    await migrate(url, MIGRATIONS);
    const expected = await schema();
    await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await migrateBefore('0012-operator-receipts.sql');
    await writeFile(join(folder, '0012-operator-receipts.sql'), RECEIPTS_BEFORE_ITS_MEND);
    assert.deepEqual(await migrate(url, folder), ['0012-operator-receipts.sql']);
    const left = (await names()).filter((file) => file > '0012-operator-receipts.sql');
    assert.deepEqual(await migrate(url, MIGRATIONS), left);
    assert.deepEqual(await schema(), expected);
    assert.deepEqual(await migrate(url, MIGRATIONS), []);
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

const RECEIPTS_BEFORE_ITS_MEND = `-- An operator's receipt pays one payment.
--
-- Rules that the database itself enforces here:
-- - No two collections of an operator have one receipt, and no two payouts. Collections and payouts are not compared with
--   each other: money that comes in is never taken for money that goes out, and an operator's products may number their
--   transactions separately.

CREATE UNIQUE INDEX collections_one_per_receipt ON collections (operator, operator_receipt)
  WHERE operator_receipt IS NOT NULL;
CREATE UNIQUE INDEX payouts_one_per_receipt ON payouts (operator, operator_receipt) WHERE operator_receipt IS NOT NULL;

-- What becomes of the second payment: a person settles it.
ALTER TABLE discrepancies DROP CONSTRAINT discrepancies_kind_check;
ALTER TABLE discrepancies ADD CONSTRAINT discrepancies_kind_check
  CHECK (kind IN ('paid_after_failed', 'declined_after_paid', 'refunded_twice', 'receipt_reused'));
`;

const SCHEMA = [
  `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
   WHERE table_schema = 'public' ORDER BY 1, 2`,
  `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
  `SELECT conrelid::regclass::text AS of, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
   WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
  `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
  `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
];

// No collection stands behind it, so the check of that is left out; the posting and the check at commit are not.
const ONE_MORE_TRANSFER = `
  BEGIN;
  ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_check,
    DROP CONSTRAINT ledger_transfers_collection_id_fkey;
  ALTER TABLE ledger_transfers DROP CONSTRAINT ledger_transfers_attested, DROP CONSTRAINT ledger_transfers_status;
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
