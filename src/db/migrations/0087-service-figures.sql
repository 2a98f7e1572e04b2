-- Figures of the whole service for its metrics: how many payments are in each state, how many ever came into it, and how long they
-- took to their outcome. Reading them costs the same however many payments there are.
--
-- As with the totals of a merchant (0081), a change adds one row to payment_moves in its own transaction and touches nothing that
-- another payment touches; the dispatcher folds those rows. A table of its own and not payment_total_changes: a dispatcher of the
-- version before deletes rows there that it has not counted here. No row has an id of anything, or an amount.
--
-- Rules that the database itself enforces here:
-- - There is one figure of each kind, operator and state, and one number of payments of each duration.

CREATE TABLE payment_moves (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  operator text NOT NULL,
  -- Null: it was created, or it is a delivery, of which only the dead-lettered are counted.
  from_state text,
  to_state text NOT NULL,
  -- With the outcome: of a collection since its creation, of a payout or reversal since the first try to send it.
  seconds double precision
);

CREATE TABLE payment_figures (
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  -- How many are in the state, and how many ever came into it.
  present bigint NOT NULL,
  entered bigint NOT NULL,
  CONSTRAINT payment_figures_pkey PRIMARY KEY (kind, operator, state)
);

CREATE TABLE payment_durations (
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  -- They took at most so long, and longer than the bound below.
  at_most_seconds double precision NOT NULL,
  count bigint NOT NULL,
  seconds double precision NOT NULL,
  CONSTRAINT payment_durations_pkey PRIMARY KEY (kind, operator, state, at_most_seconds)
);

-- Nothing is created or changed while the rows of before are counted.
LOCK TABLE collections, payouts, reversals, deliveries, endpoints IN SHARE ROW EXCLUSIVE MODE;

-- The argument: the kind of payment.
CREATE FUNCTION note_payment_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  operator_id text;
  took double precision;
BEGIN
  IF TG_ARGV[0] = 'reversal' THEN
    SELECT operator INTO operator_id FROM collections WHERE id = NEW.collection_id;
  ELSE
    operator_id := NEW.operator;
  END IF;
  -- A return, or an outcome that comes after the end, is not how long the payment took.
  IF TG_OP = 'UPDATE' THEN
    IF TG_ARGV[0] = 'collection' THEN
      IF OLD.state IN ('initiated', 'prompted', 'reconciling') AND NEW.state IN ('succeeded', 'failed', 'expired') THEN
        took := extract(epoch FROM NEW.updated_at - NEW.created_at);
      END IF;
    ELSIF OLD.state IN ('released', 'reconciling') AND NEW.state IN ('succeeded', 'failed') THEN
      took := extract(epoch FROM NEW.updated_at - coalesce(NEW.send_begun_at, OLD.updated_at));
    END IF;
  END IF;
  INSERT INTO payment_moves (kind, operator, from_state, to_state, seconds)
  VALUES (TG_ARGV[0], operator_id, CASE TG_OP WHEN 'UPDATE' THEN OLD.state END, NEW.state,
          -- `greatest` alone would make 0 of none.
          CASE WHEN took IS NOT NULL THEN greatest(took, 0) END);
  RETURN NULL;
END $$;

CREATE TRIGGER collections_move_created AFTER INSERT ON collections
  FOR EACH ROW EXECUTE FUNCTION note_payment_move('collection');
CREATE TRIGGER collections_move_changed AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_payment_move('collection');
CREATE TRIGGER payouts_move_created AFTER INSERT ON payouts
  FOR EACH ROW EXECUTE FUNCTION note_payment_move('payout');
CREATE TRIGGER payouts_move_changed AFTER UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_payment_move('payout');
CREATE TRIGGER reversals_move_created AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION note_payment_move('reversal');
CREATE TRIGGER reversals_move_changed AFTER UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_payment_move('reversal');

CREATE FUNCTION note_dead_letter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_moves (kind, operator, to_state) VALUES ('delivery', '', 'dead_lettered');
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_move_dead_lettered AFTER UPDATE OF state ON deliveries
  FOR EACH ROW WHEN (NEW.state = 'dead_lettered' AND OLD.state <> 'dead_lettered') EXECUTE FUNCTION note_dead_letter();

-- The payments that are there already: into which states they came before is not counted.
INSERT INTO payment_figures (kind, operator, state, present, entered)
  SELECT 'collection', operator, state, count(*), count(*) FROM collections GROUP BY 2, 3
  UNION ALL
  SELECT 'payout', operator, state, count(*), count(*) FROM payouts GROUP BY 2, 3
  UNION ALL
  SELECT 'reversal', c.operator, r.state, count(*), count(*) FROM reversals r JOIN collections c ON c.id = r.collection_id
  GROUP BY 2, 3;

-- The oldest payment in each state that something is awaited in.
CREATE INDEX collections_unfinished ON collections (state, updated_at) WHERE state IN ('initiated', 'prompted', 'reconciling');
CREATE INDEX payouts_unfinished ON payouts (state, updated_at) WHERE state IN ('queued', 'released', 'reconciling');
CREATE INDEX reversals_unfinished ON reversals (state, updated_at) WHERE state IN ('queued', 'released', 'reconciling');
CREATE INDEX endpoints_disabled ON endpoints (disabled_reason) WHERE state = 'disabled' AND deleted_at IS NULL;
