// As of when each task of housekeeping is done: its process writes it, and the metrics read it.
import type { Housekeeping, HousekeepingTask } from '../../domain/housekeeping.ts';
import { findOne, statement, type Queryable } from './database.ts';

// At most the database's own time: a process whose clock is ahead would otherwise hide later failures for that long.
const MARK_DONE = statement('housekeeping_mark_done')`
  INSERT INTO housekeeping (task, done_as_of, faults) VALUES ($1, least($2::timestamptz, now()), $3)
  ON CONFLICT (task) DO UPDATE SET done_as_of = excluded.done_as_of, faults = excluded.faults
  WHERE housekeeping.done_as_of <= excluded.done_as_of`;

/** Records that the task is done as of that time, unless a later time is recorded. */
export async function markDone(db: Queryable, { task, doneAsOf, faults }: Housekeeping): Promise<void> {
  await db.run(MARK_DONE, [task, doneAsOf, faults]);
}

const FIND = statement('housekeeping_find')`SELECT done_as_of FROM housekeeping WHERE task = $1`;

/** As of when the task is done; null if it never was. */
export async function findDoneAsOf(db: Queryable, task: HousekeepingTask): Promise<Date | null> {
  return (await findOne<{ doneAsOf: Date }>(db, FIND, [task]))?.doneAsOf ?? null;
}

const LIST = statement('housekeeping_list')`SELECT task, done_as_of, faults FROM housekeeping ORDER BY task`;

export async function listHousekeeping(db: Queryable): Promise<Housekeeping[]> {
  return db.run<Housekeeping>(LIST, []);
}
