// Settings that somebody with the application's account gives that account: no connection of ours is opened with them.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { APPLICATION } from '../../src/db/platform/access.ts';
import { openDatabase, statement, type Database } from '../../src/db/platform/database.ts';
import { listen } from '../../src/db/platform/listener.ts';
import { testAttestor } from '../support/attestation.ts';
import { createTestDatabase, testLog, type TestDatabase } from '../support/engines.ts';
import { eventually } from '../support/test-environment.ts';
import { codeOr, makeShop, queue, release, setPolicy } from './payments/payout-rows.ts';
import { requestReversal } from './payments/refund-rows.ts';
import { makeCollection } from './rows.ts';
import { queryAt } from '../support/one-client.ts';

/** Each changes what our statements mean, how long they run, or how the driver reads what they return. */
const HOSTILE: Readonly<Record<string, string>> = {
  default_transaction_isolation: "'repeatable read'",
  default_transaction_read_only: 'on',
  synchronous_commit: 'local',
  search_path: 'pg_catalog',
  lock_timeout: '1',
  statement_timeout: '60001',
  idle_in_transaction_session_timeout: '60002',
  idle_session_timeout: '60003',
  datestyle: "'SQL, DMY'",
  intervalstyle: 'iso_8601',
  timezone: "'Africa/Kampala'",
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
};
/** Each transaction sees the rows as they were at its first statement: a lock that it waits for shows it nothing new. */
const STALE = { default_transaction_isolation: "'repeatable read'" };
const SETTINGS = statement('test_settings')`
  SELECT lower(name) AS name, setting FROM pg_settings WHERE lower(name) = ANY ($1) ORDER BY 1`;
const MODE = statement('test_mode')`
  SELECT current_setting('transaction_isolation') AS isolation, current_setting('transaction_read_only') AS read_only`;
const LIMITS = { statementTimeoutMs: 10_000, connectTimeoutMs: 10_000, onIdleError: () => undefined };

type Settings = Readonly<Record<string, string>>;

describe('an account with its own settings', () => {
  let database: TestDatabase;
  const opened: Database[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
    await database.drop();
  });

  function open(url = database.url, poolSize = 1): Database {
    const db = openDatabase({ ...LIMITS, url, poolSize, attestor: testAttestor });
    opened.push(db);
    return db;
  }
  async function settingsOf(db: Database): Promise<Settings> {
    const rows = await db.run<{ name: string; setting: string }>(SETTINGS, [Object.keys(HOSTILE)]);
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  }
  /** As a thief of its address: changing its own settings needs no right, and PostgreSQL has none to revoke. */
  async function setOwn(settings: Settings): Promise<void> {
    const role = `ALTER ROLE ${APPLICATION} IN DATABASE ${new URL(database.url).pathname.slice(1)}`;
    const sets = Object.entries(settings).map(([setting, value]) => `${role} SET ${setting} = ${value}`);
    await queryAt(database.url, ...sets);
  }

  it('has every connection opened as one without them', async () => {
    const before = await settingsOf(open());
    await setOwn(HOSTILE);
    const plain = await queryAt(database.url, "SELECT current_setting('lock_timeout') AS limit");
    assert.deepEqual(plain, [{ limit: '1ms' }]);
    assert.deepEqual(await settingsOf(open()), before);
  });

  it('has its timeouts from the service', async () => {
    await setOwn(HOSTILE);
    const { statement_timeout, idle_in_transaction_session_timeout } = await settingsOf(open());
    assert.deepEqual([statement_timeout, idle_in_transaction_session_timeout], ['10000', '10000']);
  });

  it('has its transactions read committed and read write, even on a connection that says otherwise', async () => {
    const db = open();
    await db.pool.query('SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const modes = [
      await db.withTransaction((tx) => tx.run(MODE, [])),
      await db.withLongReads({ statementTimeoutMs: 1000 }, (reading) => reading.run(MODE, [])),
    ];
    assert.deepEqual(modes, [
      [{ isolation: 'read committed', readOnly: 'off' }],
      [{ isolation: 'read committed', readOnly: 'on' }],
    ]);
  });

  it('keeps the options of an address, except settings that the service relies on', async () => {
    const options = '-c work_mem=4321kB -c default_transaction_isolation=repeatable\\ read';
    const db = open(`${database.url}?application_name=named&options=${encodeURIComponent(options)}`);
    const { rows } = await db.pool.query(
      `SELECT current_setting('work_mem') AS work_mem, current_setting('application_name') AS name,
              current_setting('default_transaction_isolation') AS isolation`,
    );
    assert.deepEqual(rows, [{ work_mem: '4321kB', name: 'named', isolation: 'read committed' }]);
  });

  it('hears every notification: its connection is not ended while it waits', async () => {
    await setOwn({ idle_session_timeout: '50' });
    let calls = 0;
    const listener = listen({ url: database.url, channel: 'test', onNotified: () => calls++, log: testLog });
    try {
      await eventually('the connection', () => calls > 0);
      await sleep(1500);
      assert.equal(calls, 1, 'it connected once');
    } finally {
      await listener.close();
    }
  });

  it('releases no more than the daily limit of an approver who releases everything at once', async () => {
    const shop = await makeShop(database.db, 100_000n);
    await setPolicy(database.db, shop.merchantId, { approverDailyLimitMinor: 10_000n });
    const payouts = [];
    for (let i = 0; i < 8; i++) payouts.push(await queue(database.db, shop, 6000n));
    await setOwn(STALE);
    const db = open(database.url, 8);
    const answers = await Promise.all(payouts.map(({ id }) => codeOr(release(db, shop.approver, id).then(() => 'ok'))));
    assert.deepEqual(answers.sort(), ['ok', ...Array<string>(7).fill('permission_denied')]);
  });

  it('reserves no more for refunds than the balance, however many are requested at once', async () => {
    const shop = await makeShop(database.db, 0n);
    const collections = [];
    for (let i = 0; i < 6; i++) collections.push(await makeCollection(database.db, shop.merchantId, 'succeeded'));
    await queue(database.db, shop, 22_000n);
    await setOwn(STALE);
    const db = open(database.url, 6);
    const answers = await Promise.all(collections.map(({ id }) => requestReversal(db, shop.maker, id)));
    assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['accepted', ...Array<string>(5).fill('refused')]);
  });
});
