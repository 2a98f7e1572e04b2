// Deletes ended rows, a bounded number at a time, so that no statement runs long or holds many locks.
import { readCount, statement, type Queryable } from './database.ts';

export type EndedRows = {
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: string;
  /** The condition of an ended row at the moment `$1`. */
  readonly isOver: `${string} ${'<' | '<='} $1`;
  /** Without an index on the time: the rows that may have ended, in the order in which they are checked. */
  readonly first?: string;
};

/** A function that deletes at most `limit` ended rows and returns how many. It skips locked rows. */
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
