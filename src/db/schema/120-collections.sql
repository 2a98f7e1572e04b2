-- Collections: money that a payer pays to a merchant.
-- The storage parameters of the busy tables delay the first analysis. PostgreSQL plans a table of which it knows nothing as
-- if it had ten pages, and looks nearly every row up by an index. As soon as one of fifty rows was analysed, reading the
-- whole table is the cheapest plan, and a connection keeps that plan for a prepared statement or a trigger until the next
-- analysis: up to a minute, in which a busy service adds tens of thousands of rows.

CREATE TABLE collection_transitions (
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (from_state, to_state)
);
COMMENT ON TABLE collection_transitions IS
  'The transitions of src/domain/payments/collection.ts, for the check of the database. A test holds the two equal.';

INSERT INTO collection_transitions (from_state, to_state) VALUES
  ('initiated', 'prompted'), ('initiated', 'reconciling'), ('initiated', 'failed'), ('initiated', 'expired'),
  ('prompted', 'reconciling'), ('prompted', 'succeeded'), ('prompted', 'failed'), ('prompted', 'expired'),
  ('reconciling', 'succeeded'), ('reconciling', 'failed'), ('reconciling', 'expired'),
  ('succeeded', 'reversed'),
  ('expired', 'succeeded'), ('expired', 'failed');

CREATE TABLE collections (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 30 AND id ~ '^col_[0-7][0-9a-hjkmnp-tv-z]+$'),
  merchant_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  state text NOT NULL,
  previous_state text,
  version integer NOT NULL DEFAULT 0,
  amount_minor bigint NOT NULL CHECK (amount_minor BETWEEN 1 AND 9007199254740991),
  currency text NOT NULL,
  reference text NOT NULL CHECK (length(reference) BETWEEN 1 AND 100),
  phone text NOT NULL CHECK (length(phone) BETWEEN 8 AND 15 AND phone ~ '^[1-9][0-9]+$'),
  operator text NOT NULL,
  operator_reference uuid NOT NULL UNIQUE,
  operator_receipt text CHECK (length(operator_receipt) BETWEEN 1 AND 200),
  description text CHECK (length(description) BETWEEN 1 AND 120),
  metadata json NOT NULL CHECK (json_typeof(metadata) = 'object'),
  failure_code text,
  amount_reversed_minor bigint NOT NULL DEFAULT 0,
  created_by text COLLATE "C",
  api_key_id text COLLATE "C",
  request_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  prompt_deadline_at timestamptz NOT NULL,
  prompt_expires_at timestamptz,
  send_begun_at timestamptz,
  send_repeated_at timestamptz,
  receipt_shared boolean NOT NULL DEFAULT false,
  workflow_started_at timestamptz,
  start_due_at timestamptz NOT NULL DEFAULT now(),
  start_failures integer NOT NULL DEFAULT 0,
  workflow_failures integer NOT NULL DEFAULT 0,
  check_due_at timestamptz,
  recheck_check_due_at timestamptz,
  recheck_claimed_until timestamptz,
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  FOREIGN KEY (previous_state, state) REFERENCES collection_transitions (from_state, to_state),
  CONSTRAINT collections_known_state CHECK (
    state IN ('initiated', 'prompted', 'reconciling', 'succeeded', 'failed', 'expired', 'reversed')),
  CONSTRAINT collections_created_initiated CHECK (
    (state = 'initiated') = (version = 0) AND (state = 'initiated') = (previous_state IS NULL)),
  CONSTRAINT collections_prompt_expiry CHECK (state <> 'prompted' OR prompt_expires_at IS NOT NULL),
  CONSTRAINT collections_failure CHECK ((state IN ('failed', 'expired')) = (failure_code IS NOT NULL)),
  CONSTRAINT collections_receipt CHECK ((state IN ('succeeded', 'reversed')) = (operator_receipt IS NOT NULL)),
  CONSTRAINT collections_reversed_amount CHECK (
    amount_reversed_minor = CASE state WHEN 'reversed' THEN amount_minor ELSE 0 END),
  CONSTRAINT collections_never_sent CHECK (failure_code <> 'service_unavailable' OR send_begun_at IS NULL),
  CONSTRAINT collections_already_returned CHECK (failure_code <> 'already_returned'),
  CONSTRAINT collections_created_by_one CHECK (created_by IS NULL OR api_key_id IS NULL)
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE collections IS 'Money that a payer is asked to pay to a merchant.';
COMMENT ON COLUMN collections.created_by IS 'The person who requested it in a session.';
COMMENT ON COLUMN collections.request_id IS 'The request that created the payment.';
COMMENT ON COLUMN collections.prompt_deadline_at IS 'No prompt is sent after this time.';
COMMENT ON COLUMN collections.prompt_expires_at IS 'When the prompt on the phone of the payer ends.';
COMMENT ON COLUMN collections.send_begun_at IS 'When the first try to send it began, whatever the try led to.';
COMMENT ON COLUMN collections.send_repeated_at IS 'When the second try to send it began.';
COMMENT ON COLUMN collections.receipt_shared IS 'Always false.';
COMMENT ON COLUMN collections.workflow_started_at IS 'Null until a workflow is known to have been started for it.';
COMMENT ON COLUMN collections.start_due_at IS
  'Unstarted work is not tried before this time. A dispatcher that claims the work moves the time ahead by its lease, and a '
  'failed start moves it by the backoff.';
