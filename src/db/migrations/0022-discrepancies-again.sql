-- A discrepancy that a person settled can be followed by another one of its kind: another receipt, or other money.
--
-- Rules that the database itself enforces here:
-- - A payment has one discrepancy of a kind at a time that nobody has settled, however often the operator repeats it.

ALTER TABLE discrepancies
  DROP CONSTRAINT discrepancies_once_per_collection,
  DROP CONSTRAINT discrepancies_once_per_payout,
  DROP CONSTRAINT discrepancies_once_per_reversal;
CREATE UNIQUE INDEX discrepancies_once_per_collection ON discrepancies (collection_id, kind) WHERE settled_at IS NULL;
CREATE UNIQUE INDEX discrepancies_once_per_payout ON discrepancies (payout_id, kind) WHERE settled_at IS NULL;
CREATE UNIQUE INDEX discrepancies_once_per_reversal ON discrepancies (reversal_id, kind) WHERE settled_at IS NULL;
-- What was settled before, of a payment.
CREATE INDEX discrepancies_of_payment ON discrepancies (coalesce(collection_id, payout_id, reversal_id), kind);

-- The payouts and refunds whose outcome the operator does not say, for the ledger check.
CREATE INDEX payouts_reconciling ON payouts (updated_at) WHERE state = 'reconciling';
CREATE INDEX reversals_reconciling ON reversals (updated_at) WHERE state = 'reconciling';
