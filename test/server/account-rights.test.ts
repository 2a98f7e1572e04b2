// A live server is served by an account with the application's rights alone, tried with real accounts that have one more each.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../src/settings/config.ts';
import { APPLICATION } from '../../src/db/platform/access.ts';
import { type Database } from '../../src/db/platform/database.ts';
import { OWNER } from '../../src/engines/postgres/server.ts';
import { createLog } from '../../src/log.ts';
import { checkAccount } from '../../src/server/check-database.ts';
import { createTestDatabase, postgres, testLog, type TestDatabase, openAt } from '../support/engines.ts';
import { tamper } from '../db/rows.ts';
import { queryAt } from '../support/one-client.ts';

/** How an account gets more, how that ends if it does not end with the account, and what the refusal names. */
type Case = { readonly give: string; readonly take?: string; readonly named: string };
const grant = (what: string, to = '$account'): Case => ({
  give: `GRANT ${what} TO ${to}`,
  take: `REVOKE ${what} FROM ${to}`,
  named: what,
});

const TOO_MUCH: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    ['SUPERUSER', 'CREATEROLE', 'CREATEDB', 'REPLICATION', 'BYPASSRLS'].map((attribute) => [
      attribute,
      { give: `ALTER ROLE $account ${attribute}`, named: attribute },
    ]),
  ),
  'membership in a predefined role': {
    give: 'GRANT pg_execute_server_program TO $account',
    named: 'membership in pg_execute_server_program',
  },
  'membership that its rights do not include until it asks for it': {
    give: 'GRANT pg_write_all_data TO $account WITH INHERIT FALSE',
    named: 'membership in pg_write_all_data',
  },
  'membership in the owner': { give: `GRANT ${OWNER} TO $account`, named: `membership in ${OWNER}` },
  'the right to share its own rights': {
    give: `GRANT ${APPLICATION} TO $account WITH ADMIN OPTION`,
    named: `the right to make others members of ${APPLICATION}`,
  },
  'the right to switch all triggers off': {
    give: 'GRANT SET ON PARAMETER session_replication_role TO $account',
    take: 'REVOKE SET ON PARAMETER session_replication_role FROM $account',
    named: 'SET on parameter session_replication_role',
  },
  'a table of its own': {
    give: 'ALTER TABLE replays OWNER TO $account',
    take: `ALTER TABLE replays OWNER TO ${OWNER}`,
    named: 'ownership of table replays',
  },
  'triggers on a table': grant('TRIGGER ON table payments'),
  'the emptying of a table': grant('TRUNCATE ON table audit_entries'),
  'references to a table': grant('REFERENCES ON table payments'),
  'the maintenance of a table': grant('MAINTAIN ON table payments'),
  'the removal of rows that stay': grant('DELETE ON table payments'),
  'the change of a column that no statement changes': grant('UPDATE (balance_minor) ON table ledger_accounts'),
  'rows of a view': { ...grant('DELETE ON table ledger_entries'), named: 'DELETE on relation ledger_entries' },
  'a right for everybody': grant('DELETE ON table payments', 'PUBLIC'),
  'objects in the schema': grant('CREATE ON schema public'),
  'schemas in the database': grant('CREATE ON database $database'),
  'temporary tables': grant('TEMPORARY ON database $database'),
  'temporary tables for everybody': grant('TEMPORARY ON database $database', 'PUBLIC'),
  'files of the server': {
    give: 'GRANT EXECUTE ON FUNCTION pg_read_file(text) TO $account',
    take: 'REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM $account',
    named: 'EXECUTE on function pg_read_file(text)',
  },
  'a right that it may pass on': {
    give: 'GRANT INSERT ON payments TO $account WITH GRANT OPTION',
    take: 'REVOKE INSERT ON payments FROM $account',
    named: 'INSERT on table payments, to be passed on',
  },
  'a setting of its own': {
    give: "ALTER ROLE $account SET default_transaction_isolation = 'repeatable read'",
    named: 'a setting of its own, default_transaction_isolation',
  },
  'a setting of its own in this database': {
    give: 'ALTER ROLE $account IN DATABASE $database SET synchronous_commit = off',
    named: 'a setting of its own, synchronous_commit',
  },
};

describe('an account of the database', () => {
  const account = `other_${randomBytes(6).toString('hex')}`;
  const opened: Database[] = [];
  let database: TestDatabase;
  let url: string;
  let name: string;

  before(async () => {
    database = await createTestDatabase();
    await tamper(database.db, "UPDATE deployment SET environment = 'live'");
    name = new URL(database.url).pathname.slice(1);
    url = (await postgres()).urlFor(name).replace(/\/\/[^@]+@/, `//${account}:its-password@`);
  });
  beforeEach(async () => {
    await query(
      `CREATE ROLE $account LOGIN PASSWORD 'its-password' IN ROLE ${APPLICATION}`,
      'GRANT CONNECT ON DATABASE $database TO $account',
    );
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
    await query('DROP OWNED BY $account', 'DROP ROLE $account');
  });
  after(() => database.drop());

  const query = async (...statements: readonly string[]) =>
    queryAt((await postgres()).urlFor(name), ...statements.map(inThisRun));
  const inThisRun = (text: string): string => text.replaceAll('$account', account).replaceAll('$database', name);
  function open(): Database {
    const db = openAt(url, { poolSize: 1 });
    opened.push(db);
    return db;
  }
  const check = (db = open()) => checkAccount(db, 'live', testLog);
  /** The refusal as people read it: one line. */
  const refusal = async (db?: Database): Promise<string> => {
    try {
      await check(db);
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(
        error.message,
        /^MALIPO_DATABASE_URL: the account has more rights than the application needs: [^\n]+$/,
      );
      return error.message;
    }
    return assert.fail('it was not refused');
  };

  it('with the rights of the application serves a live server', async () => {
    await check();
  });

  for (const [what, { give, take, named }] of Object.entries(TOO_MUCH)) {
    it(`with ${what} besides is refused by a live server`, async () => {
      await query(give);
      try {
        const expected = inThisRun(named).replace(' ON ', ' on ');
        const message = await refusal();
        assert.ok(message.includes(expected), message);
      } finally {
        if (take !== undefined) await query(take);
      }
    });
  }

  for (const [setting, sql] of [
    ['default_transaction_isolation', "SET default_transaction_isolation = 'serializable'"],
    ['role', `SET ROLE ${APPLICATION}`],
  ] as const) {
    it(`whose connection lost our setting of ${setting} on the way serves no live server`, async () => {
      const db = open();
      // Its one connection.
      await db.pool.query(sql);
      assert.match(await refusal(db), new RegExp(`a connection without our setting of ${setting}`));
    });
  }

  it('is named in the log of a test server, which starts', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', process: 'test', destination: { write: (line) => void lines.push(line) } });
    await query('ALTER ROLE $account CREATEDB');
    await tamper(database.db, "UPDATE deployment SET environment = 'test'");
    try {
      await checkAccount(open(), 'test', log);
    } finally {
      await tamper(database.db, "UPDATE deployment SET environment = 'live'");
    }
    assert.equal(lines.length, 1);
    const { level, excess } = JSON.parse(lines[0] ?? '') as Readonly<Record<string, unknown>>;
    assert.deepEqual([level, excess], ['warn', ['CREATEDB']]);
  });
});
