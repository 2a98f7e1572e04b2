-- Payments: idempotency keys, collections, payouts with their approvals, and reversals.
--
-- Rules that the database itself enforces here:
-- - A payment starts in its first state and moves only along the transition tables. Each move counts up the version and
--   names the state it left.
-- - What was requested never changes, and an outcome changes only together with the state.
-- - A payout is released only with the approvals that it needs, from people who may approve at that moment and did not
--   create it.
-- - No payment is ever deleted.
-- The ledger's rules are in 0003-ledger.sql, and the rules that join payments, transfers and events at commit in
-- 0004-events-and-webhooks.sql.

-- Idempotency keys

-- The stored response of a request that moves money: a repeat of the request gets the same response and acts once.
CREATE TABLE idempotency_keys (
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  key text COLLATE "C" NOT NULL CHECK (key ~ '^[\x21-\x7e]{1,255}$'),
  request_sha256 bytea NOT NULL CHECK (length(request_sha256) = 32),
  response_status integer NOT NULL CHECK (response_status IN (200, 202, 402)),
  response_body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Collections

-- The transitions of src/domain/payments/collection.ts, for the database's own check. A test holds the two equal.
CREATE TABLE collection_transitions (
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (from_state, to_state)
);
INSERT INTO collection_transitions (from_state, to_state) VALUES
  ('initiated', 'prompted'), ('initiated', 'reconciling'), ('initiated', 'failed'), ('initiated', 'expired'),
  ('prompted', 'reconciling'), ('prompted', 'succeeded'), ('prompted', 'failed'), ('prompted', 'expired'),
  ('reconciling', 'succeeded'), ('reconciling', 'failed'), ('reconciling', 'expired'),
  ('succeeded', 'reversed'),
  ('expired', 'succeeded');

CREATE TABLE collections (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^col_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
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
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  prompt_deadline_at timestamptz NOT NULL,
  prompt_expires_at timestamptz,
  -- When the sweep checks it next, unless a workflow moves it before. Null when nothing more can happen.
  check_due_at timestamptz,
  -- Null until a workflow is known to have been started for it.
  workflow_started_at timestamptz,
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
    amount_reversed_minor = CASE state WHEN 'reversed' THEN amount_minor ELSE 0 END)
);
-- Ids sort by creation, so each list that the API offers is one index range at any depth.
CREATE INDEX collections_list ON collections (merchant_id, id DESC);
CREATE INDEX collections_list_by_state ON collections (merchant_id, state, id DESC);
CREATE INDEX collections_list_by_reference ON collections (merchant_id, reference, id DESC);
CREATE INDEX collections_list_by_phone ON collections (merchant_id, phone, id DESC);
CREATE INDEX collections_not_started ON collections (id) WHERE workflow_started_at IS NULL;
CREATE INDEX collections_check_due ON collections (check_due_at) WHERE check_due_at IS NOT NULL;
CREATE TRIGGER collections_kept BEFORE DELETE OR TRUNCATE ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_collection_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'initiated' THEN
    RAISE EXCEPTION 'collection % must be created in state initiated', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_check_created BEFORE INSERT ON collections
  FOR EACH ROW EXECUTE FUNCTION check_collection_created();

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

-- Payouts: the money is held at creation, sent only after a second person released it, and given back when it is not
-- sent.

