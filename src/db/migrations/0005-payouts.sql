-- Payouts: money held at once, sent only after a second person released it, and given back when it is not sent.

ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_response_status_check;
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_response_status_check
  CHECK (response_status IN (200, 202, 402));

-- The transition table of src/domain/payments/payout.ts, for the database's own check; a test holds the two equal.
CREATE TABLE payout_transitions (
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (from_state, to_state)
);
INSERT INTO payout_transitions (from_state, to_state) VALUES
  ('queued', 'released'), ('queued', 'rejected'), ('queued', 'cancelled'), ('queued', 'expired'),
  ('released', 'succeeded'), ('released', 'failed'), ('released', 'reconciling'),
  ('reconciling', 'succeeded'), ('reconciling', 'failed'),
  ('succeeded', 'reversed');

CREATE TABLE payouts (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^pay_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  state text NOT NULL,
  previous_state text,
  version integer NOT NULL DEFAULT 0,
  amount_minor bigint NOT NULL CHECK (amount_minor BETWEEN 1 AND 9007199254740991),
  currency text NOT NULL,
  reference text NOT NULL CHECK (length(reference) BETWEEN 1 AND 100),
  phone text NOT NULL CHECK (phone ~ '^[1-9][0-9]{7,14}$'),
  operator text NOT NULL,
  operator_reference uuid NOT NULL UNIQUE,
  operator_receipt text CHECK (length(operator_receipt) BETWEEN 1 AND 200),
  description text CHECK (length(description) BETWEEN 1 AND 120),
  metadata json NOT NULL CHECK (json_typeof(metadata) = 'object'),
  failure_code text,
  amount_reversed_minor bigint NOT NULL DEFAULT 0,
  -- The person: who asked in a session, or who made the key that asked.
  created_by text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" REFERENCES api_keys,
  approvals_required integer NOT NULL CHECK (approvals_required BETWEEN 1 AND 2),
  decided_by text COLLATE "C",
  rejection_reason text CHECK (length(rejection_reason) BETWEEN 1 AND 200),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- After it nothing is sent to the operator any more. Known from the release on.
  send_deadline_at timestamptz,
  -- When the first try to send it began, whatever came of it, and when the operator first said that it has it.
  send_begun_at timestamptz,
  accepted_at timestamptz,
  check_due_at timestamptz,
  workflow_started_at timestamptz,
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (previous_state, state) REFERENCES payout_transitions (from_state, to_state),
  CONSTRAINT payouts_known_state CHECK (state IN (
    'queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired', 'reversed')),
  CONSTRAINT payouts_made_queued CHECK (
    (state = 'queued') = (version = 0) AND (state = 'queued') = (previous_state IS NULL)),
  CONSTRAINT payouts_failure CHECK ((state = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT payouts_receipt CHECK ((state IN ('succeeded', 'reversed')) = (operator_receipt IS NOT NULL)),
  CONSTRAINT payouts_rejection CHECK ((state = 'rejected') = (rejection_reason IS NOT NULL)),
  CONSTRAINT payouts_decided CHECK ((state IN ('rejected', 'cancelled')) = (decided_by IS NOT NULL)),
  CONSTRAINT payouts_cancelled_by_maker CHECK (state <> 'cancelled' OR decided_by = created_by),
  CONSTRAINT payouts_send_deadline CHECK (
    (state IN ('queued', 'rejected', 'cancelled', 'expired')) = (send_deadline_at IS NULL)),
  CONSTRAINT payouts_reversed_amount CHECK (
    amount_reversed_minor = CASE state WHEN 'reversed' THEN amount_minor ELSE 0 END)
);
CREATE INDEX payouts_list ON payouts (merchant_id, id DESC);
CREATE INDEX payouts_list_by_state ON payouts (merchant_id, state, id DESC);
CREATE INDEX payouts_list_by_reference ON payouts (merchant_id, reference, id DESC);
CREATE INDEX payouts_list_by_phone ON payouts (merchant_id, phone, id DESC);
CREATE INDEX payouts_not_started ON payouts (id) WHERE workflow_started_at IS NULL;
CREATE INDEX payouts_check_due ON payouts (check_due_at) WHERE check_due_at IS NOT NULL;
-- A workflow is named for merchant and key: while one payout's is open, no second may take the name.
CREATE UNIQUE INDEX payouts_one_open_per_key ON payouts (merchant_id, idempotency_key)
  WHERE state IN ('queued', 'released', 'reconciling');
CREATE TRIGGER payouts_kept BEFORE DELETE OR TRUNCATE ON payouts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- One row per person who agreed. The maker is never among them, whatever code runs.
CREATE TABLE payout_approvals (
  payout_id text COLLATE "C" NOT NULL REFERENCES payouts,
  user_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  approved_at timestamptz NOT NULL,
  PRIMARY KEY (payout_id, user_id),
  FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
CREATE INDEX payout_approvals_by_person ON payout_approvals (merchant_id, user_id, approved_at);
CREATE TRIGGER payout_approvals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_payout_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  payout payouts%ROWTYPE;
BEGIN
  -- Locked, so that no approval slips in beside a decision.
  SELECT * INTO STRICT payout FROM payouts WHERE id = NEW.payout_id FOR NO KEY UPDATE;
  IF payout.state <> 'queued' OR payout.merchant_id <> NEW.merchant_id OR NEW.approved_at >= payout.expires_at THEN
    RAISE EXCEPTION 'payout % is not open to approval', payout.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF payout.created_by = NEW.user_id THEN
    RAISE EXCEPTION 'payout % cannot be approved by who made it', payout.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'payout % can be approved by an approver only', payout.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payout_approvals_check BEFORE INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_payout_approval();

CREATE FUNCTION check_payout_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'queued' THEN
      RAISE EXCEPTION 'payout % must begin as queued', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.api_key_id IS NOT NULL
       AND EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.api_key_id AND merchant_id <> NEW.merchant_id) THEN
      RAISE EXCEPTION 'payout % was made with the key of another merchant', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.idempotency_key, NEW.amount_minor, NEW.currency, NEW.reference, NEW.phone,
      NEW.operator, NEW.operator_reference, NEW.description, NEW.metadata::text, NEW.created_by, NEW.api_key_id,
      NEW.created_at, NEW.expires_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.idempotency_key, OLD.amount_minor, OLD.currency, OLD.reference, OLD.phone,
      OLD.operator, OLD.operator_reference, OLD.description, OLD.metadata::text, OLD.created_by, OLD.api_key_id,
      OLD.created_at, OLD.expires_at) THEN
    RAISE EXCEPTION 'what was asked for with payout % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.send_begun_at IS NOT NULL AND NEW.send_begun_at IS NULL OR OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL THEN
    RAISE EXCEPTION 'that payout % was sent cannot be forgotten', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION 'payout % cannot need fewer approvals than before', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt, NEW.decided_by, NEW.rejection_reason,
        NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt, OLD.decided_by,
        OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'payout % can change its outcome only with its state', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'payout % must count its state changes and name the state it left', OLD.id
      USING ERRCODE = 'restrict_violation';
  ELSIF NEW.state = 'released' AND NEW.approvals_required >
      (SELECT count(*) FROM payout_approvals a
       JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
       WHERE a.payout_id = NEW.id AND m.removed_at IS NULL AND m.roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'payout % lacks approvals', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_check_change BEFORE INSERT OR UPDATE ON payouts
  FOR EACH ROW EXECUTE FUNCTION check_payout_change();

-- A payout's approvals and reason come on top of all that a merchant may send along.
ALTER TABLE events DROP CONSTRAINT events_body_check;
ALTER TABLE events ADD CONSTRAINT events_body_check CHECK (octet_length(body) <= 262144);

-- The ledger learns payouts and what operators give back.
ALTER TABLE ledger_transfers ADD COLUMN payout_id text COLLATE "C" REFERENCES payouts;
ALTER TABLE ledger_transfers DROP CONSTRAINT ledger_transfers_kind_check;
ALTER TABLE ledger_transfers ADD CONSTRAINT ledger_transfers_kind_check CHECK (kind IN (
  'collection_paid', 'collection_reversed', 'payout_held', 'payout_voided', 'payout_paid', 'payout_returned'));
ALTER TABLE ledger_transfers ADD CONSTRAINT ledger_transfers_of_a_payout
  CHECK ((kind LIKE 'payout\_%') = (payout_id IS NOT NULL));
ALTER TABLE ledger_transfers ADD CONSTRAINT ledger_transfers_once_per_payout UNIQUE (payout_id, kind);

CREATE OR REPLACE FUNCTION check_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  amount bigint;
  paid_in text;
  merchant text;
  state_now text;
  operator_account text;
  is_right boolean;
BEGIN
  IF NEW.collection_id IS NOT NULL THEN
    SELECT amount_minor, currency, merchant_id, state, 'operator/' || operator || '/' || currency
      INTO STRICT amount, paid_in, merchant, state_now, operator_account FROM collections WHERE id = NEW.collection_id;
  ELSE
    SELECT amount_minor, currency, merchant_id, state, 'operator/' || operator || '/' || currency
      INTO STRICT amount, paid_in, merchant, state_now, operator_account FROM payouts WHERE id = NEW.payout_id;
  END IF;
  is_right := NEW.amount_minor = amount AND NEW.currency = paid_in AND CASE NEW.kind
    WHEN 'collection_paid' THEN state_now = 'succeeded'
      AND NEW.debit_account_id = operator_account AND NEW.credit_account_id = merchant || '/available'
    WHEN 'collection_reversed' THEN state_now = 'reversed'
      AND NEW.debit_account_id = merchant || '/available' AND NEW.credit_account_id = operator_account
    WHEN 'payout_held' THEN state_now = 'queued'
      AND NEW.debit_account_id = merchant || '/available' AND NEW.credit_account_id = merchant || '/held'
    WHEN 'payout_voided' THEN state_now IN ('failed', 'rejected', 'cancelled', 'expired')
      AND NEW.debit_account_id = merchant || '/held' AND NEW.credit_account_id = merchant || '/available'
    WHEN 'payout_paid' THEN state_now = 'succeeded'
      AND NEW.debit_account_id = merchant || '/held' AND NEW.credit_account_id = operator_account
    WHEN 'payout_returned' THEN state_now = 'reversed'
      AND NEW.debit_account_id = operator_account AND NEW.credit_account_id = merchant || '/available'
    ELSE false END;
  IF NOT is_right THEN
    RAISE EXCEPTION 'transfer % does not pay % as it stands', NEW.kind, coalesce(NEW.collection_id, NEW.payout_id)
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- Nothing may be held that is not there. A reversal may make a debt; a payout may not.
CREATE FUNCTION check_held_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT balance_minor FROM ledger_accounts WHERE id = NEW.debit_account_id) < 0 THEN
    RAISE EXCEPTION 'payout % is more than what is available', NEW.payout_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
-- Named to fire after the posting: triggers of one moment run in the order of their names.
CREATE TRIGGER ledger_transfers_post_held AFTER INSERT ON ledger_transfers
  FOR EACH ROW WHEN (NEW.kind = 'payout_held') EXECUTE FUNCTION check_held_transfer();

ALTER TABLE events ADD COLUMN payout_id text COLLATE "C" REFERENCES payouts;
ALTER TABLE events DROP CONSTRAINT events_of_a_collection;
ALTER TABLE events ADD CONSTRAINT events_of_a_resource CHECK (
  (type LIKE 'collection.%') = (collection_id IS NOT NULL)
  AND (type LIKE 'payout.%') = (payout_id IS NOT NULL)
  AND (collection_id IS NULL AND payout_id IS NULL) = (resource_version IS NULL));
ALTER TABLE events ADD CONSTRAINT events_one_per_payout_change UNIQUE (payout_id, resource_version);

CREATE OR REPLACE FUNCTION check_event_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.collection_id IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND merchant_id = NEW.merchant_id)
     OR NEW.payout_id IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM payouts WHERE id = NEW.payout_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'event % is for another merchant than what it tells of', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER events_check_made ON events;
