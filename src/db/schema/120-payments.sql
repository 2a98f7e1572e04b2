-- Payments: collections that payers pay to a merchant, payouts that a merchant sends, and refunds of whole collections.
-- They share one table, because they share most columns and rules, and a search by id, reference or receipt then has one place
-- to look. `kind` says what a row is. The kind of a refund is `reversal`: what the operator did.
-- - A payment starts in the first state of its kind and moves only along payment_transitions. What was requested never
--   changes, and an outcome changes only together with the state. No payment is deleted.
-- - A send begins once, in the state in which the payment may be sent and before its deadline. A further try begins after the
--   first. A refusal says how a payment ended only if no further try began.
-- - Where a repeated send might pay twice (`sends_once`), no send is ever repeated. Only a send that the operator did nothing with is
--   taken back, on the attestation of the process that has the answer, and then another one may begin.
-- - The money of a payout is held at creation, sent only after a second person released it, and given back when it is not
--   sent. Its maker can cancel it until a send begins. A collection becomes `reversed` only when the operator confirms its
--   refund or returns the money by itself.
-- - A payout or refund that was sent fails as never accepted only on evidence: after the send deadline the operator said at
--   least twice that it does not know the payment. How often and over how long is the number of the operator
--   (`confirmsNeverAccepted`).
-- - A payout or refund is released only with the approvals that it needs, from people who may approve at that moment and did
--   not request it, and nothing is sent on a release without an attestation.
-- The storage parameters of the busy tables delay the first analysis. PostgreSQL plans a table of which it knows nothing as
-- if it had ten pages, and looks nearly every row up by an index. As soon as one of fifty rows was analysed, reading the
-- whole table is the cheapest plan, and a connection keeps that plan for a prepared statement or a trigger until the next
-- analysis: up to a minute, in which a busy service adds tens of thousands of rows.

CREATE TABLE payment_transitions (
  kind text NOT NULL,
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (kind, from_state, to_state),
  -- So every state of a payment is a known one. A check of payments would be read with each statement that writes one.
  CONSTRAINT payment_transitions_known_state CHECK (CASE kind
    WHEN 'collection' THEN to_state IN ('prompted', 'reconciling', 'succeeded', 'failed', 'expired', 'reversed')
    WHEN 'payout' THEN to_state IN (
      'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired', 'reversed')
    WHEN 'reversal' THEN to_state IN ('released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired')
    ELSE false END)
);
COMMENT ON TABLE payment_transitions IS
  'The transitions of src/domain/payments, for the check of the database. A test holds the two equal.';

INSERT INTO payment_transitions (kind, from_state, to_state) VALUES
  ('collection', 'initiated', 'prompted'), ('collection', 'initiated', 'reconciling'),
  ('collection', 'initiated', 'failed'), ('collection', 'initiated', 'expired'),
  ('collection', 'prompted', 'reconciling'), ('collection', 'prompted', 'succeeded'),
  ('collection', 'prompted', 'failed'), ('collection', 'prompted', 'expired'),
  ('collection', 'reconciling', 'succeeded'), ('collection', 'reconciling', 'failed'),
  ('collection', 'reconciling', 'expired'),
  ('collection', 'succeeded', 'reversed'),
  ('collection', 'expired', 'succeeded'), ('collection', 'expired', 'failed'),
  ('payout', 'queued', 'released'), ('payout', 'queued', 'rejected'), ('payout', 'queued', 'cancelled'),
  ('payout', 'queued', 'expired'),
  ('payout', 'released', 'succeeded'), ('payout', 'released', 'failed'), ('payout', 'released', 'reconciling'),
  ('payout', 'released', 'cancelled'),
  ('payout', 'reconciling', 'succeeded'), ('payout', 'reconciling', 'failed'),
  ('payout', 'succeeded', 'reversed'),
  ('reversal', 'queued', 'released'), ('reversal', 'queued', 'rejected'), ('reversal', 'queued', 'cancelled'),
  ('reversal', 'queued', 'expired'),
  ('reversal', 'released', 'succeeded'), ('reversal', 'released', 'failed'), ('reversal', 'released', 'reconciling'),
  ('reversal', 'released', 'cancelled'),
  ('reversal', 'reconciling', 'succeeded'), ('reversal', 'reconciling', 'failed');

CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 30 AND id ~ '^(col|pay|rev)_[0-7][0-9a-hjkmnp-tv-z]+$'),
  kind text NOT NULL CHECK (kind IN ('collection', 'payout', 'reversal')),
  merchant_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" REFERENCES payments,
  idempotency_key text COLLATE "C" CHECK (length(idempotency_key) BETWEEN 1 AND 255),
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
  receipt_follows boolean NOT NULL DEFAULT false,
  operator_issued_id text CHECK (length(operator_issued_id) BETWEEN 1 AND 200),
  description text CHECK (length(description) BETWEEN 1 AND 120),
  metadata json CHECK (json_typeof(metadata) = 'object'),
  payee_name text CHECK (length(payee_name) BETWEEN 1 AND 100),
  failure_code text,
  failed_by text,
  status_kind text,
  status_queried_at timestamptz,
  status_attestation text,
  amount_reversed_minor bigint NOT NULL DEFAULT 0,
  created_by text COLLATE "C",
  api_key_id text COLLATE "C",
  request_id text COLLATE "C",
  request_attestation text,
  approvals_required integer CHECK (approvals_required BETWEEN 1 AND 2),
  decided_by text COLLATE "C",
  rejection_reason text CHECK (length(rejection_reason) BETWEEN 1 AND 200),
  release_attestation text CHECK (release_attestation ~ '^[A-Za-z0-9_-]{43}$'),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz,
  send_deadline_at timestamptz,
  send_begun_at timestamptz,
  send_repeated_at timestamptz,
  send_generation integer NOT NULL DEFAULT 1,
  sends_once boolean NOT NULL DEFAULT false,
  sends_taken_back integer NOT NULL DEFAULT 0,
  take_back_attestation text,
  prompt_expires_at timestamptz,
  accepted_at timestamptz,
  not_found_count integer NOT NULL DEFAULT 0,
  not_found_since timestamptz,
  not_found_last_at timestamptz,
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT payments_transition FOREIGN KEY (kind, previous_state, state) REFERENCES payment_transitions,
  CONSTRAINT payments_id_of_kind CHECK (left(id, 3) = left(kind, 3)),
  CONSTRAINT payments_columns_of_collections CHECK (kind <> 'collection' OR (
    num_nulls(idempotency_key, metadata, send_deadline_at) = 0 AND not_found_count = 0 AND num_nonnulls(
      collection_id, payee_name, approvals_required, request_attestation, release_attestation, expires_at, accepted_at,
      not_found_last_at, status_kind, status_queried_at) = 0)),
  CONSTRAINT payments_columns_of_payouts CHECK (kind <> 'payout' OR (
    num_nulls(idempotency_key, metadata, created_by, approvals_required, expires_at) = 0
    AND num_nonnulls(collection_id, prompt_expires_at, status_kind, status_queried_at) = 0)),
  CONSTRAINT payments_columns_of_refunds CHECK (kind <> 'reversal' OR (
    num_nulls(collection_id, created_by, approvals_required, expires_at) = 0
    AND num_nonnulls(idempotency_key, api_key_id, description, metadata, payee_name, prompt_expires_at) = 0)),
  CONSTRAINT payments_created_by_one CHECK (kind <> 'collection' OR created_by IS NULL OR api_key_id IS NULL),
  CONSTRAINT payments_created_in_first_state CHECK (
    (state = CASE kind WHEN 'collection' THEN 'initiated' ELSE 'queued' END) = (version = 0)
    AND (version = 0) = (previous_state IS NULL)),
  CONSTRAINT payments_prompt_expiry CHECK (state <> 'prompted' OR prompt_expires_at IS NOT NULL),
  CONSTRAINT payments_failure CHECK (
    (state = 'failed' OR kind = 'collection' AND state = 'expired') = (failure_code IS NOT NULL)),
  CONSTRAINT payments_failed_by CHECK (failed_by IS NULL OR kind <> 'collection' AND state = 'failed'),
  CONSTRAINT payments_never_sent CHECK (
    send_begun_at IS NULL OR coalesce(failure_code, '') <> 'service_unavailable' AND coalesce(failed_by, '') <> 'never_sent'),
  CONSTRAINT payments_already_returned CHECK (
    failure_code <> 'already_returned' OR kind = 'reversal' AND send_begun_at IS NULL),
  CONSTRAINT payments_receipt CHECK (CASE WHEN kind <> 'reversal' AND state IN ('succeeded', 'reversed')
    THEN operator_receipt IS NOT NULL OR receipt_follows ELSE operator_receipt IS NULL END),
  CONSTRAINT payments_reversed_amount CHECK (
    amount_reversed_minor = CASE state WHEN 'reversed' THEN amount_minor ELSE 0 END),
  CONSTRAINT payments_rejection CHECK ((state = 'rejected') = (rejection_reason IS NOT NULL)),
  CONSTRAINT payments_decided CHECK ((state IN ('rejected', 'cancelled')) = (decided_by IS NOT NULL)),
  CONSTRAINT payments_cancelled_by_maker CHECK (state <> 'cancelled' OR decided_by = created_by),
  CONSTRAINT payments_cancelled_unsent CHECK (state <> 'cancelled' OR send_begun_at IS NULL),
  CONSTRAINT payments_send_deadline CHECK (kind = 'collection'
    OR (state IN ('queued', 'rejected', 'expired') OR state = 'cancelled' AND previous_state <> 'released')
      = (send_deadline_at IS NULL)),
  CONSTRAINT payments_attested CHECK ((kind = 'reversal' AND state = 'failed') = (status_attestation IS NOT NULL))
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE payments IS
  'A collection, a payout, or the refund of a whole collection. Each statement that writes a row reads all its checks first, so they '
  'are short; what needs lists of values is a trigger.';
