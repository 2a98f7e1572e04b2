// PostgreSQL terminates a connection in the very moment in which it is handed over: the work fails, the process goes on.
import assert from 'node:assert/strict';
import { toDomainError } from '../../src/api/errors.ts';
import { statement, type Database } from '../../src/db/platform/database.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import { createTestDatabase, type TestDatabase, openAt } from '../support/engines.ts';
import { openMergingLine, type MergingLine } from '../support/merging-line.ts';
import { eventually } from '../support/test-environment.ts';

const PING = statement('test_ping')`SELECT 1`;

describe('a connection that is terminated in the moment in which it is handed over', () => {
  let database: TestDatabase;
  let line: MergingLine;
  let db: Database;
  beforeEach(async () => {
    database = await createTestDatabase();
    line = await openMergingLine(database.url);
    db = openAt(line.url, { poolSize: 1 });
  });
  afterEach(async () => {
    await db.close();
    await line.close();
    await database.drop();
  });

  /** What the server said last, and that it ends the connection, arrive together. */
  async function terminateAll(): Promise<void> {
    await eventually('the server to be ready for a query', () => line.isWithholding());
    const { rowCount } = await database.db.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    assert.equal(rowCount, 1);
    await line.whenForwarded();
  }

  const assertFails = (work: Promise<unknown>) =>
    assert.rejects(work, (error: Error) => toDomainError(error).code === 'service_unavailable');

  it('fails the transaction that waited for the connection, and the next one gets another connection', async () => {
    line.withhold();
    const failed = assertFails(db.withTransaction((tx) => tx.run(PING, [])));
    await terminateAll();
    await failed;
    assert.equal(await db.withTransaction(async (tx) => (await tx.run(PING, [])).length), 1);
  });

  it('is not given to a transaction that waited behind another statement, which gets another one', async () => {
    await db.run(PING, []);
    line.withhold();
    const before = db.run(PING, []);
    const behind = db.withTransaction((tx) => tx.run(PING, []));
    await terminateAll();
    assert.equal((await before).length, 1);
    assert.equal((await behind).length, 1);
    assert.equal((await db.run(PING, [])).length, 1);
  });

  it('fails a statement outside of a transaction', async () => {
    line.withhold();
    const failed = assertFails(db.run(PING, []));
    await terminateAll();
    await failed;
    assert.equal((await db.run(PING, [])).length, 1);
  });

  it('fails a migration', async () => {
    line.withhold();
    const ownerUrl = new URL(database.ownerUrl);
    ownerUrl.host = new URL(line.url).host;
    const failed = assert.rejects(migrate(ownerUrl.href));
    await terminateAll();
    await failed;
    assert.deepEqual(await migrate(ownerUrl.href), []);
  });
});
