// Rows of the table `work`, as tests read and set them.
import type { Database } from '../../src/db/platform/database.ts';
import { insertNewWork, NEW_WORK } from '../../src/db/work/work-rows.ts';

import { oneRow } from './rows.ts';

export type WorkRow = { readonly dueAt: Date | null; readonly isStarted: boolean | null; readonly failures: number };

/** The work of this payment or delivery; null: there is none. */
export async function findWork(
  db: Database,
  id: string,
  task: 'workflow' | 'status_query' = 'workflow',
): Promise<WorkRow | null> {
  const sql = `SELECT due_at AS "dueAt", is_started AS "isStarted", failures FROM work WHERE id = $1 AND task = $2`;
  const { rows } = await db.pool.query<WorkRow>(sql, [id, task]);
  return rows[0] ?? null;
}

/** When it is due; it fails when there is no such work. */
export async function dueOf(db: Database, id: string, task: 'workflow' | 'status_query' = 'workflow'): Promise<Date> {
  const sql = 'SELECT due_at AS due FROM work WHERE id = $1 AND task = $2';
  return (await oneRow<{ due: Date }>(db, sql, [id, task])).due;
}

/** Sets columns of the work that fulfils the condition. */
export function setWork(db: Database, set: string, where = 'true', values: readonly unknown[] = []): Promise<unknown> {
  return db.pool.query(`UPDATE work SET ${set} WHERE task = 'workflow' AND ${where}`, [...values]);
}

/** Makes the recheck of a final payment due, whether it would ever be or not. */
export function makeRecheckDue(db: Database, id: string): Promise<unknown> {
  return db.pool.query(
    `INSERT INTO work (id, task, kind, merchant_id, operator, priority, due_at)
     SELECT id, 'status_query', kind, merchant_id, operator, 2, now() FROM payments WHERE id = $1
     ON CONFLICT (id, task) DO UPDATE SET due_at = now()`,
    [id],
  );
}

/** Has a workflow started for a final payment, as if a recheck had found news. */
export function addWorkflowOfFinal(db: Database, id: string): Promise<unknown> {
  return db.pool.query(
    `INSERT INTO work (id, task, kind, merchant_id, operator, priority, is_started, due_at)
     SELECT id, 'workflow', kind, merchant_id, operator, 2, false, now() FROM payments WHERE id = $1`,
    [id],
  );
}

/** The statement that inserts payments, with their work. */
export const withWork = (insert: string): string =>
  `WITH made AS (${insert} RETURNING ${NEW_WORK}) ${insertNewWork('made')}`;
