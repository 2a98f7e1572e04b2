-- Endpoints as people keep them, what is withheld from one that is disabled, replays, and test events.

ALTER TABLE endpoints
  ADD COLUMN updated_at timestamptz,
  -- Signs too until then, after the present one: receivers have that long to change over.
  ADD COLUMN previous_secret_sealed text,
  ADD COLUMN previous_secret_until timestamptz,
  -- When the attempt failed after which none was accepted. Its next event goes straight to a workflow: an endpoint that
  -- fails must not take the dispatcher's time. And one that fails for days is disabled.
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN disabled_at timestamptz,
  -- The row stays, since deliveries point to it; its secrets do not.
  ADD COLUMN deleted_at timestamptz,
  ALTER COLUMN secret_sealed DROP NOT NULL;
UPDATE endpoints SET updated_at = created_at, failing_since = CASE WHEN is_failing THEN now() END,
  disabled_at = CASE WHEN state = 'disabled' THEN now() END,
  disabled_reason = CASE disabled_reason WHEN 'the endpoint answered 410 Gone' THEN 'answered_gone'
                    ELSE CASE WHEN disabled_reason IS NOT NULL THEN 'by_person' END END;
ALTER TABLE endpoints
  ALTER COLUMN updated_at SET NOT NULL,
  DROP COLUMN is_failing,
  ADD CONSTRAINT endpoints_disabled_reason CHECK (disabled_reason IN ('by_person', 'answered_gone', 'failing', 'deleted')),
  ADD CONSTRAINT endpoints_disabled_at CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
  ADD CONSTRAINT endpoints_deleted CHECK (
    (deleted_at IS NOT NULL) = (secret_sealed IS NULL)
    AND (deleted_at IS NOT NULL) = (disabled_reason IS NOT DISTINCT FROM 'deleted')
    AND (deleted_at IS NULL OR previous_secret_sealed IS NULL)),
  ADD CONSTRAINT endpoints_previous_secret CHECK ((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL));

-- withheld: the endpoint is disabled; nothing more is sent until somebody replays it.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_state_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_state_check
  CHECK (state IN ('pending', 'retrying', 'delivered', 'dead_lettered', 'withheld'));
ALTER TABLE deliveries DROP CONSTRAINT deliveries_next_attempt;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_next_attempt
  CHECK ((state IN ('delivered', 'dead_lettered', 'withheld')) = (next_attempt_at IS NULL));
ALTER TABLE deliveries
  ADD COLUMN replay_count integer NOT NULL DEFAULT 0 CHECK (replay_count >= 0),
  -- The schedule begins anew with each replay; the attempts are numbered on.
  ADD COLUMN attempts_before_replay integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT deliveries_attempts_before_replay CHECK (attempts_before_replay BETWEEN 0 AND attempt_count);

-- Each endpoint has its own line, so that a long one keeps nobody else waiting.
DROP INDEX deliveries_pending;
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, id) WHERE state = 'pending';
DROP INDEX deliveries_not_started;
CREATE INDEX deliveries_not_started ON deliveries (endpoint_id, id) WHERE state = 'retrying' AND workflow_started_at IS NULL;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'retrying';

-- A replay of many, done bit by bit in the background. A row of a finished one tells what it did.
CREATE TABLE replays (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rpl_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  -- What is replayed: of one endpoint or of all, in these states, made in this time (the end is not in it).
  endpoint_id text COLLATE "C",
  states text[] NOT NULL CHECK (cardinality(states) > 0 AND states <@ ARRAY['delivered', 'dead_lettered', 'withheld']),
  made_from timestamptz,
  made_before timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'completed')),
  -- How many matched when it began.
  total integer NOT NULL CHECK (total >= 0),
  replayed integer NOT NULL DEFAULT 0 CHECK (replayed >= 0),
  -- Matched, and was left as it is: its endpoint is disabled or deleted.
  skipped integer NOT NULL DEFAULT 0 CHECK (skipped >= 0),
  -- Where it is; deliveries after this one are still to be looked at.
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

-- A test event tells of the endpoint itself.
ALTER TABLE events
  ADD COLUMN endpoint_id text COLLATE "C",
  ADD CONSTRAINT events_endpoint_fkey FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints (id, merchant_id),
  ADD CONSTRAINT events_of_an_endpoint CHECK ((type LIKE 'endpoint.%') = (endpoint_id IS NOT NULL));

-- Events of one type, newest first, however rare it is.
CREATE INDEX events_list_of_type ON events (merchant_id, type, id DESC);
