-- A collection can be contradicted too: a payer whose money was taken although it failed here is owed an answer.
ALTER TABLE discrepancies
  ADD COLUMN collection_id text COLLATE "C" REFERENCES collections,
  DROP CONSTRAINT discrepancies_of_one,
  ADD CONSTRAINT discrepancies_of_one CHECK (num_nonnulls(collection_id, payout_id, reversal_id) = 1),
  ADD CONSTRAINT discrepancies_once_per_collection UNIQUE (collection_id, kind);

CREATE OR REPLACE FUNCTION check_discrepancy_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.settled_at IS NOT NULL
     OR (NEW.id, NEW.merchant_id, NEW.collection_id, NEW.payout_id, NEW.reversal_id, NEW.kind, NEW.operator_receipt,
         NEW.found_at)
        IS DISTINCT FROM
        (OLD.id, OLD.merchant_id, OLD.collection_id, OLD.payout_id, OLD.reversal_id, OLD.kind, OLD.operator_receipt,
         OLD.found_at) THEN
    RAISE EXCEPTION 'discrepancy % can be settled once, and not change otherwise', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
