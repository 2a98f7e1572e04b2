-- What operators report: callbacks and messages, queries that are answered by a message, the result of each exchange, and statuses that contradict what is recorded.

CREATE TABLE operator_callbacks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  operator text NOT NULL,
  payment_id text COLLATE "C" REFERENCES payments,
  operator_reference uuid,
  body text NOT NULL CHECK (octet_length(body) <= 65536),
  content_type text NOT NULL CHECK (length(content_type) <= 200),
  source_address inet NOT NULL,
  received_at timestamptz NOT NULL,
  purpose text CONSTRAINT operator_callbacks_purpose CHECK (purpose IN ('result', 'timeout', 'query')),
  query_id uuid,
  attestation text,
  read_at timestamptz,
  CONSTRAINT operator_callbacks_about CHECK ((payment_id IS NULL) = (operator_reference IS NOT NULL)),
  CONSTRAINT operator_callbacks_message CHECK (
    (purpose IS NULL) = (attestation IS NULL) AND coalesce(purpose = 'query', false) = (query_id IS NOT NULL)
    AND (read_at IS NULL OR purpose IS NOT NULL AND payment_id IS NOT NULL))
);
COMMENT ON TABLE operator_callbacks IS
  'Callbacks as they came: hints and evidence, never results. One with a purpose is a message: it came to an address that the operator '
  'got for one payment or query.';
COMMENT ON COLUMN operator_callbacks.query_id IS 'The query to whose own address the callback came.';
COMMENT ON COLUMN operator_callbacks.attestation IS
  'Made by the process that received the message and proved its address. Without it nothing follows from the message.';
COMMENT ON COLUMN operator_callbacks.read_at IS 'When a worker recorded what follows from the message.';
COMMENT ON COLUMN operator_callbacks.operator_reference IS
  'Set for a callback to an address of the service whose payment was not on record: after a loss it may be the only trace of the '
  'payment.';

CREATE INDEX operator_callbacks_of_payment ON operator_callbacks (payment_id, id);
CREATE INDEX operator_callbacks_unmatched ON operator_callbacks (operator_reference) WHERE operator_reference IS NOT NULL;
CREATE INDEX operator_callbacks_age ON operator_callbacks (received_at);

CREATE FUNCTION check_operator_callback_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.operator, NEW.payment_id, NEW.operator_reference, NEW.body, NEW.content_type, NEW.source_address, NEW.received_at,
      NEW.purpose, NEW.query_id, NEW.attestation)
     IS DISTINCT FROM
     (OLD.id, OLD.operator, OLD.payment_id, OLD.operator_reference, OLD.body, OLD.content_type, OLD.source_address, OLD.received_at,
      OLD.purpose, OLD.query_id, OLD.attestation) OR OLD.read_at IS NOT NULL THEN
    RAISE EXCEPTION 'a callback of an operator changes only when it is read, once' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER operator_callbacks_check_change BEFORE UPDATE ON operator_callbacks
  FOR EACH ROW EXECUTE FUNCTION check_operator_callback_change();
COMMENT ON TRIGGER operator_callbacks_check_change ON operator_callbacks IS
  'Refuses every change except that a worker has read a message.';

CREATE TABLE operator_queries (
  id uuid PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  payment_id text COLLATE "C" NOT NULL REFERENCES payments,
  asked_at timestamptz NOT NULL,
  seen_callback_id bigint NOT NULL,
  answered_at timestamptz,
  attestation text NOT NULL
);
COMMENT ON TABLE operator_queries IS
  'Status queries that the operator answers by a message to the address of the query. Each is recorded before it is sent.';
COMMENT ON COLUMN operator_queries.seen_callback_id IS
  'The last message about the payment that had come when the query began, 0 for none: the answer confirms no later one.';
COMMENT ON COLUMN operator_queries.answered_at IS 'When the first message came to its address. No other one counts.';
COMMENT ON COLUMN operator_queries.attestation IS 'Made by the process that asked. Without it an answer to the query counts for nothing.';

CREATE INDEX operator_queries_of_payment ON operator_queries (payment_id, asked_at);
CREATE INDEX operator_queries_age ON operator_queries (asked_at);

CREATE TRIGGER operator_queries_stay BEFORE TRUNCATE ON operator_queries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER operator_queries_stay ON operator_queries IS 'Refuses to truncate.';

CREATE FUNCTION check_operator_query() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' AND (NEW.answered_at IS NOT NULL
       OR NOT EXISTS (SELECT FROM payments WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id)) THEN
    RAISE EXCEPTION 'a query about % is of no payment of its merchant, or was answered before it was sent', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND (OLD.answered_at IS NOT NULL
       OR (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.asked_at, NEW.seen_callback_id, NEW.attestation)
         IS DISTINCT FROM (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.asked_at, OLD.seen_callback_id, OLD.attestation)) THEN
    RAISE EXCEPTION 'a query about % changes only when it is answered, once', OLD.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER operator_queries_check BEFORE INSERT OR UPDATE ON operator_queries
  FOR EACH ROW EXECUTE FUNCTION check_operator_query();
COMMENT ON TRIGGER operator_queries_check ON operator_queries IS
  'Refuses a query about another payment than one of its merchant, a query that is answered before it is sent, and every change '
  'except its first answer.';