COMMENT ON COLUMN payments.kind IS '`reversal`: the refund of a collection.';
COMMENT ON COLUMN payments.collection_id IS
  'The collection that a refund gives back. Merchant, amount, currency, operator, phone and reference of the refund are those of '
  'the collection, so that a query about the refund reads no second row.';
COMMENT ON COLUMN payments.idempotency_key IS 'Null for a refund: the collection itself allows one at a time.';
COMMENT ON COLUMN payments.payee_name IS 'The name of the payee of a payout as its maker typed it.';
COMMENT ON COLUMN payments.failed_by IS 'What made a payout or refund fail.';
COMMENT ON COLUMN payments.status_kind IS
  'What the operator said of a refund that failed. A refund that failed no longer reserves its money.';
COMMENT ON COLUMN payments.status_attestation IS 'Attests the failure of a refund with the status of the operator.';
COMMENT ON COLUMN payments.created_by IS
  'The person who requested the payment in a session. A payout always has its maker here: if an API key requested it, the person '
  'who created the key.';
COMMENT ON COLUMN payments.api_key_id IS
  'The API key that requested it. A foreign key would lock the row of the key for each collection, so a trigger checks it; keys '
  'are never deleted.';
COMMENT ON COLUMN payments.request_id IS 'The request that created the payment.';
COMMENT ON COLUMN payments.request_attestation IS
  'Made by the process that records the request. Nobody approves a payout or refund whose row is not as it was requested.';
COMMENT ON COLUMN payments.release_attestation IS 'Made by the process that records the release. It changes with the release alone.';
COMMENT ON COLUMN payments.expires_at IS 'A payout or refund that is not released by then expires.';
COMMENT ON COLUMN payments.send_deadline_at IS
  'Nothing is sent to the operator after this time. A collection has it from its creation, a payout or refund from its release.';
COMMENT ON COLUMN payments.send_begun_at IS 'When the first try to send it began, whatever the try led to.';
COMMENT ON COLUMN payments.send_repeated_at IS 'When the second try to send it began.';
COMMENT ON COLUMN payments.send_generation IS
  'Which generation the columns about the send, the acceptance and the issued id are of. It counts up when the operator refused a payout '
  'for our float: see `send_generations`.';
COMMENT ON COLUMN payments.sends_once IS
  'Whether a repeated send might pay twice, as the catalogue says of the product (`Capabilities`). It never changes.';
