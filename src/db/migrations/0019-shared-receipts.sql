-- An operator's receipt pays one payment, and payments that share one already are shown to a person.
--
-- Rules that the database itself enforces here:
-- - No two collections of an operator have one receipt, and no two payouts. Collections and payouts are not compared with
--   each other: money that comes in is never taken for money that goes out, and an operator's products may number their
--   transactions separately.
-- - Only payments that shared a receipt before this migration are excepted (`receipt_shared`), and no other ever is.

-- A database that was brought here by the former 0012-operator-receipts.sql has them, and no payments that share one.
DROP INDEX IF EXISTS collections_one_per_receipt;
DROP INDEX IF EXISTS payouts_one_per_receipt;

-- Of the payments that have one receipt already, all but the one that was created first.
ALTER TABLE collections ADD COLUMN receipt_shared boolean NOT NULL DEFAULT false;
ALTER TABLE payouts ADD COLUMN receipt_shared boolean NOT NULL DEFAULT false;
UPDATE collections later SET receipt_shared = true
WHERE operator_receipt IS NOT NULL AND EXISTS (
  SELECT 1 FROM collections first WHERE first.operator = later.operator
    AND first.operator_receipt = later.operator_receipt AND first.id < later.id);
UPDATE payouts later SET receipt_shared = true
WHERE operator_receipt IS NOT NULL AND EXISTS (
  SELECT 1 FROM payouts first WHERE first.operator = later.operator
    AND first.operator_receipt = later.operator_receipt AND first.id < later.id);

-- Their postings stand: which of them is true, nobody knows here.
WITH found AS (
  INSERT INTO discrepancies (merchant_id, collection_id, payout_id, kind, operator_receipt, found_at)
  SELECT merchant_id, id, NULL, 'receipt_reused', operator_receipt, now() FROM collections WHERE receipt_shared
  UNION ALL
  SELECT merchant_id, NULL, id, 'receipt_reused', operator_receipt, now() FROM payouts WHERE receipt_shared
  ORDER BY 2, 3
  RETURNING *)
INSERT INTO audit_entries (merchant_id, action, outcome, subject_id, after, created_at)
SELECT merchant_id, CASE WHEN payout_id IS NULL THEN 'collection' ELSE 'payout' END || '.discrepancy_found', 'done',
       coalesce(collection_id, payout_id), json_build_object('kind', kind, 'operator_receipt', operator_receipt), found_at
FROM found ORDER BY id;

CREATE UNIQUE INDEX collections_one_per_receipt ON collections (operator, operator_receipt)
  WHERE operator_receipt IS NOT NULL AND NOT receipt_shared;
CREATE UNIQUE INDEX payouts_one_per_receipt ON payouts (operator, operator_receipt)
  WHERE operator_receipt IS NOT NULL AND NOT receipt_shared;

CREATE FUNCTION refuse_receipt_shared() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'whether % shares its receipt with an earlier payment can never change', NEW.id
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_check_receipt_shared BEFORE UPDATE OF receipt_shared ON collections
  FOR EACH ROW WHEN (NEW.receipt_shared <> OLD.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
CREATE TRIGGER payouts_check_receipt_shared BEFORE UPDATE OF receipt_shared ON payouts
  FOR EACH ROW WHEN (NEW.receipt_shared <> OLD.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
CREATE TRIGGER collections_check_created_receipt BEFORE INSERT ON collections
  FOR EACH ROW WHEN (NEW.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
CREATE TRIGGER payouts_check_created_receipt BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
