-- What an operator says of money whose end is recorded otherwise. No posting follows from it by itself: it is kept, and the
-- check of the ledger names it every day, until a person wrote down how it was settled.
CREATE TABLE discrepancies (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  payout_id text COLLATE "C" REFERENCES payouts,
  reversal_id text COLLATE "C" REFERENCES reversals,
  kind text NOT NULL CHECK (kind IN ('paid_after_failed', 'declined_after_paid', 'refunded_twice')),
  -- What the operator calls the payment, where it says that it made one.
  operator_receipt text CHECK (length(operator_receipt) BETWEEN 1 AND 200),
  found_at timestamptz NOT NULL,
  settled_at timestamptz,
  settlement text CHECK (length(settlement) BETWEEN 1 AND 500),
  CONSTRAINT discrepancies_of_one CHECK (num_nonnulls(payout_id, reversal_id) = 1),
  CONSTRAINT discrepancies_settled CHECK ((settled_at IS NULL) = (settlement IS NULL)),
  -- However often it is heard, it is one.
  CONSTRAINT discrepancies_once_per_payout UNIQUE (payout_id, kind),
  CONSTRAINT discrepancies_once_per_reversal UNIQUE (reversal_id, kind)
);
CREATE INDEX discrepancies_open ON discrepancies (id) WHERE settled_at IS NULL;
CREATE TRIGGER discrepancies_kept BEFORE DELETE OR TRUNCATE ON discrepancies
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_discrepancy_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.settled_at IS NOT NULL
     OR (NEW.id, NEW.merchant_id, NEW.payout_id, NEW.reversal_id, NEW.kind, NEW.operator_receipt, NEW.found_at)
        IS DISTINCT FROM
        (OLD.id, OLD.merchant_id, OLD.payout_id, OLD.reversal_id, OLD.kind, OLD.operator_receipt, OLD.found_at) THEN
    RAISE EXCEPTION 'discrepancy % can be settled once, and not change otherwise', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER discrepancies_check_change BEFORE UPDATE ON discrepancies
  FOR EACH ROW EXECUTE FUNCTION check_discrepancy_change();
