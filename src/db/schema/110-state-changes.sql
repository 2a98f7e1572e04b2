-- The stream of state changes, and what is folded from it: totals of a merchant and figures of the whole service.
-- A change adds its row in its own transaction and touches nothing that another payment touches. Three read the rows: pages, for
-- live updates; the queries of totals; and the dispatcher, which folds many rows at a time. A query of totals adds what is folded
-- and what is not in one statement, so the totals are right at every moment.
-- Rows become visible in the order of commits and not of ids. So readers go by numbers of transactions: no row is added any more
-- below the lowest number of a transaction in progress.

CREATE TABLE state_changes (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id bigint GENERATED ALWAYS AS IDENTITY,
  merchant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  from_state text,
  to_state text NOT NULL,
  operator text,
  amount_minor bigint,
  payment_created_at timestamptz,
  seconds double precision,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (xid, id),
  CONSTRAINT state_changes_kind
    CHECK (kind IN ('collection', 'payout', 'reversal', 'delivery', 'endpoint', 'replay', 'checkout')),
  CONSTRAINT state_changes_of_a_payment CHECK (num_nulls(operator, amount_minor, payment_created_at) IN (0, 3))
);
COMMENT ON TABLE state_changes IS
  'Which object came into which state, written once for each change and kept for a day.';
COMMENT ON COLUMN state_changes.xid IS 'The number of the transaction that wrote the row.';
COMMENT ON COLUMN state_changes.from_state IS 'Null: the payment was created, or the object is no payment.';
COMMENT ON COLUMN state_changes.operator IS
  'Null: the row is for pages alone, because the object is no payment, or because something else than the state of a payment '
  'changed.';
COMMENT ON COLUMN state_changes.seconds IS
  'Set with the outcome. Of a collection: the seconds since its creation. Of a payout or refund: those since the first try to '
  'send it.';

CREATE INDEX state_changes_of_merchant ON state_changes (merchant_id, xid, id);

CREATE TABLE fold_position (
  is_only boolean PRIMARY KEY DEFAULT true CONSTRAINT fold_position_only CHECK (is_only),
  xid xid8 NOT NULL,
  last_id bigint NOT NULL
);
COMMENT ON TABLE fold_position IS 'The position up to which payment_totals and payment_figures include state_changes. One row.';
COMMENT ON COLUMN fold_position.xid IS 'All changes of this transaction and of those before it are folded, and no other.';
COMMENT ON COLUMN fold_position.last_id IS 'The greatest id that is folded.';

INSERT INTO fold_position (xid, last_id) VALUES ('0', 0);

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
  'hour, because the days of every time zone begin at one. Refunds have no totals: the collection counts.';

CREATE TABLE payment_figures (
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  at_most_seconds double precision,
  entered bigint NOT NULL,
  exited bigint NOT NULL,
  seconds double precision NOT NULL,
  CONSTRAINT payment_figures_key UNIQUE NULLS NOT DISTINCT (kind, operator, state, at_most_seconds)
);
COMMENT ON TABLE payment_figures IS
  'How many payments of the whole service came into each state and left it, by how long they took to their outcome. Reading costs '
  'the same however many payments there are. No row has an id or an amount.';
COMMENT ON COLUMN payment_figures.at_most_seconds IS
  'The payments took at most so long, and longer than the next smaller bound. Null: the state was not the first outcome; this row '
  'also counts all payments that left the state.';
COMMENT ON COLUMN payment_figures.seconds IS 'How long the payments took together.';

CREATE FUNCTION quarter_of(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE
  AS $$ SELECT date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $$;

-- New payments are noted once for each statement, because one statement accepts many collections. Each table is written with its
-- schema, so that no temporary table takes its place.
CREATE FUNCTION note_state_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_LEVEL = 'STATEMENT' THEN
    INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state, operator, amount_minor, payment_created_at)
    SELECT merchant_id, kind, id, state, operator, amount_minor, created_at FROM created;
  ELSIF TG_TABLE_NAME = 'payments' THEN
    INSERT INTO public.state_changes
      (merchant_id, kind, object_id, from_state, to_state, operator, amount_minor, payment_created_at, seconds)
    VALUES (NEW.merchant_id, NEW.kind, NEW.id, OLD.state, NEW.state, NEW.operator, NEW.amount_minor, NEW.created_at,
      -- A return, or an outcome after the end, does not count as the duration of the payment.
      CASE WHEN OLD.state IN ('initiated', 'prompted', 'released', 'reconciling')
          AND NEW.state IN ('succeeded', 'failed', 'expired')
        THEN greatest(0, extract(epoch FROM NEW.updated_at
          - CASE NEW.kind WHEN 'collection' THEN NEW.created_at ELSE coalesce(NEW.send_begun_at, OLD.updated_at) END)) END);
    -- How often a checkout was paid counts the attempts that are paid, also those whose money was returned since.
    IF NEW.kind = 'collection' AND NEW.state = 'succeeded' THEN
      INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state)
      SELECT k.merchant_id, 'checkout', k.id,
        CASE WHEN k.use = 'one_time' THEN 'completed'
             WHEN k.cancelled_at IS NOT NULL THEN 'cancelled'
             WHEN k.expires_at <= clock_timestamp() THEN 'expired'
             ELSE 'open' END
      FROM public.checkout_attempts a JOIN public.checkouts k ON k.id = a.checkout_id WHERE a.collection_id = NEW.id;
    END IF;
  ELSIF TG_TABLE_NAME = 'checkouts' THEN
    INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state)
    VALUES (NEW.merchant_id, 'checkout', NEW.id, CASE WHEN NEW.cancelled_at IS NULL THEN 'open' ELSE 'cancelled' END);
  ELSE
    INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state)
    VALUES (NEW.merchant_id, TG_ARGV[0], NEW.id, NEW.state);
  END IF;
  RETURN NULL;
END $$;
