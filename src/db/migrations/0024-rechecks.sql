-- Rechecks of final payments are made in batches, an operator's at a time, and payments that succeeded are rechecked too:
-- their money may be returned, and the callback about that be lost. No rule is added: a recheck moves no money.
--
-- recheck_claimed_until: a worker rechecks the payment, and until then nobody else does. check_due_at is null meanwhile, so
-- that a callback that comes in between has it rechecked once more.

ALTER TABLE collections ADD COLUMN recheck_claimed_until timestamptz;
ALTER TABLE payouts ADD COLUMN recheck_claimed_until timestamptz;
ALTER TABLE reversals ADD COLUMN recheck_claimed_until timestamptz;

DROP INDEX collections_recheck_due, payouts_recheck_due, reversals_recheck_due;
CREATE INDEX collections_recheck_due ON collections (operator, (coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('initiated', 'prompted', 'reconciling')
    AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
CREATE INDEX payouts_recheck_due ON payouts (operator, (coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('queued', 'released', 'reconciling')
    AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
CREATE INDEX reversals_recheck_due ON reversals ((coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('requested', 'reconciling') AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
