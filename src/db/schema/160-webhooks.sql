-- Endpoints, events, and the deliveries of events to endpoints.
-- No transaction notifies the dispatchers: PostgreSQL makes the commits of those that do wait for each other, across all
-- databases of the server. A process that recorded deliveries wakes the dispatchers after its commit.

CREATE TABLE endpoints (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^whe_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  url text NOT NULL CHECK (length(url) <= 2048),
  description text CHECK (length(description) <= 200),
  event_types text[] CHECK (cardinality(event_types) > 0),
  state text NOT NULL CHECK (state IN ('enabled', 'disabled')),
  disabled_reason text,
  disabled_at timestamptz,
  secret_sealed text,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  failing_since timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
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
COMMENT ON TABLE endpoints IS 'An address of a merchant to which events are sent.';
COMMENT ON COLUMN endpoints.event_types IS 'Null: all types.';
COMMENT ON COLUMN endpoints.previous_secret_sealed IS
  'Signs too until previous_secret_until, so that receivers have time to change over to the present secret.';
COMMENT ON COLUMN endpoints.failing_since IS
  'When the attempt failed after which no attempt succeeded. While it is set, the next event goes straight to a workflow, so that '
  'a failing endpoint does not take the time of the dispatcher. An endpoint that fails for days is disabled.';
COMMENT ON COLUMN endpoints.deleted_at IS
  'The row of a deleted endpoint stays, since deliveries refer to it; its secrets are erased.';

CREATE INDEX endpoints_merchant ON endpoints (merchant_id, id DESC);
CREATE INDEX endpoints_disabled ON endpoints (disabled_reason) WHERE state = 'disabled' AND deleted_at IS NULL;

CREATE TRIGGER endpoints_note AFTER INSERT OR UPDATE ON endpoints
  FOR EACH ROW EXECUTE FUNCTION note_state_change('endpoint');
COMMENT ON TRIGGER endpoints_note ON endpoints IS 'Refuses nothing. It adds a row to state_changes.';

CREATE TABLE events (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 30 AND id ~ '^evt_[0-7][0-9a-hjkmnp-tv-z]+$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  type text NOT NULL,
  payment_id text COLLATE "C" REFERENCES payments,
  endpoint_id text COLLATE "C",
  resource_version integer,
  body text NOT NULL CHECK (octet_length(body) <= 262144),
  request_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  CONSTRAINT events_endpoint_fkey FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT events_of_a_payment CHECK (
    left(payment_id, 4) IS NOT DISTINCT FROM
      CASE WHEN type LIKE 'collection.%' THEN 'col_' WHEN type LIKE 'payout.%' THEN 'pay_' END
    AND (payment_id IS NULL) = (resource_version IS NULL)),
  CONSTRAINT events_of_an_endpoint CHECK ((type LIKE 'endpoint.%') = (endpoint_id IS NOT NULL)),
  CONSTRAINT events_one_per_change UNIQUE (payment_id, resource_version)
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE events IS 'What is sent about a change of a payment, or as a test of an endpoint.';
COMMENT ON COLUMN events.endpoint_id IS 'Set for a test event, which is about the endpoint itself.';
COMMENT ON COLUMN events.body IS
  'The bytes that are signed and sent (UTF-8), composed once. The limit has room for the approvals and the rejection reason of a '
  'payout besides all that a merchant may send along.';
COMMENT ON COLUMN events.request_id IS
  'The request that created the payment, so that an attempt to deliver the event reads no other table. Null for an event about an '
  'endpoint.';

CREATE INDEX events_list ON events (merchant_id, id DESC);
-- Events of one type, newest first, however rare the type is.
CREATE INDEX events_list_of_type ON events (merchant_id, type, id DESC);
CREATE INDEX events_of_endpoint ON events (endpoint_id, id DESC) WHERE endpoint_id IS NOT NULL;

CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER events_append_only ON events IS 'Refuses every update, delete and truncate: rows are only added.';

-- Foreign keys over (id, merchant_id) would say the same, at the price of one more index on each of the busiest tables.
CREATE FUNCTION check_event_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'event % belongs to another merchant than its payment', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER events_check_created AFTER INSERT ON events
  FOR EACH ROW WHEN (NEW.payment_id IS NOT NULL) EXECUTE FUNCTION check_event_created();
COMMENT ON TRIGGER events_check_created ON events IS 'Refuses an event of another merchant than that of its payment.';

CREATE TABLE deliveries (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 30 AND id ~ '^dlv_[0-7][0-9a-hjkmnp-tv-z]+$'),
  event_id text COLLATE "C" NOT NULL REFERENCES events,
  endpoint_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'retrying', 'delivered', 'dead_lettered', 'withheld')),
  attempt_count integer NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  replay_count integer NOT NULL DEFAULT 0 CHECK (replay_count >= 0),
  attempts_before_replay integer NOT NULL DEFAULT 0,
  leased_until timestamptz,
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (event_id, endpoint_id),
  FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT deliveries_ended_after_an_attempt CHECK (state NOT IN ('delivered', 'dead_lettered') OR attempt_count > 0),
  CONSTRAINT deliveries_next_attempt CHECK (
    (state IN ('delivered', 'dead_lettered', 'withheld')) = (next_attempt_at IS NULL)),
  CONSTRAINT deliveries_attempts_before_replay CHECK (attempts_before_replay BETWEEN 0 AND attempt_count)
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE deliveries IS 'One event that is sent to one endpoint.';
COMMENT ON COLUMN deliveries.state IS
  'pending: the dispatcher owes the first attempt. retrying: a workflow owns the further attempts. withheld: the endpoint is '
  'disabled, and nothing more is sent until somebody replays the delivery.';
