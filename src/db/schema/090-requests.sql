-- Requests to the API: the stored responses of those that move money, and the request log.
-- The form of ids, phone numbers and idempotency keys is checked without bounded repetition. A bounded repetition, as in
-- `{1,255}`, is an automaton with as many states, which PostgreSQL builds again for each row; `+` has one. The check of an
-- idempotency key took seventy times as long with it, and that of an id four times.

CREATE TABLE idempotency_keys (
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  key text COLLATE "C" NOT NULL CHECK (length(key) <= 255 AND key ~ '^[\x21-\x7e]+$'),
  request_sha256 bytea NOT NULL CHECK (length(request_sha256) = 32),
  response_status integer NOT NULL CHECK (response_status IN (200, 201, 202, 402)),
  response_body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, key)
);
COMMENT ON TABLE idempotency_keys IS
  'The stored response of a request that moves money: a repeat of the request gets the same response and acts once.';

CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE api_requests (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 30 AND id ~ '^req_[0-7][0-9a-hjkmnp-tv-z]+$'),
  merchant_id text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" NOT NULL,
  method text NOT NULL,
  route text NOT NULL,
  path text NOT NULL,
  status integer NOT NULL,
  error_code text,
  duration_ms integer NOT NULL,
  address inet,
  idempotency_key text,
  is_repeat boolean NOT NULL,
  object_id text COLLATE "C",
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE api_requests IS
  'The request log, without bodies, queries and headers, which hold phone numbers and secrets. Rows are written in batches after '
  'the responses. Some may be missing, which the metrics count.';
COMMENT ON COLUMN api_requests.route IS 'The path with names instead of ids.';
COMMENT ON COLUMN api_requests.path IS 'As it was sent, without the query.';
COMMENT ON COLUMN api_requests.is_repeat IS 'The response was the stored response of an earlier request.';
COMMENT ON COLUMN api_requests.object_id IS 'The object that the request concerned or created.';

-- Ids sort by time, so each page is one index range.
CREATE INDEX api_requests_list ON api_requests (merchant_id, id DESC);
CREATE INDEX api_requests_list_by_key ON api_requests (merchant_id, api_key_id, id DESC);
CREATE INDEX api_requests_list_by_route ON api_requests (merchant_id, route, method, id DESC);
CREATE INDEX api_requests_list_of_object ON api_requests (merchant_id, object_id, id DESC) WHERE object_id IS NOT NULL;
CREATE INDEX api_requests_list_of_failed ON api_requests (merchant_id, id DESC) WHERE status >= 400;
CREATE INDEX api_requests_age ON api_requests (created_at);
