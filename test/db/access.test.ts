// The rights of each database account, tried as that account on a database that its owner migrated.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Client, DatabaseError } from 'pg';
import { APPLICATION, APPLICATION_RIGHTS, REPORT_TABLES, REPORTS } from '../../src/db/platform/access.ts';
import { createAccounts } from '../../src/db/platform/create-accounts.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import { OWNER, TEMPORAL, type AccountName } from '../../src/engines/postgres/server.ts';
import { availableAccount } from '../../src/domain/payments/ledger.ts';
import { postgres } from '../support/engines.ts';
import { useFixture } from '../support/use-fixture.ts';
import { valuesOf } from '../support/values-of.ts';
import { makeMerchant, makeCollection, allRows } from './rows.ts';
import { useDatabase } from './use-database.ts';
import { queryAt } from '../support/one-client.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

type Connected = { readonly client: Client };

/** The code of the refusal; undefined when the database carries the statement out. It is undone in any case. */
async function refusalOf({ client }: Connected, sql: string): Promise<string | undefined> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof DatabaseError, String(error));
    return error.code;
  } finally {
    await client.query('ROLLBACK');
  }
}

const RIGHTS = `
  SELECT c.relname::text AS table, acl.privilege_type AS right
  FROM pg_class c, aclexplode(c.relacl) acl
  WHERE c.relnamespace = 'public'::regnamespace AND acl.grantee = $1::regrole
  UNION ALL
  SELECT c.relname::text, acl.privilege_type || ' (' || a.attname || ')'
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) acl
  WHERE c.relnamespace = 'public'::regnamespace AND acl.grantee = $1::regrole`;