CREATE TRIGGER events_check_made AFTER INSERT ON events
  FOR EACH ROW WHEN (NEW.collection_id IS NOT NULL OR NEW.payout_id IS NOT NULL) EXECUTE FUNCTION check_event_made();

-- At commit: each state has its event and exactly the transfers that its money took.
CREATE FUNCTION check_payout_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kinds text[];
  wanted text[];
BEGIN
  IF NOT EXISTS (SELECT 1 FROM events
      WHERE payout_id = NEW.id AND resource_version = NEW.version AND type = 'payout.' || NEW.state) THEN
    RAISE EXCEPTION 'payout % became % without an event', NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
  END IF;
  SELECT coalesce(array_agg(kind ORDER BY kind), '{}') INTO kinds FROM ledger_transfers WHERE payout_id = NEW.id;
  SELECT CASE state
      WHEN 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
      WHEN 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
      WHEN 'queued' THEN ARRAY['payout_held']
      WHEN 'released' THEN ARRAY['payout_held']
      WHEN 'reconciling' THEN ARRAY['payout_held']
      ELSE ARRAY['payout_held', 'payout_voided'] END
    INTO wanted FROM payouts WHERE id = NEW.id;
  IF kinds <> wanted THEN
    RAISE EXCEPTION 'payout % is % with the transfers %', NEW.id, NEW.state, kinds USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payouts_check_made AFTER INSERT ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_payout_recorded();
