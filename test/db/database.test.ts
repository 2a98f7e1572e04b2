// Rows as `run` returns them; transactions, which commit as a whole or not at all and run again after a deadlock; lost connections.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { toDomainError } from '../../src/api/errors.ts';
import { APPLICATION } from '../../src/db/platform/access.ts';
import { openDatabase, statement, type Database, type Tx } from '../../src/db/platform/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/engines.ts';
import { openTcpLine, type TcpLine } from '../support/tcp-line.ts';
import { eventually } from '../support/test-environment.ts';
import { useDatabase } from './use-database.ts';

const ADD = statement('test_add')`UPDATE counters SET value = value + 1 WHERE id = $1`;
const FAIL = statement('test_fail')`SELECT fail_with($1)`;
const LOCK_AND_FAIL = statement('test_lock_and_fail')`SELECT pg_advisory_xact_lock(1), fail_with('23514')`;
const READ = statement('test_read')`SELECT sum(value)::int AS sum FROM counters`;

describe('a row', () => {
  const db = useDatabase();
  const ROW = statement('test_row')`
    SELECT 9007199254740993::bigint AS amount_minor, 1 AS number, NULL AS failure_code, '{"ab"}'::text[] AS event_types,
           '{"first_name": {"last_name": 1}}'::jsonb AS before_change`;
  const reads: readonly [string, () => Promise<object[]>][] = [
    ['the pool', () => db.run(ROW, [])],
    ['a transaction', () => db.withTransaction((tx) => tx.run(ROW, []))],
    ['long reads', () => db.withLongReads({ statementTimeoutMs: 1000 }, (reading) => reading.run(ROW, []))],
  ];

  for (const [name, read] of reads) {
    it(`has camel-case keys, BigInts and JSON as it is stored when ${name} returns it`, async () => {
      assert.deepEqual(await read(), [
        {
          amountMinor: 9007199254740993n,
          number: 1,
          failureCode: null,
          eventTypes: ['ab'],
          beforeChange: { first_name: { last_name: 1 } },
        },
      ]);
    });
  }
});

describe('a transaction', () => {
  const db = useDatabase();

  before(async () => {
    await db.pool.query(`
      CREATE TABLE counters (id int PRIMARY KEY, value int NOT NULL);
      GRANT ALL ON counters TO ${APPLICATION};
      CREATE FUNCTION fail_with(code text) RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = code; END $$;`);
  });
  beforeEach(async () => {
    await db.pool.query('TRUNCATE counters');
    await db.pool.query('INSERT INTO counters VALUES (1, 0), (2, 0)');
  });

  const sum = async () => (await db.run<{ sum: number }>(READ, []))[0]?.sum;

  it('commits when its work returns, and returns the same value', async () => {
    const result = await db.withTransaction(async (tx) => {
      await tx.run(ADD, [1]);
      return 'done';
    });
    assert.equal(result, 'done');
    assert.equal(await sum(), 1);
  });

  it('rolls back when its work throws', async () => {
    const work = async (tx: Tx) => {
      await tx.run(ADD, [1]);
      throw new Error('no');
    };
    await assert.rejects(db.withTransaction(work), /no/);
    assert.equal(await sum(), 0);
    assert.equal(db.pool.idleCount, db.pool.totalCount);
  });

  it('runs again from the start when a deadlock ended it', async () => {
    let tries = 0;
    let holders = 0;
    const meeting = new EventEmitter();
    const bothHold = once(meeting, 'both');
    const both = (first: number, second: number) => async (tx: Tx) => {
      tries += 1;
      await tx.run(ADD, [first]);
      holders += 1;
      if (holders === 2) meeting.emit('both');
      await bothHold;
      await tx.run(ADD, [second]);
    };
    await Promise.all([db.withTransaction(both(1, 2)), db.withTransaction(both(2, 1))]);
    assert.equal(await sum(), 4);
    assert.ok(tries > 2, `${tries} tries`);
  });

  for (const code of ['40P01', '40001']) {
    it(`is tried four times in all when the database reports ${code} each time`, async () => {
      let tries = 0;
      const work = async (tx: Tx) => {
        tries += 1;
        await tx.run(ADD, [1]);
        await tx.run(FAIL, [code]);
      };
      await assert.rejects(db.withTransaction(work), { code });
      assert.equal(tries, 4);
      assert.equal(await sum(), 0);
    });
  }

  it('is tried four times in all when it is a single statement too', async () => {
    await db.pool.query(`
      CREATE SEQUENCE tries;
      GRANT ALL ON SEQUENCE tries TO ${APPLICATION};
      CREATE FUNCTION count_and_fail(code text) RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('tries'); PERFORM fail_with(code); END $$;`);
    const count = statement('test_count_and_fail')`SELECT count_and_fail($1)`;
    await assert.rejects(db.run(count, ['40P01']), { code: '40P01' });
    const { rows } = await db.pool.query('SELECT last_value::int AS tries FROM tries');
    assert.deepEqual(rows, [{ tries: 4 }]);
  });

  it('has released its locks when a single statement fails', async () => {
    for (let n = 0; n < 300; n++) {
      await assert.rejects(db.run(LOCK_AND_FAIL, []));
      // On another connection, which is open already.
      const { rows } = await db.pool.query('SELECT pg_try_advisory_xact_lock(1) AS is_free');
      assert.deepEqual(rows, [{ is_free: true }], `try ${n}`);
    }
  });

  it('is tried once when the error is not one to retry', async () => {
    let tries = 0;
    const work = async (tx: Tx) => {
      tries += 1;
      await tx.run(FAIL, ['23505']);
    };
    await assert.rejects(db.withTransaction(work), { code: '23505' });
    assert.equal(tries, 1);
  });
});

