-- What operators report: their callbacks, and the discrepancies between an operator's status and the recorded outcome.
--
-- Rules that the database itself enforces here:
-- - A callback and a discrepancy are about exactly one collection, payout or reversal.
-- - A discrepancy is recorded once per payment and kind, can be settled once, and never changes otherwise.

-- Callbacks as they came. They are hints and evidence, never results.
CREATE TABLE operator_callbacks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  operator text NOT NULL,
  collection_id text COLLATE "C" REFERENCES collections,
  payout_id text COLLATE "C" REFERENCES payouts,
  reversal_id text COLLATE "C" REFERENCES reversals,
  body text NOT NULL CHECK (octet_length(body) <= 65536),
  content_type text NOT NULL CHECK (length(content_type) <= 200),
  source_address inet NOT NULL,
  received_at timestamptz NOT NULL,
  CONSTRAINT operator_callbacks_of_one CHECK (num_nonnulls(collection_id, payout_id, reversal_id) = 1)
);
CREATE INDEX operator_callbacks_collection ON operator_callbacks (collection_id, id);
CREATE INDEX operator_callbacks_payout ON operator_callbacks (payout_id, id) WHERE payout_id IS NOT NULL;
CREATE INDEX operator_callbacks_reversal ON operator_callbacks (reversal_id, id) WHERE reversal_id IS NOT NULL;
CREATE INDEX operator_callbacks_age ON operator_callbacks (received_at);

-- An operator's status that contradicts the recorded outcome of a payment. It leads to no posting by itself: the ledger
-- check names it every day until a person records how it was settled.
CREATE TABLE discrepancies (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  -- A payer whose money was taken for a collection that is recorded as failed is owed a settlement too.
  collection_id text COLLATE "C" REFERENCES collections,
  payout_id text COLLATE "C" REFERENCES payouts,
  reversal_id text COLLATE "C" REFERENCES reversals,
  kind text NOT NULL CHECK (kind IN ('paid_after_failed', 'declined_after_paid', 'refunded_twice')),
  -- The operator's receipt, where it says that it made the payment.
  operator_receipt text CHECK (length(operator_receipt) BETWEEN 1 AND 200),
  found_at timestamptz NOT NULL,
  settled_at timestamptz,
  settled_how text CHECK (length(settled_how) BETWEEN 1 AND 500),
  CONSTRAINT discrepancies_of_one CHECK (num_nonnulls(collection_id, payout_id, reversal_id) = 1),
  CONSTRAINT discrepancies_settled CHECK ((settled_at IS NULL) = (settled_how IS NULL)),
  -- However often the operator repeats it, it is one discrepancy.
  CONSTRAINT discrepancies_once_per_collection UNIQUE (collection_id, kind),
  CONSTRAINT discrepancies_once_per_payout UNIQUE (payout_id, kind),
  CONSTRAINT discrepancies_once_per_reversal UNIQUE (reversal_id, kind)
);
CREATE INDEX discrepancies_open ON discrepancies (id) WHERE settled_at IS NULL;
CREATE TRIGGER discrepancies_kept BEFORE DELETE OR TRUNCATE ON discrepancies
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_discrepancy_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.settled_at IS NOT NULL
     OR (NEW.id, NEW.merchant_id, NEW.collection_id, NEW.payout_id, NEW.reversal_id, NEW.kind, NEW.operator_receipt,
         NEW.found_at)
        IS DISTINCT FROM
        (OLD.id, OLD.merchant_id, OLD.collection_id, OLD.payout_id, OLD.reversal_id, OLD.kind, OLD.operator_receipt,
         OLD.found_at) THEN
    RAISE EXCEPTION 'discrepancy % can only be settled, and only once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER discrepancies_check_change BEFORE UPDATE ON discrepancies
  FOR EACH ROW EXECUTE FUNCTION check_discrepancy_change();
