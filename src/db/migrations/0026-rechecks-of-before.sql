-- What succeeded in the last week is rechecked once, a week after it did. In a transaction of its own, which keeps nobody from
-- reading the tables meanwhile. No rule is added: a recheck moves no money.

UPDATE collections SET check_due_at = updated_at + interval '7 days'
WHERE state = 'succeeded' AND check_due_at IS NULL AND updated_at > now() - interval '7 days';
UPDATE payouts SET check_due_at = updated_at + interval '7 days'
WHERE state = 'succeeded' AND check_due_at IS NULL AND updated_at > now() - interval '7 days';
UPDATE reversals SET check_due_at = updated_at + interval '7 days'
WHERE state = 'succeeded' AND check_due_at IS NULL AND updated_at > now() - interval '7 days';
