-- Events and webhooks: endpoints, events, deliveries, delivery attempts and replays.
--
-- Rules that the database itself enforces here:
-- - At commit, every new state of a collection or payout has its event and exactly the transfers that its money took.
-- - An event belongs to the merchant of its payment, and a delivery to the merchant of its event and endpoint.
-- - A disabled endpoint has a reason and a time, and a deleted one no secrets.
-- - Events and delivery attempts are append-only.

CREATE TABLE endpoints (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^whe_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  url text NOT NULL CHECK (length(url) <= 2048),
  description text CHECK (length(description) <= 200),
  -- Null: all types.
  event_types text[] CHECK (cardinality(event_types) > 0),
  state text NOT NULL CHECK (state IN ('enabled', 'disabled')),
  disabled_reason text,
  disabled_at timestamptz,
  secret_sealed text,
  -- Signs too until previous_secret_until, so that receivers have time to change over to the present secret.
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  -- When the attempt failed after which no attempt succeeded. While it is set, the next event goes straight to a
  -- workflow, so that a failing endpoint does not take the dispatcher's time. An endpoint that fails for days is
  -- disabled.
  failing_since timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The row of a deleted endpoint stays, since deliveries refer to it; its secrets are erased.
  deleted_at timestamptz,
  UNIQUE (id, merchant_id),
  CONSTRAINT endpoints_disabled_for_a_reason CHECK ((state = 'disabled') = (disabled_reason IS NOT NULL)),
  CONSTRAINT endpoints_disabled_reason CHECK (disabled_reason IN ('by_person', 'answered_gone', 'failing', 'deleted')),
  CONSTRAINT endpoints_disabled_at CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
  CONSTRAINT endpoints_deleted CHECK (
    (deleted_at IS NOT NULL) = (secret_sealed IS NULL)
    AND (deleted_at IS NOT NULL) = (disabled_reason IS NOT DISTINCT FROM 'deleted')
    AND (deleted_at IS NULL OR previous_secret_sealed IS NULL)),
  CONSTRAINT endpoints_previous_secret CHECK ((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))
);
CREATE INDEX endpoints_merchant ON endpoints (merchant_id, id DESC);

CREATE TABLE events (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  type text NOT NULL,
  collection_id text COLLATE "C" REFERENCES collections,
  payout_id text COLLATE "C" REFERENCES payouts,
  -- Set for a test event, which is about the endpoint itself.
  endpoint_id text COLLATE "C",
  resource_version integer,
  -- The bytes that are signed and sent (UTF-8), composed once. The limit has room for a payout's approvals and
  -- rejection reason besides all that a merchant may send along.
  body text NOT NULL CHECK (octet_length(body) <= 262144),
  created_at timestamptz NOT NULL,
  CONSTRAINT events_endpoint_fkey FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT events_of_a_resource CHECK (
    (type LIKE 'collection.%') = (collection_id IS NOT NULL)
    AND (type LIKE 'payout.%') = (payout_id IS NOT NULL)
    AND (collection_id IS NULL AND payout_id IS NULL) = (resource_version IS NULL)),
  CONSTRAINT events_of_an_endpoint CHECK ((type LIKE 'endpoint.%') = (endpoint_id IS NOT NULL)),
  CONSTRAINT events_one_per_change UNIQUE (collection_id, resource_version),
  CONSTRAINT events_one_per_payout_change UNIQUE (payout_id, resource_version)
);
CREATE INDEX events_list ON events (merchant_id, id DESC);
-- Events of one type, newest first, however rare the type is.
CREATE INDEX events_list_of_type ON events (merchant_id, type, id DESC);
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Foreign keys over (id, merchant_id) would say the same, at the price of one more index on each of the busiest tables.
CREATE FUNCTION check_event_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.collection_id IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND merchant_id = NEW.merchant_id)
     OR NEW.payout_id IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM payouts WHERE id = NEW.payout_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'event % belongs to another merchant than its payment', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER events_check_created AFTER INSERT ON events
  FOR EACH ROW WHEN (NEW.collection_id IS NOT NULL OR NEW.payout_id IS NOT NULL) EXECUTE FUNCTION check_event_created();

-- At commit: a new state of a collection has its event, and a collection that is paid or reversed has its transfer.
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

-- At commit: each state of a payout has its event, and exactly the transfers that its money took.
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
    RAISE EXCEPTION 'payout % is % but has the transfers %', NEW.id, NEW.state, kinds
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payouts_check_created AFTER INSERT ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_payout_recorded();
CREATE CONSTRAINT TRIGGER payouts_check_recorded AFTER UPDATE OF state ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION check_payout_recorded();

