-- A payout or refund that failed because the operator said often enough that it does not know it is rechecked late, as a
-- collection that expired is: the operator may still turn out to have paid it. No rule is added: a recheck moves no money.

UPDATE payouts SET check_due_at = now() WHERE failed_by = 'never_accepted' AND check_due_at IS NULL;
UPDATE reversals SET check_due_at = now() WHERE failed_by = 'never_accepted' AND check_due_at IS NULL;
