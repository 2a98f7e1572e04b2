-- Webhook endpoints, one delivery per event and endpoint, and every attempt made.

CREATE TABLE endpoints (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^whe_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  url text NOT NULL CHECK (length(url) <= 2048),
  description text CHECK (length(description) <= 200),
  -- Null: all types.
  event_types text[] CHECK (cardinality(event_types) > 0),
  state text NOT NULL CHECK (state IN ('enabled', 'disabled')),
  disabled_reason text,
  secret_sealed text NOT NULL,
  -- Its next event goes straight to a workflow: an endpoint that fails must not take the dispatcher's time.
  is_failing boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  UNIQUE (id, merchant_id),
  CONSTRAINT endpoints_disabled_for_a_reason CHECK ((state = 'disabled') = (disabled_reason IS NOT NULL))
);
CREATE INDEX endpoints_merchant ON endpoints (merchant_id, id DESC);

CREATE TABLE deliveries (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  event_id text COLLATE "C" NOT NULL REFERENCES events,
  endpoint_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  -- pending: the dispatcher owes the first attempt; retrying: a workflow owns the rest.
  state text NOT NULL CHECK (state IN ('pending', 'retrying', 'delivered', 'dead_lettered')),
  attempt_count integer NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  -- While a dispatcher holds it. A lease that ran out is free to take: the event is then sent again.
  leased_until timestamptz,
  next_attempt_at timestamptz,
  workflow_started_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (event_id, endpoint_id),
  FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  CONSTRAINT deliveries_ended_after_an_attempt CHECK (state NOT IN ('delivered', 'dead_lettered') OR attempt_count > 0),
  CONSTRAINT deliveries_next_attempt CHECK ((state IN ('delivered', 'dead_lettered')) = (next_attempt_at IS NULL))
);
CREATE INDEX deliveries_pending ON deliveries (id) WHERE state = 'pending';
CREATE INDEX deliveries_not_started ON deliveries (id) WHERE state = 'retrying' AND workflow_started_at IS NULL;
CREATE INDEX deliveries_list ON deliveries (merchant_id, id DESC);
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, state, id DESC);

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

-- Wakes the dispatchers. Payload and session are of no interest: the rows say what is to be done.
CREATE FUNCTION notify_dispatchers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added) THEN
    PERFORM pg_notify('malipo_deliveries', '');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_notify AFTER INSERT ON deliveries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notify_dispatchers();