COMMENT ON COLUMN deliveries.attempts_before_replay IS 'Each replay starts the schedule again; the numbers of the attempts go on.';
COMMENT ON COLUMN deliveries.leased_until IS
  'Set while a dispatcher holds it. When the lease has run out, any dispatcher may claim it, and the event is sent again.';

-- Each endpoint has a backlog of its own, so that a long one delays no other endpoint.
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, id) WHERE state = 'pending';
CREATE INDEX deliveries_list ON deliveries (merchant_id, id DESC);
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, state, id DESC);
-- Finds the endpoints whose deliveries are retried, one step each, to withhold what is owed to the disabled ones.
CREATE INDEX deliveries_retrying ON deliveries (endpoint_id) WHERE state = 'retrying';

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
COMMENT ON TRIGGER deliveries_check_created ON deliveries IS 'Refuses a delivery of another merchant than that of its event.';

CREATE FUNCTION check_delivery_work() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM deliveries WHERE id = NEW.id AND state = 'retrying')
     AND NOT EXISTS (SELECT FROM work WHERE id = NEW.id AND task = 'workflow') THEN
    RAISE EXCEPTION 'nobody would make the next attempt of delivery %', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER deliveries_check_work AFTER UPDATE OF state ON deliveries
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'retrying') EXECUTE FUNCTION check_delivery_work();
COMMENT ON TRIGGER deliveries_check_work ON deliveries IS 'Refuses, at commit, a delivery that is retried and has no work.';

CREATE TRIGGER deliveries_note AFTER UPDATE OF state ON deliveries
  FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION note_state_change('delivery');
COMMENT ON TRIGGER deliveries_note ON deliveries IS
  'Refuses nothing. It adds a row to state_changes. A new delivery adds none: the change that its event reports is there.';

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
COMMENT ON TABLE delivery_attempts IS 'One request to an endpoint, and its response or error.';

CREATE TRIGGER delivery_attempts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON delivery_attempts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER delivery_attempts_append_only ON delivery_attempts IS
  'Refuses every update, delete and truncate: rows are only added.';

CREATE TABLE replays (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rpl_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  endpoint_id text COLLATE "C",
  states text[] NOT NULL CHECK (cardinality(states) > 0 AND states <@ ARRAY['delivered', 'dead_lettered', 'withheld']),
  created_from timestamptz,
  created_before timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'completed')),
  total integer NOT NULL CHECK (total >= 0),
  replayed integer NOT NULL DEFAULT 0 CHECK (replayed >= 0),
  skipped integer NOT NULL DEFAULT 0 CHECK (skipped >= 0),
  last_delivery_id text COLLATE "C",
  requested_by text COLLATE "C" NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  completed_at timestamptz,
  FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT replays_completed CHECK ((state = 'completed') = (completed_at IS NOT NULL))
);
COMMENT ON TABLE replays IS
  'A replay of many deliveries, carried out in batches in the background. The row of a completed replay says what it did.';
COMMENT ON COLUMN replays.endpoint_id IS
  'Null: the deliveries of all endpoints, created from created_from on and before created_before.';
COMMENT ON COLUMN replays.total IS 'How many deliveries matched when the replay began.';
COMMENT ON COLUMN replays.skipped IS 'Deliveries that matched and stay as they are, because their endpoint is disabled or deleted.';
COMMENT ON COLUMN replays.last_delivery_id IS 'The position: deliveries after this one remain.';

CREATE INDEX replays_running ON replays (updated_at) WHERE state = 'running';
CREATE INDEX replays_list ON replays (merchant_id, id DESC);

CREATE TRIGGER replays_note AFTER INSERT OR UPDATE ON replays
  FOR EACH ROW EXECUTE FUNCTION note_state_change('replay');
COMMENT ON TRIGGER replays_note ON replays IS 'Refuses nothing. It adds a row to state_changes.';
