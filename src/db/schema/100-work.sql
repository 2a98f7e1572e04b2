-- Work: what the service must still do for a payment or a delivery, and when.
-- - The statement that writes the payment or delivery writes this row. The row is deleted when nothing is left to do. So the
--   busy tables have no column and no index for work, and work that moves touches no index of theirs.
-- - A process that claims work moves `due_at`; of a status query, `claimed_until`. Each later statement names the `due_at` that
--   its caller saw. Every change since then has moved it, and the statement writes nothing. No index has that condition, so
--   PostgreSQL finds the row by its key, whatever it estimates of the queues.

CREATE TABLE work (
  id text COLLATE "C" NOT NULL,
  task text NOT NULL CHECK (task IN ('workflow', 'status_query')),
  kind text NOT NULL CHECK (kind IN ('collection', 'payout', 'reversal', 'delivery')),
  merchant_id text COLLATE "C" NOT NULL,
  operator text,
  priority smallint NOT NULL CHECK (priority BETWEEN 0 AND 2),
  is_started boolean,
  due_at timestamptz,
  claimed_until timestamptz,
  queried_at timestamptz,
  queries integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  start_failures integer NOT NULL DEFAULT 0,
  PRIMARY KEY (id, task),
  CONSTRAINT work_of_workflow CHECK ((task = 'workflow') = (is_started IS NOT NULL)),
  CONSTRAINT work_due CHECK (num_nonnulls(due_at, claimed_until) > 0)
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE work IS 'What the service must still do for a payment or a delivery. No row: nothing.';
COMMENT ON COLUMN work.id IS 'The id of the payment or delivery.';
COMMENT ON COLUMN work.task IS
  'workflow: a workflow is to be started, told of a change, or checked. status_query: the operator is asked about the payment, '
  'pending or final: the money of a final one may be returned while the callback about that is lost. A payment may have both.';
COMMENT ON COLUMN work.operator IS 'Null for a delivery.';
COMMENT ON COLUMN work.priority IS
  'Of a workflow, 0: the payment must still be sent to the operator. 1: something else is awaited. 2: the payment is final. Of a '
  'status query, 0: it is due at a deadline of the payment. 1: by the schedule. 2: the payment is final.';
COMMENT ON COLUMN work.is_started IS
  'Whether a workflow is known to run and to know of the last change. Null for a status query, which has no workflow.';
COMMENT ON COLUMN work.due_at IS
  'Nobody claims it before this time: the start of its workflow, or the next check of the workflow, or the status query. A claim '
  'moves it ahead by its lease, a failed start by the backoff. Null while a query is claimed, so that a callback that comes in '
  'between has the payment queried once more.';
COMMENT ON COLUMN work.claimed_until IS 'Until this time one process queries the payment, and no other one does by schedule.';
COMMENT ON COLUMN work.queried_at IS
  'When the last query began, by schedule or after a callback. It is written before the operator is asked.';
COMMENT ON COLUMN work.queries IS 'How many queries have begun since the payment came into its state.';
COMMENT ON COLUMN work.failures IS
  'How often in a row the workflow could not be started, or did not progress. The next change that the workflow records sets it '
  'to 0. From QUARANTINE_AFTER (src/domain/work.ts) on the work is quarantined.';
COMMENT ON COLUMN work.start_failures IS 'The part of failures that are failed starts. A start that succeeds ends them.';

-- One merchant after another, each in the order of its own work.
CREATE INDEX work_unstarted ON work (kind, merchant_id, priority, due_at) WHERE NOT is_started;
CREATE INDEX work_check_due ON work (kind, priority, due_at) WHERE is_started;
-- The merchants of an operator take turns, each with its longest due work.
CREATE INDEX work_query_due ON work (operator, priority, merchant_id, (coalesce(claimed_until, due_at))) WHERE is_started IS NULL;
-- Shown to the staff of the service. Normally empty.
CREATE INDEX work_failing ON work (failures) WHERE failures > 0;
