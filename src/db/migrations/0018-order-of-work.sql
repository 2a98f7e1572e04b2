-- The order in which work is started and checked, and checks of the rechecks of final payments. No rule is added: a start or
-- a check that comes too early or too late changes no payment.
--
-- - A merchant's unfinished work is started before its rechecks of final payments.
-- - What is still to be sent is checked before all else. A delivery that a server of before 0014 started has no time for its
--   check: it is found by its next attempt.
-- - recheck_check_due_at: when it is checked whether the run of a recheck progresses; null while there is none.

DROP INDEX collections_unstarted, payouts_unstarted, reversals_unstarted;
CREATE INDEX collections_unstarted
  ON collections (merchant_id, (state IN ('initiated', 'prompted', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;
CREATE INDEX payouts_unstarted
  ON payouts (merchant_id, (state IN ('queued', 'released', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;
CREATE INDEX reversals_unstarted
  ON reversals (merchant_id, (state IN ('requested', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;

CREATE INDEX collections_unsent_check_due ON collections (check_due_at)
  WHERE state = 'initiated' AND workflow_started_at IS NOT NULL;
CREATE INDEX payouts_unsent_check_due ON payouts (check_due_at)
  WHERE state = 'released' AND workflow_started_at IS NOT NULL;
CREATE INDEX reversals_unsent_check_due ON reversals (check_due_at)
  WHERE state = 'requested' AND workflow_started_at IS NOT NULL;
CREATE INDEX deliveries_without_check ON deliveries (next_attempt_at)
  WHERE state = 'retrying' AND workflow_started_at IS NOT NULL AND check_due_at IS NULL;

ALTER TABLE collections ADD COLUMN recheck_check_due_at timestamptz;
ALTER TABLE payouts ADD COLUMN recheck_check_due_at timestamptz;
ALTER TABLE reversals ADD COLUMN recheck_check_due_at timestamptz;
CREATE INDEX collections_recheck_check_due ON collections (recheck_check_due_at) WHERE recheck_check_due_at IS NOT NULL;
CREATE INDEX payouts_recheck_check_due ON payouts (recheck_check_due_at) WHERE recheck_check_due_at IS NOT NULL;
CREATE INDEX reversals_recheck_check_due ON reversals (recheck_check_due_at) WHERE recheck_check_due_at IS NOT NULL;
