-- A payment that the operator paid, but with another amount or in another currency than was requested, is a discrepancy.
--
-- Rules that the database itself enforces here:
-- - A discrepancy of this kind has the money that the operator reports, and no other has; it never changes.

ALTER TABLE discrepancies
  DROP CONSTRAINT discrepancies_kind_check,
  ADD CONSTRAINT discrepancies_kind_check CHECK (
    kind IN ('paid_after_failed', 'declined_after_paid', 'refunded_twice', 'receipt_reused', 'paid_otherwise')),
  -- As the operator reports it: a decimal number in whole units, and its currency code.
  ADD COLUMN reported_amount text CHECK (reported_amount ~ '^[0-9]{1,16}([.][0-9]{1,6})?$'),
  ADD COLUMN reported_currency text CHECK (reported_currency ~ '^[A-Z]{3}$'),
  ADD CONSTRAINT discrepancies_reported CHECK (
    (kind = 'paid_otherwise') = (reported_amount IS NOT NULL)
    AND (kind = 'paid_otherwise') = (reported_currency IS NOT NULL));

CREATE FUNCTION check_discrepancy_reported() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'discrepancy % can only be settled, and only once', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER discrepancies_check_reported BEFORE UPDATE OF reported_amount, reported_currency ON discrepancies
  FOR EACH ROW WHEN ((NEW.reported_amount, NEW.reported_currency) IS DISTINCT FROM (OLD.reported_amount, OLD.reported_currency))
  EXECUTE FUNCTION check_discrepancy_reported();
