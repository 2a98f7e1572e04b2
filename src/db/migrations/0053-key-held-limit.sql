-- The most that the queued payouts of one API key may hold together, by the merchant's policy. The operation that creates a payout
-- counts them behind its lock, as the release counts the daily limit of an approver. Null, as for all policies so far: no limit.

ALTER TABLE policies ADD COLUMN key_held_limit_minor bigint
  CHECK (key_held_limit_minor BETWEEN 0 AND 9007199254740991);
