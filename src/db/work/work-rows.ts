// The parts of statements on payments and deliveries that write their work.
import { PRIORITY, type WorkAfter } from '../../domain/work.ts';

/** The columns of new work. */
export const WORK_COLUMNS = 'id, task, kind, merchant_id, operator, priority, is_started, due_at';

/** Inserts the work of the new payments of `source`: the workflow of each must be started, as of its creation. */
export const insertNewWork = (source: string): string =>
  `INSERT INTO work (${WORK_COLUMNS})
   SELECT id, 'workflow', kind, merchant_id, operator,
     CASE kind WHEN 'collection' THEN ${PRIORITY.unsent} ELSE ${PRIORITY.awaited} END, false, created_at FROM ${source}`;

/** The columns of a new payment that `insertNewWork` reads. */
export const NEW_WORK = 'id, kind, merchant_id, operator, created_at';

/** Parts that write the work of the payment in `moved`, with the values of `workValues` from `$first` on. */
export function workParts(first: number): string {
  const [priority, isStarted, dueAt, isEnded, queryPriority, queryDueAt] = [0, 1, 2, 3, 4, 5].map(
    (n) => `$${first + n}`,
  );
  return `workflow_work AS (
     INSERT INTO work (${WORK_COLUMNS})
     SELECT id, 'workflow', kind, merchant_id, operator, ${priority}::smallint, ${isStarted}::boolean, ${dueAt}::timestamptz
     FROM moved WHERE ${dueAt}::timestamptz IS NOT NULL
     ON CONFLICT (id, task) DO UPDATE SET priority = excluded.priority, is_started = excluded.is_started,
       due_at = excluded.due_at, failures = 0, start_failures = 0),
   query_work AS (
     INSERT INTO work (${WORK_COLUMNS})
     SELECT id, 'status_query', kind, merchant_id, operator, ${queryPriority}::smallint, NULL, ${queryDueAt}::timestamptz
     FROM moved WHERE ${queryDueAt}::timestamptz IS NOT NULL
     ON CONFLICT (id, task) DO UPDATE SET priority = excluded.priority, due_at = excluded.due_at, claimed_until = NULL, queries = 0),
   ended_work AS (
     DELETE FROM work USING moved WHERE work.id = moved.id
       AND CASE task WHEN 'workflow' THEN ${isEnded}::boolean ELSE ${queryDueAt}::timestamptz IS NULL END)`;
}

export function workValues({ workflow, statusQuery }: WorkAfter): unknown[] {
  const kept = typeof workflow === 'string' ? null : workflow;
  const isEnded = workflow === 'ended';
  return [kept?.priority, kept?.isStarted, kept?.dueAt, isEnded, statusQuery?.priority, statusQuery?.dueAt];
}

/** Deletes the work of these deliveries. */
export const endDeliveryWork = (ids: string): string =>
  `DELETE FROM work WHERE task = 'workflow' AND id = ANY(ARRAY(${ids}))`;

/** Makes workflows start at once for the deliveries of `source`. */
export const insertDeliveryWork = (source: string): string =>
  `INSERT INTO work (${WORK_COLUMNS})
   SELECT id, 'workflow', 'delivery', merchant_id, NULL, ${PRIORITY.awaited}, false, now() FROM ${source}`;
