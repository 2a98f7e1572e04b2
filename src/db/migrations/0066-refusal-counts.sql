-- Refusals of people are entries of the audit log up to a number of each kind in an hour, and are counted from then on. One entry says
-- afterwards how many there were besides.
--
-- Rules that the database itself enforces here:
-- - There is one count of each kind of refusal of a person at a merchant.

CREATE TABLE refusal_counts (
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  -- The method and the route, as in the audit log.
  action text NOT NULL,
  reason text NOT NULL,
  began_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  -- All of the hour, those with an entry of their own among them.
  times integer NOT NULL,
  CONSTRAINT refusal_counts_pkey PRIMARY KEY (merchant_id, user_id, action, reason),
  CONSTRAINT refusal_counts_times CHECK (times > 0)
);
CREATE INDEX refusal_counts_end ON refusal_counts (ends_at);
