// Databases for the cases of a `describe`: each is created and dropped by hooks.
import type { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/engines.ts';

/** One database for all cases of the surrounding `describe`. */
export function useDatabase(): Database {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  return delegateTo(() => database.db);
}

/** A new database for each case of the surrounding `describe`. */
export function useDatabasePerCase(): Database {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());
  return delegateTo(() => database.db);
}

// The hooks open the database after the `describe` has been read, so each call looks it up.
function delegateTo(present: () => Database): Database {
  return {
    run: (statement, values) => present().run(statement, values),
    withTransaction: (work) => present().withTransaction(work),
    withLongReads: (limits, work) => present().withLongReads(limits, work),
    get pool() {
      return present().pool;
    },
    close: () => present().close(),
  };
}
