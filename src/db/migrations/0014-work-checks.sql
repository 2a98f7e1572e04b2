-- Checks of started work: whether its workflow still runs and progresses.
--
-- A delivery gets a check of its own, as payments have. Unfinished work and rechecks of final payments are read from an index
-- each, so that many rechecks delay no check of a payment whose workflow is lost. No rule is added: a check that comes too
-- early or too late changes no payment.

ALTER TABLE deliveries ADD COLUMN check_due_at timestamptz;
UPDATE deliveries SET check_due_at = next_attempt_at WHERE state = 'retrying';

DROP INDEX collections_check_due, payouts_check_due, reversals_check_due, deliveries_due;
CREATE INDEX collections_check_due ON collections (check_due_at)
  WHERE state IN ('initiated', 'prompted', 'reconciling') AND workflow_started_at IS NOT NULL;
CREATE INDEX payouts_check_due ON payouts (check_due_at)
  WHERE state IN ('queued', 'released', 'reconciling') AND workflow_started_at IS NOT NULL;
CREATE INDEX reversals_check_due ON reversals (check_due_at)
  WHERE state IN ('requested', 'reconciling') AND workflow_started_at IS NOT NULL;
CREATE INDEX deliveries_check_due ON deliveries (check_due_at)
  WHERE state = 'retrying' AND workflow_started_at IS NOT NULL;

CREATE INDEX collections_recheck_due ON collections (check_due_at)
  WHERE state NOT IN ('initiated', 'prompted', 'reconciling') AND check_due_at IS NOT NULL;
CREATE INDEX payouts_recheck_due ON payouts (check_due_at)
  WHERE state NOT IN ('queued', 'released', 'reconciling') AND check_due_at IS NOT NULL;
CREATE INDEX reversals_recheck_due ON reversals (check_due_at)
  WHERE state NOT IN ('requested', 'reconciling') AND check_due_at IS NOT NULL;

-- Once its send has begun a collection waits for the operator, and not for us.
DROP INDEX collections_waiting;
CREATE INDEX collections_waiting ON collections (merchant_id) WHERE state = 'initiated' AND send_begun_at IS NULL;

-- How many runs were replaced is counted from the audit log.
CREATE INDEX audit_entries_of_replacements ON audit_entries (id) WHERE action LIKE '%.workflow_replaced';
