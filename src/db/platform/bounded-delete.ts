// Deletion of rows whose time is over, a bounded number at a time, so that no statement runs long or holds many locks.
import { readCount, statement, type Queryable } from './database.ts';

export type EndedRows = {
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: string;
  /** When a row of the table is over, at the moment `$1`. */
  readonly isOver: `${string} ${'<' | '<='} $1`;
  /** Where no index has the time: which rows may be over, and the order in which the first `limit` of them are looked at. */
  readonly first?: string;
};

/** A function that deletes at most `limit` ended rows and returns how many. It skips rows that others have locked. */
export function boundedDelete(
  name: string,
  { table, key, isOver, first }: EndedRows,
): (db: Queryable, at: Date, limit: number) => Promise<number> {
  const [column = ''] = isOver.split(' ');
  const rows = first === undefined ? table : `(SELECT * FROM ${table} WHERE ${first} LIMIT $2) AS first`;
  const DELETE = statement(name)`
    WITH deleted AS (
      DELETE FROM ${table} WHERE (${key}) IN (
        SELECT ${key} FROM ${rows} WHERE ${isOver} ORDER BY ${column} LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING 1)
    SELECT count(*)::int AS count FROM deleted`;
  return async (db, at, limit) => {
    return readCount(db, DELETE, [at, limit]);
  };
}
