-- The request log: what each API key sent, and what it got. Without bodies, queries and headers, in which phone numbers and secrets
-- are. Rows are written in batches after their responses, and removed after some time; some may be missing, which the metrics count.

CREATE TABLE api_requests (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^req_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" NOT NULL,
  method text NOT NULL,
  -- The path with names in the place of ids.
  route text NOT NULL,
  -- As it was sent, without the query.
  path text NOT NULL,
  status integer NOT NULL,
  error_code text,
  duration_ms integer NOT NULL,
  address inet,
  idempotency_key text,
  -- The response was the stored one of an earlier request.
  is_repeat boolean NOT NULL,
  -- What the request was about, or created.
  object_id text COLLATE "C",
  created_at timestamptz NOT NULL
);
-- Ids sort by time, so each page is one index range.
CREATE INDEX api_requests_list ON api_requests (merchant_id, id DESC);
CREATE INDEX api_requests_list_by_key ON api_requests (merchant_id, api_key_id, id DESC);
CREATE INDEX api_requests_list_by_route ON api_requests (merchant_id, route, method, id DESC);
CREATE INDEX api_requests_list_of_object ON api_requests (merchant_id, object_id, id DESC) WHERE object_id IS NOT NULL;
CREATE INDEX api_requests_list_of_failed ON api_requests (merchant_id, id DESC) WHERE status >= 400;
CREATE INDEX api_requests_age ON api_requests (created_at);
