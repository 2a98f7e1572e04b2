-- An operator's receipt pays one payment.
--
-- Rules that the database itself enforces here:
-- - No two collections of an operator have one receipt, and no two payouts. Collections and payouts are not compared with
--   each other: money that comes in is never taken for money that goes out, and an operator's products may number their
--   transactions separately.

CREATE UNIQUE INDEX collections_one_per_receipt ON collections (operator, operator_receipt)
  WHERE operator_receipt IS NOT NULL;
CREATE UNIQUE INDEX payouts_one_per_receipt ON payouts (operator, operator_receipt) WHERE operator_receipt IS NOT NULL;

-- What becomes of the second payment: a person settles it.
ALTER TABLE discrepancies DROP CONSTRAINT discrepancies_kind_check;
ALTER TABLE discrepancies ADD CONSTRAINT discrepancies_kind_check
  CHECK (kind IN ('paid_after_failed', 'declined_after_paid', 'refunded_twice', 'receipt_reused'));