CREATE CONSTRAINT TRIGGER payouts_check_recorded AFTER UPDATE OF state ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION check_payout_recorded();

CREATE OR REPLACE FUNCTION check_collection_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Reversals that an approver asked for: the operator's refund of a whole collection. The collection itself becomes
-- `reversed` only when the operator says so.
CREATE TABLE reversals (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rev_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  collection_id text COLLATE "C" NOT NULL REFERENCES collections,
  state text NOT NULL CHECK (state IN ('requested', 'reconciling', 'succeeded', 'failed')),
  operator_reference uuid NOT NULL UNIQUE,
  failure_code text,
  requested_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  send_deadline_at timestamptz NOT NULL,
  send_begun_at timestamptz,
  accepted_at timestamptz,
  check_due_at timestamptz,
  workflow_started_at timestamptz,
  FOREIGN KEY (merchant_id, requested_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT reversals_failure CHECK ((state = 'failed') = (failure_code IS NOT NULL))
);
-- A second refund of the same money waits for the end of the first, and never follows one that succeeded.
CREATE UNIQUE INDEX reversals_one_at_a_time ON reversals (collection_id) WHERE state <> 'failed';
CREATE INDEX reversals_open ON reversals (merchant_id) WHERE state IN ('requested', 'reconciling');
CREATE INDEX reversals_not_started ON reversals (id) WHERE workflow_started_at IS NULL;
CREATE INDEX reversals_check_due ON reversals (check_due_at) WHERE check_due_at IS NOT NULL;
CREATE TRIGGER reversals_kept BEFORE DELETE OR TRUNCATE ON reversals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_reversal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'requested' THEN
      RAISE EXCEPTION 'reversal % must begin as requested', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.collection_id, NEW.operator_reference, NEW.requested_by, NEW.created_at,
      NEW.send_deadline_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.collection_id, OLD.operator_reference, OLD.requested_by, OLD.created_at,
      OLD.send_deadline_at) THEN
    RAISE EXCEPTION 'what was asked for with reversal % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state IN ('succeeded', 'failed') AND NEW.state <> OLD.state THEN
    RAISE EXCEPTION 'reversal % has ended', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversals_check_change BEFORE INSERT OR UPDATE ON reversals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_change();

CREATE FUNCTION check_reversal_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'reversal % is for another merchant than its collection', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER reversals_check_made AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_made();

CREATE FUNCTION check_reversal_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'reversal % succeeded and its collection is not reversed', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER reversals_check_recorded AFTER UPDATE OF state ON reversals
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'succeeded') EXECUTE FUNCTION check_reversal_recorded();

ALTER TABLE operator_callbacks ALTER COLUMN collection_id DROP NOT NULL;
ALTER TABLE operator_callbacks ADD COLUMN payout_id text COLLATE "C" REFERENCES payouts;
ALTER TABLE operator_callbacks ADD COLUMN reversal_id text COLLATE "C" REFERENCES reversals;
ALTER TABLE operator_callbacks ADD CONSTRAINT operator_callbacks_of_one
  CHECK (num_nonnulls(collection_id, payout_id, reversal_id) = 1);
CREATE INDEX operator_callbacks_payout ON operator_callbacks (payout_id, id) WHERE payout_id IS NOT NULL;
CREATE INDEX operator_callbacks_reversal ON operator_callbacks (reversal_id, id) WHERE reversal_id IS NOT NULL;