describe('an account of the database', () => {
  const db = useDatabase();

  const connectAs = (account: AccountName) => async (): Promise<Connected> => {
    const name = new URL(db.url).pathname.slice(1);
    const client = new Client({ connectionString: (await postgres()).urlFor(name, account) });
    await client.connect();
    return { client };
  };
  const connectedAs = (account: AccountName) => useFixture(connectAs(account), ({ client }) => client.end());

  const tables = async (): Promise<string[]> =>
    valuesOf(
      await allRows<{ name: string }>(
        db,
        `SELECT relname::text AS name FROM pg_class
           WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1`,
      ),
      'name',
    );

  describe('of the application', () => {
    const connected = connectedAs(APPLICATION);

    it('has its rights written down for every table', async () => {
      assert.deepEqual(Object.keys(APPLICATION_RIGHTS).sort(), await tables());
    });

    it('has exactly those rights on every table', async () => {
      const { rows } = await db.pool.query<{ table: string; right: string }>(RIGHTS, [APPLICATION]);
      for (const table of await tables()) {
        const granted = valuesOf(
          rows.filter((row) => row.table === table),
          'right',
        );
        assert.deepEqual(granted.sort(), ['SELECT', ...(APPLICATION_RIGHTS[table] ?? [])].sort(), table);
      }
    });

    it('has no right that a trigger of the table refuses to everybody', async () => {
      const { rows } = await db.pool.query<{ table: string; events: string[] }>(
        `SELECT event_object_table AS table, array_agg(event_manipulation::text) AS events
         FROM information_schema.triggers WHERE action_statement LIKE '%refuse_change%' GROUP BY 1`,
      );
      assert.notEqual(rows.length, 0);
      for (const { table, events } of rows) {
        const rights: readonly string[] = APPLICATION_RIGHTS[table] ?? [];
        assert.deepEqual(
          events.filter((event) => rights.includes(event)),
          [],
          table,
        );
      }
    });

    const REFUSED: Readonly<Record<string, string>> = {
      'to create a table': 'CREATE TABLE mine (id int)',
      'to create a table for its session': 'CREATE TEMPORARY TABLE payments (id text)',
      'to create a schema': 'CREATE SCHEMA mine',
      'to create a function':
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
      'to change a table': 'ALTER TABLE payments DROP CONSTRAINT payments_pkey CASCADE',
      'to switch a trigger off': 'ALTER TABLE payments DISABLE TRIGGER payments_check_change',
      'to switch all triggers off': 'ALTER TABLE payments DISABLE TRIGGER ALL',
      'to drop a trigger': 'DROP TRIGGER payments_check_change ON payments',
      'to hang a trigger on a table': 'CREATE TRIGGER mine BEFORE INSERT ON payments EXECUTE FUNCTION refuse_change()',
      'to drop a table': 'DROP TABLE audit_entries',
      'to empty a table': 'TRUNCATE audit_entries',
      'to act as a replica, for which no trigger fires': 'SET session_replication_role = replica',
      'to act as the owner': `SET ROLE ${OWNER}`,
      'to act as a superuser': 'SET ROLE postgres',
      'to give itself more attributes': `ALTER ROLE ${APPLICATION} SUPERUSER`,
      'to change an audit entry': "UPDATE audit_entries SET action = 'x'",
      'to remove an audit entry': 'DELETE FROM audit_entries',
      'to say where an audit log begins': "INSERT INTO audit_chains (chain, position, hash) VALUES ('service', 1, '')",
      'to say where an audit log ends': 'UPDATE audit_chains SET position = 0',
      'to have an audit entry wait for no link': 'DELETE FROM audit_entries_to_link',
      'to have an audit entry linked again': 'INSERT INTO audit_entries_to_link SELECT max(id) FROM audit_entries',
      'to change a transfer': 'UPDATE ledger_transfers SET amount_minor = 1',
      'to change a balance': 'UPDATE ledger_accounts SET balance_minor = 1, entry_count = entry_count + 1',
      'to add a transition': "INSERT INTO payment_transitions VALUES ('payout', 'failed', 'released')",
      'to add a currency': "INSERT INTO currencies VALUES ('XXX', 0)",
      'to take back an approval': 'DELETE FROM approvals',
      'to remove a payment': "DELETE FROM payments WHERE kind = 'collection'",
      'to call what runs as the owner': 'SELECT post_transfer()',
      'to say which migrations were applied': "DELETE FROM schema_migrations WHERE name LIKE '010%'",
      'to run a program on the server': "COPY merchants TO PROGRAM 'true'",
      'to hold a lock beyond its transaction': 'SELECT pg_advisory_lock(1)',
      'to keep large objects': 'SELECT lo_create(0)',
    };
    for (const [what, sql] of Object.entries(REFUSED)) {
      it(`is refused ${what}`, async () => {
        assert.equal(await refusalOf(connected, sql), INSUFFICIENT_PRIVILEGE, sql);
      });
    }

    it('posts a transfer, and can change no balance otherwise', async () => {
      const merchantId = await makeMerchant(db);
      await makeCollection(db, merchantId, 'succeeded');
      const account = availableAccount(merchantId);
      const { rows } = await connected.client.query('SELECT balance_minor FROM ledger_accounts WHERE id = $1', [
        account,
      ]);
      assert.deepEqual(rows, [{ balance_minor: '5000' }]);
      const sql = `UPDATE ledger_accounts SET balance_minor = 6000 WHERE id = '${account}'`;
      assert.equal(await refusalOf(connected, sql), INSUFFICIENT_PRIVILEGE);
    });

    it('gives itself no right: PostgreSQL warns, and grants nothing', async () => {
      await connected.client.query(`GRANT DELETE ON audit_entries TO ${APPLICATION}`);
      assert.equal(await refusalOf(connected, 'DELETE FROM audit_entries'), INSUFFICIENT_PRIVILEGE);
    });

    it('chooses no table for a function that runs as the owner: each has a fixed search path', async () => {
      const { rows } = await db.pool.query<{ name: string }>(
        `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef
           AND NOT coalesce(proconfig, '{}') && '{"search_path=public, pg_temp"}'`,
      );
      assert.deepEqual(rows, []);
    });
  });

  describe('of the reports', () => {
    const connected = connectedAs(REPORTS);

    it('reads exactly the listed tables and columns', async () => {
      for (const table of await tables()) {
        const readable = (await refusalOf(connected, `SELECT 1 FROM ${table}`)) === undefined;
        assert.equal(readable, table in REPORT_TABLES, table);
      }
    });

    it('reads no column that holds a secret, a hash, a digest or an attestation', async () => {
      const { rows } = await db.pool.query<{ column: string }>(
        `SELECT table_name || '.' || column_name AS column FROM information_schema.columns
         WHERE table_schema = 'public' AND has_column_privilege($1, quote_ident(table_name), column_name, 'SELECT')
           AND (data_type = 'bytea' OR column_name ~ 'sealed|secret_|sha256|hash|password|token|totp|attestation')`,
        [REPORTS],
      );
      // The body of an event is what the merchant received.
      assert.deepEqual(
        valuesOf(rows, 'column').filter((column) => !['events.body', 'operator_callbacks.body'].includes(column)),
        [],
      );
    });

    it('reads a column beside the hidden ones', async () => {
      assert.equal(await refusalOf(connected, 'SELECT id, name, email FROM users'), undefined);
      assert.equal(await refusalOf(connected, 'SELECT password_hash FROM users'), INSUFFICIENT_PRIVILEGE);
      assert.equal(await refusalOf(connected, 'SELECT * FROM endpoints'), INSUFFICIENT_PRIVILEGE);
    });

    it('changes nothing, takes no lock that others wait for, and keeps no large objects', async () => {
      for (const sql of [
        'SELECT pg_advisory_lock(1)',
        'SELECT pg_try_advisory_xact_lock(1)',
        'SELECT pg_advisory_xact_lock_shared(1, 2)',
        'SELECT lo_create(0)',
        "SELECT lo_from_bytea(0, '')",
        "SELECT pg_logical_emit_message(false, '', 'x')",
        "UPDATE merchants SET name = 'x'",
        'DELETE FROM sessions',
        "INSERT INTO merchants (id) VALUES ('x')",
      ])
        assert.equal(await refusalOf(connected, sql), INSUFFICIENT_PRIVILEGE, sql);
    });
  });

  it('of the owner is no superuser, and owns every table', async () => {
    const { rows } = await db.pool.query(
      `SELECT r.rolname, r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls AS may_more
       FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'S') GROUP BY 1, 2`,
    );
    assert.deepEqual(rows, [{ rolname: OWNER, may_more: false }]);
  });
});