describe('a lost connection', () => {
  let database: TestDatabase;
  let line: TcpLine;
  let db: Database;
  const idleErrors: Error[] = [];

  // A loaded machine may need seconds for a connection or a statement. Where a test waits for the limit, it is short.
  const SHORT_MS = 500;
  const open = ({ statementTimeoutMs = 20_000, connectTimeoutMs = 20_000 }): Database =>
    openDatabase({
      url: line.url,
      poolSize: 2,
      statementTimeoutMs,
      connectTimeoutMs,
      onIdleError: (error) => idleErrors.push(error),
    });

  async function reopen(limits: Parameters<typeof open>[0]): Promise<void> {
    await db.close();
    db = open(limits);
  }

  beforeEach(async () => {
    database = await createTestDatabase();
    line = await openTcpLine(database.url);
    db = open({});
  });
  afterEach(async () => {
    await line.cut();
    await db.close();
    await database.drop();
  });

  /** The work fails with service_unavailable: the caller may retry, and the log has no internal error. */
  const assertAway = (work: Promise<unknown>, message: RegExp) =>
    assert.rejects(work, (error: Error) => {
      assert.match(error.message, message);
      assert.equal(toDomainError(error).code, 'service_unavailable', error.message);
      return true;
    });
  const ping = () => db.run(statement('test_ping')`SELECT 1`, []);
  /** However slow the machine is, and however short the limits. */
  const untilConnected = () => {
    const isConnected = () =>
      ping().then(
        () => true,
        () => false,
      );
    return eventually('a connection', isConnected, 60_000);
  };

  it('fails the transaction when it breaks between two statements, and neither the process nor the pool', async () => {
    const work = async (tx: Tx) => {
      await tx.run(statement('test_one')`SELECT 1`, []);
      await line.cut();
      await sleep(50);
      await tx.run(statement('test_one')`SELECT 1`, []);
    };
    // By then the end of the connection is known, or not yet.
    await assertAway(db.withTransaction(work), /not queryable|Connection terminated/);
    await line.mend();
    await ping();
    assert.equal(db.pool.totalCount, 1);
  });

  it('is reported and replaced when it breaks while idle', async () => {
    await ping();
    const before = idleErrors.length;
    await line.cut();
    await eventually('the report', () => idleErrors.length > before, 60_000);
    await line.mend();
    await ping();
  });

  it('is given up after the timeout when the server falls silent', async () => {
    await reopen({ statementTimeoutMs: SHORT_MS });
    await untilConnected();
    line.silence();
    const startedMs = Date.now();
    await assertAway(
      db.withTransaction((tx) => tx.run(statement('test_one')`SELECT 1`, [])),
      /read timeout/,
    );
    assert.ok(Date.now() - startedMs < 15_000, `${Date.now() - startedMs} ms`);
    await line.mend();
    await untilConnected();
  });

  it('fails soon when the server accepts it and stays silent', async () => {
    await reopen({ connectTimeoutMs: SHORT_MS });
    line.silence();
    await assertAway(ping(), /timeout/);
  });
});
