-- Merchants, keys, collections, the ledger and events. Rows that would be wrong cannot be written: every rule that money
-- depends on stands here as a constraint or a trigger, below all code.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TABLE merchants (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz NOT NULL,
  UNIQUE (id, currency)
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^key_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  environment text NOT NULL CHECK (environment IN ('test', 'live')),
  hint text NOT NULL CHECK (length(hint) = 4),
  key_sha256 bytea NOT NULL UNIQUE CHECK (length(key_sha256) = 32),
  scopes text[] NOT NULL CHECK (
    cardinality(scopes) > 0
    AND scopes <@ ARRAY['collections:read', 'collections:write', 'payouts:read', 'payouts:write', 'balance:read']
  ),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_merchant ON api_keys (merchant_id, id DESC);

-- The answer to a money-moving request, kept so that the same request is answered the same way and acts once.
CREATE TABLE idempotency_keys (
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  key text COLLATE "C" NOT NULL CHECK (key ~ '^[\x21-\x7e]{1,255}$'),
  request_sha256 bytea NOT NULL CHECK (length(request_sha256) = 32),
  response_status integer NOT NULL CHECK (response_status IN (202, 402)),
  response_body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- The transition table of src/domain/payments/collection.ts, for the database's own check; a test holds the two equal.
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
  -- When the sweep looks at it again, should no workflow have moved it by then. Null when nothing more can happen.
  check_due_at timestamptz,
  -- Null until a workflow is known to have been started for it.
  workflow_started_at timestamptz,
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  FOREIGN KEY (previous_state, state) REFERENCES collection_transitions (from_state, to_state),
  CONSTRAINT collections_known_state CHECK (
    state IN ('initiated', 'prompted', 'reconciling', 'succeeded', 'failed', 'expired', 'reversed')),
  CONSTRAINT collections_made_initiated CHECK (
    (state = 'initiated') = (version = 0) AND (state = 'initiated') = (previous_state IS NULL)),
  CONSTRAINT collections_prompt_expiry CHECK (state <> 'prompted' OR prompt_expires_at IS NOT NULL),
  CONSTRAINT collections_failure CHECK ((state IN ('failed', 'expired')) = (failure_code IS NOT NULL)),
  CONSTRAINT collections_receipt CHECK ((state IN ('succeeded', 'reversed')) = (operator_receipt IS NOT NULL)),
  CONSTRAINT collections_reversed_amount CHECK (
    amount_reversed_minor = CASE state WHEN 'reversed' THEN amount_minor ELSE 0 END)
);
-- Ids sort by creation, so each list the API offers is one index range at any depth.
CREATE INDEX collections_list ON collections (merchant_id, id DESC);
CREATE INDEX collections_list_by_state ON collections (merchant_id, state, id DESC);
CREATE INDEX collections_list_by_reference ON collections (merchant_id, reference, id DESC);
CREATE INDEX collections_list_by_phone ON collections (merchant_id, phone, id DESC);
CREATE INDEX collections_not_started ON collections (id) WHERE workflow_started_at IS NULL;
CREATE INDEX collections_check_due ON collections (check_due_at) WHERE check_due_at IS NOT NULL;

CREATE FUNCTION check_collection_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.idempotency_key, NEW.amount_minor, NEW.currency, NEW.reference, NEW.phone,
      NEW.operator, NEW.operator_reference, NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.idempotency_key, OLD.amount_minor, OLD.currency, OLD.reference, OLD.phone,
      OLD.operator, OLD.operator_reference, OLD.created_at) THEN
    RAISE EXCEPTION 'what was asked for with collection % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt) THEN
      RAISE EXCEPTION 'collection % can change its outcome only with its state', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'collection % must count its state changes and name the state it left', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_check_change BEFORE UPDATE ON collections
  FOR EACH ROW EXECUTE FUNCTION check_collection_change();
CREATE TRIGGER collections_kept BEFORE DELETE OR TRUNCATE ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_collection_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'initiated' THEN
    RAISE EXCEPTION 'collection % must begin as initiated', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_check_made BEFORE INSERT ON collections
  FOR EACH ROW EXECUTE FUNCTION check_collection_made();

CREATE TABLE ledger_accounts (
  id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('available', 'held', 'operator')),
  merchant_id text COLLATE "C",
  operator text,
  currency text NOT NULL,
  -- Kept for merchants' accounts, which are read and guarded at every payment. An operator's account would be one hot
  -- row for everybody: its balance is summed when asked for.
  balance_minor bigint,
  UNIQUE (id, currency),
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  CONSTRAINT ledger_accounts_named_for_owner CHECK (
    id = CASE kind WHEN 'operator' THEN 'operator/' || operator || '/' || currency ELSE merchant_id || '/' || kind END),
  CONSTRAINT ledger_accounts_one_owner CHECK (
    (kind = 'operator') = (merchant_id IS NULL) AND (kind = 'operator') = (operator IS NOT NULL)),
  CONSTRAINT ledger_accounts_balance CHECK ((kind = 'operator') = (balance_minor IS NULL)),
  CONSTRAINT ledger_accounts_balance_range CHECK (balance_minor BETWEEN -9007199254740991 AND 9007199254740991),
  -- Available may fall below zero by a reversal (a debt); what is held never can.
  CONSTRAINT ledger_accounts_held_not_negative CHECK (kind <> 'held' OR balance_minor >= 0)
);