COMMENT ON COLUMN payments.sends_taken_back IS
  'How many sends were taken back, because the operator answered that it did nothing with them. None of them is the send that '
  'began.';
COMMENT ON COLUMN payments.take_back_attestation IS
  'Attests the last send that was taken back, with its number. Nothing is sent again without it.';
COMMENT ON COLUMN payments.receipt_follows IS
  'Whether the statuses of the operator name no receipt, so that it is recorded, once, after the payment. It never changes.';
COMMENT ON COLUMN payments.operator_issued_id IS
  'The id that the operator issued when it accepted the payment. Some operators find a payment by it alone.';
COMMENT ON COLUMN payments.prompt_expires_at IS 'When the prompt on the phone of the payer ends.';
COMMENT ON COLUMN payments.accepted_at IS 'When the operator first said that it has the payout or refund.';
COMMENT ON COLUMN payments.not_found_count IS
  'How many statuses in a row said that the operator does not know the payment. Those count that came after the send deadline.';
COMMENT ON COLUMN payments.not_found_since IS 'The time of the first status that was counted.';
COMMENT ON COLUMN payments.not_found_last_at IS
  'The time of the last status that was counted, or that made the count begin again.';

-- Ids sort by creation, so each list that the API offers is one index range at any depth.
CREATE INDEX payments_list ON payments (merchant_id, kind, id DESC);
CREATE INDEX payments_list_by_state ON payments (merchant_id, kind, state, id DESC);
CREATE INDEX payments_list_by_phone ON payments (merchant_id, kind, phone, id DESC);
CREATE INDEX payments_list_by_amount ON payments (merchant_id, kind, amount_minor, id);
CREATE INDEX payments_list_by_person ON payments (merchant_id, kind, created_by, id DESC) WHERE created_by IS NOT NULL;
CREATE INDEX payments_list_by_api_key ON payments (merchant_id, kind, api_key_id, id DESC) WHERE api_key_id IS NOT NULL;
-- Finds a reference by its beginning, in capitals or not.
CREATE INDEX payments_list_by_reference ON payments (merchant_id, kind, lower(reference) text_pattern_ops, id DESC);
-- A hash takes 40 bytes of the index instead of 180. The keys of merchants are random, so a new payment goes to any place of
-- the index, and each part of the index that is not in memory is read from the disk while somebody waits. In lower case,
-- because people search without regard to case.
CREATE INDEX payments_by_idempotency_key ON payments USING hash (lower(idempotency_key));
-- A receipt of an operator pays one payment of a kind. Collections and payouts are not compared: the products of an operator
-- may number their transactions separately.
CREATE UNIQUE INDEX payments_one_per_receipt ON payments (operator, kind, operator_receipt) WHERE operator_receipt IS NOT NULL;
-- An id that an operator issued names one payment.
CREATE UNIQUE INDEX payments_one_per_issued_id ON payments (operator, operator_issued_id)
  WHERE operator_issued_id IS NOT NULL;
-- Of a collection that is sent once, payer and statement show the first 48 random bits of the reference (ten characters).
CREATE UNIQUE INDEX payments_one_per_short_reference ON payments (operator, left(operator_reference::text, 13))
  WHERE sends_once AND kind = 'collection';
-- The id of the workflow consists of merchant and key: while one payout is pending, no second payout may use its id.
CREATE UNIQUE INDEX payments_one_payout_pending_per_key ON payments (merchant_id, idempotency_key)
  WHERE kind = 'payout' AND state IN ('queued', 'released', 'reconciling');
CREATE UNIQUE INDEX payments_one_refund_at_a_time ON payments (collection_id)
  WHERE collection_id IS NOT NULL AND state NOT IN ('failed', 'rejected', 'cancelled', 'expired');
-- The latest refund of a collection, which every page of a collection shows.
CREATE INDEX payments_refunds_of_collection ON payments (collection_id, id DESC) WHERE collection_id IS NOT NULL;
CREATE INDEX payments_refunds_pending ON payments (merchant_id)
  WHERE kind = 'reversal' AND state IN ('queued', 'released', 'reconciling');
