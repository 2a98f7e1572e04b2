-- Queues of work for the dispatchers: collections, payouts, reversals and deliveries whose workflow is to be started.
--
-- - start_due_at: unstarted work is not tried before it. A dispatcher that claims the work moves it ahead by its lease, and
--   a failed start by the backoff.
-- - workflow_failures: how often in a row the workflow could not be started, or did not progress. The next change that the
--   workflow records sets it to 0. From 10 on the work is quarantined (QUARANTINE_AFTER in src/domain/work.ts).
-- No rule is added: a wrong value costs an early or a late start, which repeats nothing.

ALTER TABLE collections
  ADD COLUMN start_due_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN workflow_failures integer NOT NULL DEFAULT 0;
ALTER TABLE payouts
  ADD COLUMN start_due_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN workflow_failures integer NOT NULL DEFAULT 0;
ALTER TABLE reversals
  ADD COLUMN start_due_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN workflow_failures integer NOT NULL DEFAULT 0;
ALTER TABLE deliveries
  ADD COLUMN start_due_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN workflow_failures integer NOT NULL DEFAULT 0;

-- Each merchant has a queue of its own, so that a long one delays no other merchant.
DROP INDEX collections_not_started, payouts_not_started, reversals_not_started, deliveries_not_started;
CREATE INDEX collections_unstarted ON collections (merchant_id, start_due_at) WHERE workflow_started_at IS NULL;
CREATE INDEX payouts_unstarted ON payouts (merchant_id, start_due_at) WHERE workflow_started_at IS NULL;
CREATE INDEX reversals_unstarted ON reversals (merchant_id, start_due_at) WHERE workflow_started_at IS NULL;
CREATE INDEX deliveries_unstarted ON deliveries (merchant_id, start_due_at)
  WHERE state = 'retrying' AND workflow_started_at IS NULL;

-- What the backlog gate counts: accepted payments that wait for us and not for people or the operator.
CREATE INDEX collections_waiting ON collections (merchant_id) WHERE state = 'initiated';
CREATE INDEX payouts_waiting ON payouts (merchant_id)
  WHERE state = 'released' AND send_begun_at IS NULL OR state = 'queued' AND workflow_started_at IS NULL;
CREATE INDEX reversals_waiting ON reversals (merchant_id) WHERE state = 'requested' AND send_begun_at IS NULL;

-- What is shown to the service's staff: normally these are empty.
CREATE INDEX collections_failing ON collections (workflow_failures) WHERE workflow_failures > 0;
CREATE INDEX payouts_failing ON payouts (workflow_failures) WHERE workflow_failures > 0;
CREATE INDEX reversals_failing ON reversals (workflow_failures) WHERE workflow_failures > 0;
CREATE INDEX deliveries_failing ON deliveries (workflow_failures) WHERE workflow_failures > 0;