describe('creating the accounts of a database', () => {
  const names: string[] = [];
  afterEach(async () => {
    const drops = names.splice(0).map((name) => `DROP DATABASE IF EXISTS ${name}`);
    await queryAt((await postgres()).adminUrl, ...drops);
  });

  const newName = (prefix: string): string => {
    const name = `${prefix}_${randomBytes(6).toString('hex')}`;
    names.push(name);
    return name;
  };

  it('gives objects that a superuser created to the owner, who can migrate them from then on', async () => {
    const server = await postgres();
    const name = newName('before');
    await server.ensureDatabase(name);
    await migrate(server.urlFor(name));
    const { ownerUrl } = await server.ensureAccounts(name);
    const owners = `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace
                    UNION SELECT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace`;
    assert.deepEqual(await queryAt(ownerUrl, owners), [{ owner: OWNER }]);
    assert.deepEqual(await migrate(ownerUrl), []);
    const count = await queryAt(
      server.urlFor(name, APPLICATION),
      "SELECT count(*)::int AS count FROM payments WHERE kind = 'payout'",
    );
    assert.deepEqual(count, [{ count: 0 }]);
  });

  it('has the accounts get their rights with the last schema file, which a server takes for the end of the migration', async () => {
    const { ownerUrl } = await (await postgres()).ensureAccounts(newName('malipo'));
    await migrate(ownerUrl);
    const transactions = await queryAt(
      ownerUrl,
      `SELECT (SELECT xmin FROM pg_class WHERE oid = 'payments'::regclass)::text AS granted,
              (SELECT xmin FROM schema_migrations ORDER BY name DESC LIMIT 1)::text AS recorded`,
    );
    assert.equal(transactions[0]?.['granted'], transactions[0]?.['recorded']);
  });

  it('lets each account into its own databases alone', async () => {
    const server = await postgres();
    const [malipo, temporal] = [newName('malipo'), newName('temporal')];
    names.push(`${temporal}_visibility`);
    const { ownerUrl, applicationUrl, reportUrl } = await server.ensureAccounts(malipo, temporal);
    for (const url of [ownerUrl, applicationUrl, reportUrl, server.urlFor(temporal, TEMPORAL)])
      assert.equal((await queryAt(url, 'SELECT 1')).length, 1);
    for (const account of [OWNER, APPLICATION, REPORTS] as const)
      await assert.rejects(queryAt(server.urlFor(temporal, account), 'SELECT 1'), /permission denied for database/);
    await assert.rejects(queryAt(server.urlFor(malipo, TEMPORAL), 'SELECT 1'), /permission denied for database/);
    for (const account of [OWNER, APPLICATION, REPORTS, TEMPORAL] as const)
      for (const common of ['postgres', 'template1'])
        await assert.rejects(queryAt(server.urlFor(common, account), 'SELECT 1'), /permission denied for database/);
  });

  it('gives the reports few connections, and an end to their statements and idle transactions', async () => {
    const { reportUrl } = await (await postgres()).ensureAccounts(newName('malipo'));
    const connect = () => {
      const client = new Client({ connectionString: reportUrl });
      client.on('error', () => undefined);
      return client.connect().then(() => client);
    };
    const clients = await Promise.all(Array.from({ length: 5 }, connect));
    try {
      for (const [setting, limit] of [
        ['statement_timeout', '1min'],
        ['idle_in_transaction_session_timeout', '1min'],
      ])
        assert.deepEqual((await clients[0]!.query(`SHOW ${setting}`)).rows, [{ [setting!]: limit }]);
      await assert.rejects(connect(), /too many connections for role/);
    } finally {
      for (const client of clients) await client.end();
    }
  });

  it('has no way to keep the accounts from being set up, not even with an earlier connection', async () => {
    const server = await postgres();
    await server.ensureAccounts(newName('malipo'));
    await queryAt(server.adminUrl, 'GRANT CONNECT ON DATABASE postgres TO PUBLIC');
    const common = new Client({ connectionString: server.urlFor('postgres', REPORTS) });
    common.on('error', () => undefined);
    await common.connect();
    await common.query('SELECT pg_advisory_lock(7261544037)');
    await server.ensureAccounts(newName('malipo'));
    await assert.rejects(common.query('SELECT 1'));
    await common.end().catch(() => undefined);
  });

  it('lets several accounts share one role: a second environment on the server has its own passwords', async () => {
    const server = await postgres();
    const [name, other] = [newName('malipo'), newName('second_app')];
    const applicationUrl = server.urlFor(name).replace(/\/\/[^@]+@/, `//${other}:other-password@`);
    const ownerUrl = server.urlFor(name, OWNER);
    await createAccounts({ adminUrl: server.adminUrl, ownerUrl, applicationUrl });
    await migrate(ownerUrl);
    assert.deepEqual(
      await queryAt(applicationUrl, "SELECT count(*)::int AS count FROM payments WHERE kind = 'payout'"),
      [{ count: 0 }],
    );
    await assert.rejects(queryAt(applicationUrl, "DELETE FROM payments WHERE kind = 'payout'"), /permission denied/);
    await assert.rejects(queryAt(server.urlFor(name, APPLICATION), 'SELECT 1'), /permission denied for database/);
    await queryAt(server.adminUrl, `DROP DATABASE ${name}`);
    await queryAt(server.adminUrl, `DROP ROLE ${other}`);
  });

  it('takes away the settings that an account gave itself, for all databases and for one', async () => {
    const server = await postgres();
    const [name, other] = [newName('malipo'), newName('second_app')];
    const applicationUrl = server.urlFor(name).replace(/\/\/[^@]+@/, `//${other}:other-password@`);
    const accounts = { adminUrl: server.adminUrl, ownerUrl: server.urlFor(name, OWNER), applicationUrl };
    await createAccounts(accounts);
    await queryAt(applicationUrl, `ALTER ROLE ${other} SET default_transaction_isolation = 'repeatable read'`);
    await queryAt(applicationUrl, `ALTER ROLE ${other} IN DATABASE ${name} SET lock_timeout = 1`);
    const settings = 'SELECT setconfig FROM pg_db_role_setting WHERE setrole = current_user::regrole';
    assert.equal((await queryAt(applicationUrl, settings)).length, 2);
    await createAccounts(accounts);
    assert.deepEqual(await queryAt(applicationUrl, settings), []);
    await queryAt(server.adminUrl, `DROP DATABASE ${name}`);
    await queryAt(server.adminUrl, `DROP ROLE ${other}`);
  });

  it('refuses an account that is a superuser, two accounts of one name, and an address without a password', async () => {
    const server = await postgres();
    const { adminUrl } = server;
    const ownerUrl = server.urlFor('malipo', OWNER);
    const refused = (given: { ownerUrl: string; applicationUrl: string }, message: RegExp) =>
      assert.rejects(createAccounts({ adminUrl, ...given }), message);
    await refused({ ownerUrl, applicationUrl: server.urlFor('malipo') }, /postgres is a superuser/);
    await refused({ ownerUrl, applicationUrl: ownerUrl }, /a name of its own/);
    await refused({ ownerUrl, applicationUrl: server.urlFor('other', APPLICATION) }, /the same database/);
    await refused({ ownerUrl, applicationUrl: 'postgres://malipo_app@127.0.0.1/malipo' }, /its password/);
  });
});
