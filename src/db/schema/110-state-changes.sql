-- What follows from changes of state: totals of a merchant, figures of the whole service, and live updates of pages.
-- A change adds rows in its own transaction and touches nothing that another payment touches. The dispatcher folds the rows
-- of payment_total_changes and payment_moves, many at a time. Whoever reads totals adds both tables in one statement, so the
-- totals are right at every moment.

CREATE TABLE payment_totals (
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  quarter_at timestamptz NOT NULL,
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  count bigint NOT NULL,
  amount_minor numeric NOT NULL,
  PRIMARY KEY (merchant_id, quarter_at, kind, operator, state),
  CONSTRAINT payment_totals_kind CHECK (kind IN ('collection', 'payout'))
);
COMMENT ON TABLE payment_totals IS
  'How many payments and how much money, by merchant, kind, operator, quarter of an hour of creation, and state. A quarter of an '
  'hour, because the days of every time zone begin at one.';

CREATE TABLE payment_total_changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL,
  quarter_at timestamptz NOT NULL,
  kind text NOT NULL,
  operator text NOT NULL,
  from_state text,
  to_state text NOT NULL,
  amount_minor bigint NOT NULL
);
COMMENT ON TABLE payment_total_changes IS 'Payments that were created or changed their state and are not yet in payment_totals.';
COMMENT ON COLUMN payment_total_changes.from_state IS 'Null: the payment was created.';

-- For whoever reads rows before they are folded. There are few, unless no dispatcher runs.
CREATE INDEX payment_total_changes_merchant ON payment_total_changes (merchant_id, quarter_at);

CREATE TABLE payment_moves (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  operator text NOT NULL,
  from_state text,
  to_state text NOT NULL,
  seconds double precision
);
COMMENT ON TABLE payment_moves IS
  'Changes of state that are not yet in payment_figures and payment_durations. No row has an id or an amount.';
COMMENT ON COLUMN payment_moves.from_state IS
  'Null: the payment was created, or it is a delivery, of which only the dead-lettered are counted.';
COMMENT ON COLUMN payment_moves.seconds IS
  'With the outcome: of a collection since its creation, of a payout or refund since the first try to send it.';

CREATE TABLE payment_figures (
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  present bigint NOT NULL,
  entered bigint NOT NULL,
  CONSTRAINT payment_figures_pkey PRIMARY KEY (kind, operator, state)
);
COMMENT ON TABLE payment_figures IS
  'How many payments of the whole service are in each state. Reading costs the same however many payments there are.';
COMMENT ON COLUMN payment_figures.present IS 'How many are in the state.';
COMMENT ON COLUMN payment_figures.entered IS 'How many ever came into the state.';

CREATE TABLE payment_durations (
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  at_most_seconds double precision NOT NULL,
  count bigint NOT NULL,
  seconds double precision NOT NULL,
  CONSTRAINT payment_durations_pkey PRIMARY KEY (kind, operator, state, at_most_seconds)
);
COMMENT ON TABLE payment_durations IS 'How many payments took how long to their outcome.';
COMMENT ON COLUMN payment_durations.at_most_seconds IS 'They took at most so long, and longer than the next smaller bound.';

CREATE TABLE live_updates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  merchant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT live_updates_kind
    CHECK (kind IN ('collection', 'payout', 'reversal', 'delivery', 'endpoint', 'replay', 'checkout'))
);
COMMENT ON TABLE live_updates IS
  'Which object came into which state, for pages to read the object again. Rows become visible in the order of commits and not of '
  'ids, so a reader goes by numbers of transactions: below the lowest number that is under way, no row is added any more.';
COMMENT ON COLUMN live_updates.xid IS 'The number of the transaction that wrote the row.';

CREATE INDEX live_updates_feed ON live_updates (merchant_id, xid, id);
CREATE INDEX live_updates_age ON live_updates (changed_at);

CREATE FUNCTION quarter_of(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE
  AS $$ SELECT date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $$;

CREATE FUNCTION note_live_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO live_updates (merchant_id, kind, object_id, state) VALUES (NEW.merchant_id, TG_ARGV[0], NEW.id, NEW.state);
  RETURN NULL;
END $$;
