-- A payment that the operator says was paid, in a form that nobody can read, is a discrepancy too: nothing is reported.
--
-- Rules that the database itself enforces here:
-- - A discrepancy of the kind `paid_otherwise` has the whole money that the operator reports, or none of it; no other has any.

ALTER TABLE discrepancies
  DROP CONSTRAINT discrepancies_reported,
  ADD CONSTRAINT discrepancies_reported CHECK (
    (reported_amount IS NULL) = (reported_currency IS NULL) AND (kind = 'paid_otherwise' OR reported_amount IS NULL));
