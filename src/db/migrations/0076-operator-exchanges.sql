-- What was said in each exchange with an operator: every send, and every query of a status.
--
-- Rules that the database itself enforces here:
-- - An exchange is of one payment of its merchant, and never changes. It is removed when its time is over.
-- - It says how it ended in a word of ours: nothing of what was sent or received is kept here, and no receipt.

CREATE TABLE operator_exchanges (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL,
  -- A collection, payout or reversal. A foreign key would lock the row of the payment for each exchange.
  payment_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CONSTRAINT operator_exchanges_kind CHECK (kind IN ('send', 'status_query')),
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CONSTRAINT operator_exchanges_duration CHECK (duration_ms >= 0),
  outcome text NOT NULL CONSTRAINT operator_exchanges_outcome CHECK (CASE kind
    WHEN 'send' THEN outcome IN ('accepted', 'refused', 'unknown')
    ELSE outcome IN ('pending', 'succeeded', 'failed', 'returned', 'paid_unreadable', 'unreadable', 'not_found', 'unknown') END),
  -- Why the operator refuses or failed it.
  failure_code text CONSTRAINT operator_exchanges_failure
    CHECK ((outcome IN ('refused', 'failed')) = (failure_code IS NOT NULL) AND length(failure_code) <= 40)
);
CREATE INDEX operator_exchanges_payment ON operator_exchanges (payment_id, id);
CREATE INDEX operator_exchanges_age ON operator_exchanges (started_at);
CREATE TRIGGER operator_exchanges_stay BEFORE TRUNCATE ON operator_exchanges
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_operator_exchange() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'an exchange with an operator cannot change' USING ERRCODE = 'restrict_violation';
  END IF;
  IF NOT EXISTS (
       SELECT FROM collections WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id
       UNION ALL SELECT FROM payouts WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id
       UNION ALL SELECT FROM reversals WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'an exchange about % is of no payment of its merchant', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER operator_exchanges_check BEFORE INSERT OR UPDATE ON operator_exchanges
  FOR EACH ROW EXECUTE FUNCTION check_operator_exchange();
