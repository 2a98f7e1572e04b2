-- Totals of payments: how many and how much, by merchant, kind, operator, quarter of an hour of their creation, and state.
--
-- A payment that is created or changes its state adds one row to payment_total_changes, in its own transaction, and touches nothing
-- that another payment touches. The dispatcher folds those rows into payment_totals, as many at a time as there are. Whoever reads
-- adds both, in one statement, so the totals are those of the rows at every moment, folded or not.
--
-- A quarter of an hour, because the days of every time zone begin at one.

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

CREATE TABLE payment_total_changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" NOT NULL,
  quarter_at timestamptz NOT NULL,
  kind text NOT NULL,
  operator text NOT NULL,
  -- Null: the payment was created.
  from_state text,
  to_state text NOT NULL,
  amount_minor bigint NOT NULL
);
-- For whoever reads before they are folded; there are few, unless no dispatcher runs.
CREATE INDEX payment_total_changes_merchant ON payment_total_changes (merchant_id, quarter_at);

CREATE FUNCTION quarter_of(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE
  AS $$ SELECT date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $$;

CREATE FUNCTION count_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_total_changes (merchant_id, quarter_at, kind, operator, from_state, to_state, amount_minor)
  VALUES (NEW.merchant_id, quarter_of(NEW.created_at), TG_ARGV[0], NEW.operator,
          CASE TG_OP WHEN 'UPDATE' THEN OLD.state END, NEW.state, NEW.amount_minor);
  RETURN NULL;
END $$;
CREATE TRIGGER collections_count_created AFTER INSERT ON collections
  FOR EACH ROW EXECUTE FUNCTION count_payment('collection');
CREATE TRIGGER collections_count_changed AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION count_payment('collection');
CREATE TRIGGER payouts_count_created AFTER INSERT ON payouts
  FOR EACH ROW EXECUTE FUNCTION count_payment('payout');
CREATE TRIGGER payouts_count_changed AFTER UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION count_payment('payout');

-- The rows that are there already. This migration holds back new ones until it is committed.
INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor)
  SELECT merchant_id, quarter_of(created_at), 'collection', operator, state, count(*), sum(amount_minor)
  FROM collections GROUP BY 1, 2, 4, 5
  UNION ALL
  SELECT merchant_id, quarter_of(created_at), 'payout', operator, state, count(*), sum(amount_minor)
  FROM payouts GROUP BY 1, 2, 4, 5;