COMMENT ON COLUMN collections.start_failures IS
  'The part of workflow_failures that are failed starts. A start that succeeds ends them.';
COMMENT ON COLUMN collections.workflow_failures IS
  'How often in a row the workflow could not be started, or did not progress. The next change that the workflow records sets it '
  'to 0. From QUARANTINE_AFTER (src/domain/work.ts) on the work is quarantined.';
COMMENT ON COLUMN collections.check_due_at IS
  'When the sweep checks the payment next, unless a workflow moves it before. Null: nothing more can happen.';
COMMENT ON COLUMN collections.recheck_check_due_at IS
  'When it is checked whether the run of a recheck progresses. Null: there is no run.';
COMMENT ON COLUMN collections.recheck_claimed_until IS
  'Until then a worker rechecks the payment and nobody else does. check_due_at is null meanwhile, so that a callback that comes '
  'in between has the payment rechecked once more.';

-- Ids sort by creation, so each list that the API offers is one index range at any depth.
CREATE INDEX collections_list ON collections (merchant_id, id DESC);
CREATE INDEX collections_list_by_state ON collections (merchant_id, state, id DESC);
CREATE INDEX collections_list_by_phone ON collections (merchant_id, phone, id DESC);
-- Shown to the staff of the service. Normally empty.
CREATE INDEX collections_failing ON collections (workflow_failures) WHERE workflow_failures > 0;
CREATE INDEX collections_check_due ON collections (check_due_at)
  WHERE state IN ('initiated', 'prompted', 'reconciling') AND workflow_started_at IS NOT NULL;