CREATE TABLE operator_exchanges (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CONSTRAINT operator_exchanges_kind CHECK (kind IN ('send', 'status_query', 'name_query')),
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CONSTRAINT operator_exchanges_duration CHECK (duration_ms >= 0),
  outcome text NOT NULL CONSTRAINT operator_exchanges_outcome CHECK (CASE kind
    WHEN 'send' THEN outcome IN ('accepted', 'refused', 'unknown')
    WHEN 'name_query' THEN outcome IN ('named', 'unnamed', 'unknown')
    ELSE outcome IN (
      'pending', 'succeeded', 'failed', 'returned', 'paid_unreadable', 'unreadable', 'not_found', 'asked', 'unknown') END),
  failure_code text CONSTRAINT operator_exchanges_failure
    CHECK ((outcome IN ('refused', 'failed')) = (failure_code IS NOT NULL) AND length(failure_code) <= 40)
);
COMMENT ON TABLE operator_exchanges IS
  'Each send to an operator and each query of a status or a name, with its outcome in a term of the service. Nothing that was '
  'sent or received is kept here, and no receipt.';
COMMENT ON COLUMN operator_exchanges.payment_id IS
  'A foreign key would lock the row of the payment for each exchange.';
COMMENT ON COLUMN operator_exchanges.failure_code IS 'Why the operator refuses or failed it.';

CREATE INDEX operator_exchanges_payment ON operator_exchanges (payment_id, id);
CREATE INDEX operator_exchanges_age ON operator_exchanges (started_at);

CREATE TRIGGER operator_exchanges_stay BEFORE TRUNCATE ON operator_exchanges
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER operator_exchanges_stay ON operator_exchanges IS 'Refuses to truncate.';

CREATE FUNCTION check_operator_exchange() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'an exchange with an operator cannot change' USING ERRCODE = 'restrict_violation';
  END IF;
  IF NOT EXISTS (SELECT FROM payments WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'an exchange about % is of no payment of its merchant', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER operator_exchanges_check BEFORE INSERT OR UPDATE ON operator_exchanges
  FOR EACH ROW EXECUTE FUNCTION check_operator_exchange();
COMMENT ON TRIGGER operator_exchanges_check ON operator_exchanges IS
  'Refuses every update, and an exchange about another payment than one of its merchant.';

CREATE TABLE payee_names (
  payment_id text COLLATE "C" PRIMARY KEY CHECK (left(payment_id, 4) = 'pay_') REFERENCES payments,
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  name text CHECK (length(name) BETWEEN 1 AND 200),
  asked_at timestamptz NOT NULL
);
COMMENT ON TABLE payee_names IS
  'The name that the operator has for the payee of a payout, shown to the person who releases it. It decides nothing, and is '
  'removed by its age.';
COMMENT ON COLUMN payee_names.name IS 'Null: the operator says that it has none.';
CREATE INDEX payee_names_age ON payee_names (asked_at);
CREATE TRIGGER payee_names_stay BEFORE UPDATE OR TRUNCATE ON payee_names
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER payee_names_stay ON payee_names IS 'Refuses to change or truncate: the first answer stays.';

CREATE TABLE discrepancies (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  payment_id text COLLATE "C" NOT NULL REFERENCES payments,
  kind text NOT NULL CHECK (kind IN (
    'paid_after_failed', 'declined_after_paid', 'refunded_twice', 'receipt_reused', 'paid_otherwise', 'other_payment',
    'release_unattested', 'credit_unattested')),
  operator_receipt text CHECK (length(operator_receipt) BETWEEN 1 AND 200),
  reported_amount text CHECK (reported_amount ~ '^[0-9]{1,16}([.][0-9]{1,6})?$'),
  reported_currency text CHECK (reported_currency ~ '^[A-Z]{3}$'),
  found_at timestamptz NOT NULL,
  settled_at timestamptz,
  settled_how text CHECK (length(settled_how) BETWEEN 1 AND 500),
  CONSTRAINT discrepancies_settled CHECK ((settled_at IS NULL) = (settled_how IS NULL)),
  CONSTRAINT discrepancies_reported CHECK (
    (reported_amount IS NULL) = (reported_currency IS NULL) AND (kind = 'paid_otherwise' OR reported_amount IS NULL))
);
COMMENT ON TABLE discrepancies IS
  'A status of an operator that contradicts the recorded outcome of a payment. It leads to no posting by itself: the ledger check '
  'reports it every day until a person records how it was settled. Another one of its kind may follow.';
COMMENT ON COLUMN discrepancies.payment_id IS
  'A payer whose money was taken for a collection that is recorded as failed is owed a settlement too.';
COMMENT ON COLUMN discrepancies.operator_receipt IS 'The operator''s receipt, where it says that it made the payment.';
COMMENT ON COLUMN discrepancies.reported_amount IS
  'As the operator reports it: a decimal number in whole units. Null if nobody can read what the operator reports.';

CREATE INDEX discrepancies_open ON discrepancies (id) WHERE settled_at IS NULL;
-- A payment has one open discrepancy of a kind, however often the operator repeats it.
CREATE UNIQUE INDEX discrepancies_once_per_payment ON discrepancies (payment_id, kind) WHERE settled_at IS NULL;
CREATE INDEX discrepancies_of_payment ON discrepancies (payment_id, kind);

CREATE TRIGGER discrepancies_kept BEFORE DELETE OR TRUNCATE ON discrepancies
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER discrepancies_kept ON discrepancies IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_discrepancy_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.settled_at IS NOT NULL
     OR (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.kind, NEW.operator_receipt, NEW.reported_amount, NEW.reported_currency,
         NEW.found_at)
        IS DISTINCT FROM
        (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.kind, OLD.operator_receipt, OLD.reported_amount, OLD.reported_currency,
         OLD.found_at) THEN
    RAISE EXCEPTION 'discrepancy % can only be settled, and only once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER discrepancies_check_change BEFORE UPDATE ON discrepancies
  FOR EACH ROW EXECUTE FUNCTION check_discrepancy_change();
COMMENT ON TRIGGER discrepancies_check_change ON discrepancies IS 'Refuses every change but one settlement.';