-- A movement between two accounts: one amount out of one and into the other, so that it cannot fail to balance.
CREATE TABLE ledger_transfers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('collection_paid')),
  collection_id text COLLATE "C" REFERENCES collections,
  debit_account_id text COLLATE "C" NOT NULL,
  credit_account_id text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (debit_account_id, currency) REFERENCES ledger_accounts (id, currency),
  FOREIGN KEY (credit_account_id, currency) REFERENCES ledger_accounts (id, currency),
  CHECK (debit_account_id <> credit_account_id),
  CONSTRAINT ledger_transfers_of_a_collection CHECK ((kind LIKE 'collection\_%') = (collection_id IS NOT NULL)),
  -- A collection is paid once, whatever code runs twice.
  CONSTRAINT ledger_transfers_once_per_collection UNIQUE (collection_id, kind)
);
CREATE INDEX ledger_transfers_debit ON ledger_transfers (debit_account_id);
CREATE INDEX ledger_transfers_credit ON ledger_transfers (credit_account_id);

CREATE VIEW ledger_entries AS
  SELECT id AS transfer_id, debit_account_id AS account_id, -amount_minor AS amount_minor, currency, created_at
    FROM ledger_transfers
  UNION ALL
  SELECT id, credit_account_id, amount_minor, currency, created_at FROM ledger_transfers;

CREATE FUNCTION check_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  paid collections%ROWTYPE;
BEGIN
  SELECT * INTO STRICT paid FROM collections WHERE id = NEW.collection_id;
  IF NEW.kind = 'collection_paid' AND (
       paid.state <> 'succeeded'
       OR NEW.amount_minor <> paid.amount_minor
       OR NEW.currency <> paid.currency
       OR NEW.debit_account_id <> 'operator/' || paid.operator || '/' || paid.currency
       OR NEW.credit_account_id <> paid.merchant_id || '/available') THEN
    RAISE EXCEPTION 'transfer does not pay collection % as it stands', paid.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_transfers_check BEFORE INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION check_transfer();

CREATE FUNCTION post_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Rows are locked in the order of their ids, whichever side they are on: two transfers never wait for each other.
  PERFORM 1 FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE ledger_accounts
    SET balance_minor = balance_minor + CASE id WHEN NEW.credit_account_id THEN NEW.amount_minor ELSE -NEW.amount_minor END
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_transfers_post AFTER INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION post_transfer();
CREATE TRIGGER ledger_transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.balance_minor IS DISTINCT FROM (CASE NEW.kind WHEN 'operator' THEN NULL ELSE 0 END) THEN
      RAISE EXCEPTION 'an account begins at zero' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  -- Depth 1 is a statement somebody wrote; depth 2 is the posting of a transfer.
  IF pg_trigger_depth() < 2 THEN
    RAISE EXCEPTION 'a balance changes only by a transfer' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_accounts_check_change BEFORE INSERT OR UPDATE ON ledger_accounts
  FOR EACH ROW EXECUTE FUNCTION check_account_change();
CREATE TRIGGER ledger_accounts_kept BEFORE DELETE OR TRUNCATE ON ledger_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE events (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  type text NOT NULL,
  collection_id text COLLATE "C" REFERENCES collections,
  resource_version integer,
  -- The bytes that are signed and sent (UTF-8), made once.
  body text NOT NULL CHECK (octet_length(body) <= 65536),
  created_at timestamptz NOT NULL,
  CONSTRAINT events_of_a_collection CHECK (
    (type LIKE 'collection.%') = (collection_id IS NOT NULL) AND (collection_id IS NULL) = (resource_version IS NULL)),
  CONSTRAINT events_one_per_change UNIQUE (collection_id, resource_version)
);
CREATE INDEX events_list ON events (merchant_id, id DESC);
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- At commit: a change of state has its event, and money counted as collected has its transfer. Neither can be forgotten.
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
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER collections_check_recorded AFTER UPDATE OF state ON collections
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION check_collection_recorded();

-- What operators told us, as it came. A hint and evidence, never a result.
CREATE TABLE operator_callbacks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  operator text NOT NULL,
  collection_id text COLLATE "C" NOT NULL REFERENCES collections,
  body text NOT NULL CHECK (octet_length(body) <= 65536),
  content_type text NOT NULL CHECK (length(content_type) <= 200),
  source_address inet NOT NULL,
  received_at timestamptz NOT NULL
);
CREATE INDEX operator_callbacks_collection ON operator_callbacks (collection_id, id);
CREATE INDEX operator_callbacks_age ON operator_callbacks (received_at);
