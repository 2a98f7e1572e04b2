-- Failures to start a workflow, apart from those of its runs: a start that succeeds ends them. No rule is added.
--
-- They are a part of workflow_failures. A recheck of a final payment, and a payout that waits for its approvers, record no
-- change after their start, and stayed quarantined.

ALTER TABLE collections ADD COLUMN start_failures integer NOT NULL DEFAULT 0;
ALTER TABLE payouts ADD COLUMN start_failures integer NOT NULL DEFAULT 0;
ALTER TABLE reversals ADD COLUMN start_failures integer NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN start_failures integer NOT NULL DEFAULT 0;