-- What an approver is shown of earlier payouts: those that are paid or on their way.
CREATE INDEX payments_payouts_sent_by_phone ON payments (merchant_id, phone, id DESC)
  WHERE kind = 'payout' AND state IN ('released', 'reconciling', 'succeeded', 'reversed');
CREATE INDEX payments_payouts_sent_by_reference ON payments (merchant_id, reference, id DESC)
  WHERE kind = 'payout' AND state IN ('released', 'reconciling', 'succeeded', 'reversed');
-- The oldest payment in each state that something is awaited in.
CREATE INDEX payments_unfinished ON payments (kind, state, updated_at)
  WHERE state IN ('initiated', 'prompted', 'queued', 'released', 'reconciling');

CREATE TRIGGER payments_kept BEFORE DELETE OR TRUNCATE ON payments
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER payments_kept ON payments IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION refuse_requested_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the requested fields of payments cannot change' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payments_requested_kept
  BEFORE UPDATE OF id, kind, merchant_id, collection_id, idempotency_key, amount_minor, currency, reference, phone, operator,
    operator_reference, description, metadata, payee_name, created_by, api_key_id, request_id, created_at, expires_at,
    sends_once, receipt_follows ON payments
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_requested_change();
COMMENT ON TRIGGER payments_requested_kept ON payments IS
  'Refuses to change what was requested. It runs once a statement, and no statement of the service updates these columns.';

CREATE FUNCTION check_new_payment() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  first_state text := CASE NEW.kind WHEN 'collection' THEN 'initiated' ELSE 'queued' END;
BEGIN
  IF NEW.state <> first_state THEN
    RAISE EXCEPTION '% % must be created in state %', NEW.kind, NEW.id, first_state USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'collection' THEN
    RETURN NEW;
  END IF;
  PERFORM require_fence();
  IF NEW.release_attestation IS NOT NULL THEN
    RAISE EXCEPTION 'a release of % has an attestation, which changes with the release alone', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.request_attestation IS NULL THEN
    RAISE EXCEPTION 'the request of % has an attestation, which changes with the approvals that it needs alone', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.not_found_count <> 0 OR num_nonnulls(NEW.not_found_since, NEW.not_found_last_at, NEW.status_kind, NEW.status_queried_at) > 0
  THEN
    RAISE EXCEPTION 'no operator said anything of the new % %', NEW.kind, NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' AND NOT EXISTS (
       SELECT 1 FROM payments c WHERE c.id = NEW.collection_id AND c.kind = 'collection'
         AND (c.merchant_id, c.amount_minor, c.currency, c.operator, c.phone, c.reference)
           = (NEW.merchant_id, NEW.amount_minor, NEW.currency, NEW.operator, NEW.phone, NEW.reference)) THEN
    RAISE EXCEPTION 'reversal % is not of its whole collection, or the collection belongs to another merchant', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  PERFORM check_two_owners(NEW.merchant_id);
  IF NEW.api_key_id IS NULL THEN
    PERFORM check_waited(NEW.merchant_id, NEW.created_by, NEW.created_at);
  -- The servers of the merchant go on with the keys that they had before: nobody learns such a key by a recovery.
  ELSIF EXISTS (SELECT 1 FROM api_keys k JOIN users u ON u.id = NEW.created_by
      WHERE k.id = NEW.api_key_id AND k.created_at >= u.recovered_at
        AND u.recovered_at + waiting_time(NEW.merchant_id) > least(NEW.created_at, clock_timestamp())) THEN
    RAISE EXCEPTION 'a key of a recovered account creates no payouts yet'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_by_recovered_key';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payments_check_new BEFORE INSERT ON payments
  FOR EACH ROW WHEN (NEW.kind <> 'collection' OR NEW.state <> 'initiated') EXECUTE FUNCTION check_new_payment();
COMMENT ON TRIGGER payments_check_new ON payments IS
  'Refuses a new payment in another state than the first of its kind. Refuses a payout or refund that has no attestation of its '
  'request, has one of a release or a status of the operator, a refund that is not of a whole collection of its merchant, and money out while a live merchant '
  'has fewer than two owners with a second factor, of a person or a key in their waiting time, or without a fresh fence.';