-- One delivery per event and endpoint.
CREATE TABLE deliveries (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  event_id text COLLATE "C" NOT NULL REFERENCES events,
  endpoint_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  -- pending: the dispatcher owes the first attempt. retrying: a workflow owns the further attempts. withheld: the
  -- endpoint is disabled, and nothing more is sent until somebody replays the delivery.
  state text NOT NULL CHECK (state IN ('pending', 'retrying', 'delivered', 'dead_lettered', 'withheld')),
  attempt_count integer NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  replay_count integer NOT NULL DEFAULT 0 CHECK (replay_count >= 0),
  -- Each replay starts the schedule again; the numbers of the attempts go on.
  attempts_before_replay integer NOT NULL DEFAULT 0,
  -- Set while a dispatcher holds it. When the lease has run out, any dispatcher may claim it: the event is then sent
  -- again.
  leased_until timestamptz,
  next_attempt_at timestamptz,
  workflow_started_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (event_id, endpoint_id),
  FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT deliveries_ended_after_an_attempt CHECK (state NOT IN ('delivered', 'dead_lettered') OR attempt_count > 0),
  CONSTRAINT deliveries_next_attempt CHECK (
    (state IN ('delivered', 'dead_lettered', 'withheld')) = (next_attempt_at IS NULL)),
  CONSTRAINT deliveries_attempts_before_replay CHECK (attempts_before_replay BETWEEN 0 AND attempt_count)
);
-- Each endpoint has a backlog of its own, so that a long one delays no other endpoint.
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, id) WHERE state = 'pending';
CREATE INDEX deliveries_not_started ON deliveries (endpoint_id, id)
  WHERE state = 'retrying' AND workflow_started_at IS NULL;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'retrying';
CREATE INDEX deliveries_list ON deliveries (merchant_id, id DESC);
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, state, id DESC);

CREATE FUNCTION check_delivery_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM events WHERE id = NEW.event_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'delivery % belongs to another merchant than its event', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_check_created AFTER INSERT ON deliveries
  FOR EACH ROW EXECUTE FUNCTION check_delivery_created();

-- Wakes the dispatchers. The payload is empty: the rows say what is to be done.
CREATE FUNCTION notify_dispatchers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added) THEN
    PERFORM pg_notify('malipo_deliveries', '');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_notify AFTER INSERT ON deliveries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notify_dispatchers();

CREATE TABLE delivery_attempts (
  delivery_id text COLLATE "C" NOT NULL REFERENCES deliveries,
  attempt_number integer NOT NULL CHECK (attempt_number > 0),
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  status_code integer CHECK (status_code BETWEEN 100 AND 999),
  error text,
  response_headers json,
  response_body bytea CHECK (length(response_body) <= 16384),
  PRIMARY KEY (delivery_id, attempt_number),
  CONSTRAINT delivery_attempts_answer_or_error CHECK (
    (status_code IS NULL) = (error IS NOT NULL)
    AND (status_code IS NULL) = (response_headers IS NULL)
    AND (status_code IS NULL) = (response_body IS NULL))
);
CREATE TRIGGER delivery_attempts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON delivery_attempts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A replay of many deliveries, carried out in batches in the background. The row of a completed replay says what it
-- did.
CREATE TABLE replays (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rpl_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  -- Which deliveries are replayed: those of one endpoint, or of all endpoints when it is null, in one of these states,
  -- and created from created_from on and before created_before.
  endpoint_id text COLLATE "C",
  states text[] NOT NULL CHECK (cardinality(states) > 0 AND states <@ ARRAY['delivered', 'dead_lettered', 'withheld']),
  created_from timestamptz,
  created_before timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'completed')),
  -- How many deliveries matched when the replay began.
  total integer NOT NULL CHECK (total >= 0),
  replayed integer NOT NULL DEFAULT 0 CHECK (replayed >= 0),
  -- Deliveries that matched and stay as they are, because their endpoint is disabled or deleted.
  skipped integer NOT NULL DEFAULT 0 CHECK (skipped >= 0),
  -- The position: deliveries after this one are still to be looked at.
  last_delivery_id text COLLATE "C",
  requested_by text COLLATE "C" NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  completed_at timestamptz,
  FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT replays_completed CHECK ((state = 'completed') = (completed_at IS NOT NULL))
);
CREATE INDEX replays_running ON replays (updated_at) WHERE state = 'running';
CREATE INDEX replays_list ON replays (merchant_id, id DESC);