-- The transitions of src/domain/payments/payout.ts, for the database's own check. A test holds the two equal.
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
  -- The maker: the person who requested the payout in a session, or who created the API key that requested it.
  created_by text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" REFERENCES api_keys,
  approvals_required integer NOT NULL CHECK (approvals_required BETWEEN 1 AND 2),
  decided_by text COLLATE "C",
  rejection_reason text CHECK (length(rejection_reason) BETWEEN 1 AND 200),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Nothing is sent to the operator after this time. Set by the release.
  send_deadline_at timestamptz,
  -- When the first try to send it began, whatever the try led to.
  send_begun_at timestamptz,
  -- When the operator first said that it has the payout.
  accepted_at timestamptz,
  check_due_at timestamptz,
  workflow_started_at timestamptz,
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (previous_state, state) REFERENCES payout_transitions (from_state, to_state),
  CONSTRAINT payouts_known_state CHECK (state IN (
    'queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired', 'reversed')),
  CONSTRAINT payouts_created_queued CHECK (
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
-- The workflow's id consists of merchant and key: while one payout is pending, no second payout may use its id.
CREATE UNIQUE INDEX payouts_one_pending_per_key ON payouts (merchant_id, idempotency_key)
  WHERE state IN ('queued', 'released', 'reconciling');
CREATE TRIGGER payouts_kept BEFORE DELETE OR TRUNCATE ON payouts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- One row per person who approved.
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
  -- The lock keeps approvals out while a decision on the payout is under way.
  SELECT * INTO STRICT payout FROM payouts WHERE id = NEW.payout_id FOR NO KEY UPDATE;
  IF payout.state <> 'queued' OR payout.merchant_id <> NEW.merchant_id OR NEW.approved_at >= payout.expires_at THEN
    RAISE EXCEPTION 'payout % is not queued, has expired or belongs to another merchant than the approval', payout.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_while_queued';
  END IF;
  IF payout.created_by = NEW.user_id THEN
    RAISE EXCEPTION 'payout % cannot be approved by the person who created it', payout.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_another';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'payout % can be approved only by an owner or an approver of its merchant', payout.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_approvers';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payout_approvals_check BEFORE INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_payout_approval();

CREATE FUNCTION check_payout_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'queued' THEN
      RAISE EXCEPTION 'payout % must be created in state queued', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.api_key_id IS NOT NULL
       AND EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.api_key_id AND merchant_id <> NEW.merchant_id) THEN
      RAISE EXCEPTION 'payout % was created with an API key of another merchant', NEW.id
        USING ERRCODE = 'restrict_violation';
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
    RAISE EXCEPTION 'the requested fields of payout % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.send_begun_at IS NOT NULL AND NEW.send_begun_at IS NULL
     OR OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL THEN
    RAISE EXCEPTION 'send_begun_at and accepted_at of payout % cannot be cleared', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION 'payout % cannot need fewer approvals than before', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt, NEW.decided_by, NEW.rejection_reason,
        NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt, OLD.decided_by,
        OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of payout % can change only together with its state', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a new state of payout % must count up version and set previous_state to the old state', OLD.id
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

-- Reversals: the operator's refund of a whole collection, requested by an approver. The collection itself becomes
-- `reversed` only when the operator confirms the refund.

-- The transitions of src/domain/payments/reversal.ts, for the database's own check. A test holds the two equal.
CREATE TABLE reversal_transitions (
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (from_state, to_state)
);
INSERT INTO reversal_transitions (from_state, to_state) VALUES
  ('requested', 'reconciling'), ('requested', 'succeeded'), ('requested', 'failed'),
  ('reconciling', 'succeeded'), ('reconciling', 'failed');

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
-- A collection has one reversal that is pending or succeeded at most. Another reversal may follow one that failed.
CREATE UNIQUE INDEX reversals_one_at_a_time ON reversals (collection_id) WHERE state <> 'failed';
CREATE INDEX reversals_pending ON reversals (merchant_id) WHERE state IN ('requested', 'reconciling');
CREATE INDEX reversals_not_started ON reversals (id) WHERE workflow_started_at IS NULL;
CREATE INDEX reversals_check_due ON reversals (check_due_at) WHERE check_due_at IS NOT NULL;
CREATE TRIGGER reversals_kept BEFORE DELETE OR TRUNCATE ON reversals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_reversal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'requested' THEN
      RAISE EXCEPTION 'reversal % must be created in state requested', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.collection_id, NEW.operator_reference, NEW.requested_by, NEW.created_at,
      NEW.send_deadline_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.collection_id, OLD.operator_reference, OLD.requested_by, OLD.created_at,
      OLD.send_deadline_at) THEN
    RAISE EXCEPTION 'the requested fields of reversal % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state <> OLD.state
     AND NOT EXISTS (SELECT 1 FROM reversal_transitions WHERE from_state = OLD.state AND to_state = NEW.state) THEN
    RAISE EXCEPTION 'reversal % cannot move from % to %', OLD.id, OLD.state, NEW.state
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversals_check_change BEFORE INSERT OR UPDATE ON reversals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_change();

-- A foreign key over (id, merchant_id) would say the same, at the price of one more index on collections.
CREATE FUNCTION check_reversal_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'reversal % belongs to another merchant than its collection', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER reversals_check_created AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_created();

-- At commit: a reversal that succeeded has reversed its collection.
CREATE FUNCTION check_reversal_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'reversal % succeeded but its collection is not reversed', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER reversals_check_recorded AFTER UPDATE OF state ON reversals
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'succeeded') EXECUTE FUNCTION check_reversal_recorded();