-- Once its send has begun a collection waits for the operator, and not for the service.
CREATE INDEX collections_waiting ON collections (merchant_id) WHERE state = 'initiated' AND send_begun_at IS NULL;
-- The unfinished work of a merchant is started before its rechecks of final payments.
CREATE INDEX collections_unstarted
  ON collections (merchant_id, (state IN ('initiated', 'prompted', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;
-- What is still to be sent is checked before all else.
CREATE INDEX collections_unsent_check_due ON collections (check_due_at)
  WHERE state = 'initiated' AND workflow_started_at IS NOT NULL;
CREATE INDEX collections_recheck_check_due ON collections (recheck_check_due_at) WHERE recheck_check_due_at IS NOT NULL;
-- A receipt of an operator pays one collection. Collections and payouts are not compared: the products of an operator may
-- number their transactions separately.
CREATE UNIQUE INDEX collections_one_per_receipt ON collections (operator, operator_receipt)
  WHERE operator_receipt IS NOT NULL AND NOT receipt_shared;
-- Final payments are rechecked in batches, one operator at a time: their money may be returned, and the callback about that
-- be lost.
CREATE INDEX collections_recheck_due ON collections (operator, (coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('initiated', 'prompted', 'reconciling')
    AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
CREATE INDEX collections_list_by_amount ON collections (merchant_id, amount_minor, id);
CREATE INDEX collections_list_by_person ON collections (merchant_id, created_by, id DESC) WHERE created_by IS NOT NULL;
CREATE INDEX collections_list_by_api_key ON collections (merchant_id, api_key_id, id DESC) WHERE api_key_id IS NOT NULL;
-- Finds a reference by its beginning, in capitals or not.
CREATE INDEX collections_list_by_reference ON collections (merchant_id, lower(reference) text_pattern_ops, id DESC);
-- The oldest payment in each state that something is awaited in.
CREATE INDEX collections_unfinished ON collections (state, updated_at) WHERE state IN ('initiated', 'prompted', 'reconciling');
-- A hash takes 40 bytes of the index in place of 180. The keys of merchants are random, so a new payment goes to any place of
-- the index, and each part of the index that is not in memory is read from the disk while somebody waits. In lower case,
-- because people search without regard to case.
CREATE INDEX collections_by_idempotency_key ON collections USING hash (lower(idempotency_key));

CREATE TRIGGER collections_kept BEFORE DELETE OR TRUNCATE ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER collections_kept ON collections IS 'Refuses to delete rows and to truncate.';
CREATE TRIGGER collections_check_created_receipt BEFORE INSERT ON collections
  FOR EACH ROW WHEN (NEW.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
COMMENT ON TRIGGER collections_check_created_receipt ON collections IS 'Refuses a collection that shares its receipt.';

CREATE FUNCTION check_collection_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'collection % must be created in state initiated', NEW.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_check_created BEFORE INSERT ON collections
  FOR EACH ROW WHEN (NEW.state <> 'initiated') EXECUTE FUNCTION check_collection_created();
COMMENT ON TRIGGER collections_check_created ON collections IS 'Refuses a new collection in a state other than initiated.';

CREATE FUNCTION check_collection_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.idempotency_key, NEW.amount_minor, NEW.currency, NEW.reference, NEW.phone,
      NEW.operator, NEW.operator_reference, NEW.description, NEW.metadata::text, NEW.created_at, NEW.prompt_deadline_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.idempotency_key, OLD.amount_minor, OLD.currency, OLD.reference, OLD.phone,
      OLD.operator, OLD.operator_reference, OLD.description, OLD.metadata::text, OLD.created_at, OLD.prompt_deadline_at)
  THEN
    RAISE EXCEPTION 'the requested fields of collection % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt) THEN
      RAISE EXCEPTION 'the outcome of collection % can change only together with its state', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a new state of collection % must count up version and set previous_state to the old state', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_check_change BEFORE UPDATE ON collections
  FOR EACH ROW EXECUTE FUNCTION check_collection_change();
COMMENT ON TRIGGER collections_check_change ON collections IS
  'Refuses to change what was requested, an outcome without a change of state, and a change of state that does not count up the '
  'version.';

CREATE FUNCTION check_collection_failed_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.failure_code <> 'unknown' THEN
    RAISE EXCEPTION 'collection % expired as %, so it cannot fail later', OLD.id, OLD.failure_code
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_check_failed_late BEFORE UPDATE OF state ON collections
  FOR EACH ROW WHEN (OLD.state = 'expired' AND NEW.state = 'failed') EXECUTE FUNCTION check_collection_failed_late();
COMMENT ON TRIGGER collections_check_failed_late ON collections IS
  'Refuses that an expired collection fails, unless its failure is unknown: any other expiry is the word of the operator.';
CREATE TRIGGER collections_check_send_begun BEFORE UPDATE OF send_begun_at ON collections
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'initiated'
    AND NEW.send_begun_at < NEW.prompt_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
COMMENT ON TRIGGER collections_check_send_begun ON collections IS
  'Refuses a send that begins twice, in another state than initiated, or after the deadline.';

CREATE FUNCTION record_prompted_send() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Not before its creation; nobody recorded more.
  NEW.send_begun_at := NEW.created_at;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_record_prompted_send BEFORE UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state = 'prompted' AND NEW.send_begun_at IS NULL) EXECUTE FUNCTION record_prompted_send();
COMMENT ON TRIGGER collections_record_prompted_send ON collections IS
  'Refuses nothing. A collection that was prompted was sent, whoever sent it.';

CREATE FUNCTION refuse_prompted_as_never_sent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'collection % was prompted, so it cannot end as never sent', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_check_never_sent BEFORE UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.failure_code = 'service_unavailable' AND OLD.prompt_expires_at IS NOT NULL)
  EXECUTE FUNCTION refuse_prompted_as_never_sent();
COMMENT ON TRIGGER collections_check_never_sent ON collections IS 'Refuses that a prompted collection ends as never sent.';
CREATE TRIGGER collections_check_receipt_shared BEFORE UPDATE OF receipt_shared ON collections
  FOR EACH ROW WHEN (NEW.receipt_shared <> OLD.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
COMMENT ON TRIGGER collections_check_receipt_shared ON collections IS 'Refuses to change receipt_shared.';
CREATE TRIGGER collections_check_send_repeated BEFORE UPDATE OF send_repeated_at ON collections
  FOR EACH ROW WHEN (NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT (
    OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NEW.state = 'initiated'
    AND NEW.send_repeated_at < NEW.prompt_deadline_at))
  EXECUTE FUNCTION refuse_send_repeated();
COMMENT ON TRIGGER collections_check_send_repeated ON collections IS
  'Refuses a further send before the first, in another state than initiated, or after the deadline.';

CREATE FUNCTION refuse_other_creator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'who created a collection cannot change' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_creator_stays BEFORE UPDATE OF created_by, api_key_id ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_creator();
COMMENT ON TRIGGER collections_creator_stays ON collections IS
  'Refuses to change who created a collection. It runs once a statement, and no statement of the service updates these columns.';
CREATE TRIGGER collections_request_stays BEFORE UPDATE OF request_id ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_request();
COMMENT ON TRIGGER collections_request_stays ON collections IS
  'Refuses to change the request of a collection. It runs once a statement, and no statement of the service updates this column.';

CREATE FUNCTION check_creators_of_collections() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wrong_id text;
BEGIN
  -- Members and keys are looked up for each row, however many there are: the planner cannot make a scan of it.
  SELECT id INTO wrong_id FROM created
    WHERE created_by IS NOT NULL
          AND (SELECT m.user_id FROM members m WHERE m.merchant_id = created.merchant_id AND m.user_id = created.created_by) IS NULL
       OR api_key_id IS NOT NULL
          AND (SELECT k.merchant_id FROM api_keys k WHERE k.id = created.api_key_id) IS DISTINCT FROM created.merchant_id
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'collection % was created by nobody of its merchant', wrong_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER collections_check_creator AFTER INSERT ON collections
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION check_creators_of_collections();
COMMENT ON TRIGGER collections_check_creator ON collections IS
  'Refuses a new collection of a person or API key of another merchant. A foreign key would lock the row of the API key for each '
  'collection.';

CREATE FUNCTION check_collection_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM events
      WHERE collection_id = NEW.id AND resource_version = NEW.version AND type = 'collection.' || NEW.state) THEN
    RAISE EXCEPTION 'collection % became % without an event', NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM ledger_transfers
      WHERE collection_id = NEW.id AND kind = 'collection_paid') THEN
    RAISE EXCEPTION 'collection % succeeded without a transfer', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'reversed' AND NOT EXISTS (SELECT 1 FROM ledger_transfers
      WHERE collection_id = NEW.id AND kind = 'collection_reversed') THEN
    RAISE EXCEPTION 'collection % was reversed without a transfer', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER collections_check_recorded AFTER UPDATE OF state ON collections
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION check_collection_recorded();
COMMENT ON TRIGGER collections_check_recorded ON collections IS
  'Refuses, at commit, a new state without its event, and a paid or reversed collection without its transfer.';
CREATE TRIGGER collections_count_changed AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION count_payment('collection');
COMMENT ON TRIGGER collections_count_changed ON collections IS
  'Refuses nothing. It adds the change of state to payment_total_changes.';
CREATE TRIGGER collections_note_changed AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('collection');
COMMENT ON TRIGGER collections_note_changed ON collections IS 'Refuses nothing. It adds a live update.';

-- How often a checkout was paid counts the attempts that are paid, also those whose money was returned since.
CREATE FUNCTION note_paid_checkout() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO live_updates (merchant_id, kind, object_id, state)
  SELECT k.merchant_id, 'checkout', k.id,
    CASE WHEN k.use = 'one_time' THEN 'completed'
         WHEN k.cancelled_at IS NOT NULL THEN 'cancelled'
         WHEN k.expires_at <= clock_timestamp() THEN 'expired'
         ELSE 'open' END
  FROM checkout_attempts a JOIN checkouts k ON k.id = a.checkout_id WHERE a.collection_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER collections_note_paid_checkout AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IN ('succeeded', 'reversed') AND OLD.state NOT IN ('succeeded', 'reversed'))
  EXECUTE FUNCTION note_paid_checkout();
COMMENT ON TRIGGER collections_note_paid_checkout ON collections IS
  'Refuses nothing. It adds a live update of the checkout that the collection pays.';
CREATE TRIGGER collections_move_changed AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_payment_move('collection');
COMMENT ON TRIGGER collections_move_changed ON collections IS 'Refuses nothing. It adds the change of state to payment_moves.';
CREATE TRIGGER collections_note_created AFTER INSERT ON collections
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_created_payments('collection');
COMMENT ON TRIGGER collections_note_created ON collections IS
  'Refuses nothing. It adds the new rows to payment_total_changes, payment_moves and live_updates.';
