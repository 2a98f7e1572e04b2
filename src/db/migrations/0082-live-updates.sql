-- Live updates: which object of a merchant came into which state, for pages to read it again.
--
-- A row holds an id and a state and nothing else of the object. It is written by triggers, in the transaction of what it says, with
-- the number of that transaction. Rows become visible in the order of commits and not of their ids, so a reader goes by numbers of
-- transactions: below the lowest number that is still under way, nothing can be added any more.

CREATE TABLE live_updates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  merchant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT live_updates_kind CHECK (kind IN ('collection', 'payout', 'reversal', 'delivery', 'endpoint', 'replay'))
);
CREATE INDEX live_updates_feed ON live_updates (merchant_id, xid, id);
CREATE INDEX live_updates_age ON live_updates (changed_at);

CREATE FUNCTION note_live_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO live_updates (merchant_id, kind, object_id, state) VALUES (NEW.merchant_id, TG_ARGV[0], NEW.id, NEW.state);
  RETURN NULL;
END $$;

CREATE TRIGGER collections_note_created AFTER INSERT ON collections
  FOR EACH ROW EXECUTE FUNCTION note_live_update('collection');
CREATE TRIGGER collections_note_changed AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('collection');
CREATE TRIGGER payouts_note_created AFTER INSERT ON payouts
  FOR EACH ROW EXECUTE FUNCTION note_live_update('payout');
CREATE TRIGGER payouts_note_changed AFTER UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('payout');
CREATE TRIGGER reversals_note_created AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION note_live_update('reversal');
CREATE TRIGGER reversals_note_changed AFTER UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('reversal');
-- A delivery is owed with its event, which another update reports.
CREATE TRIGGER deliveries_note_changed AFTER UPDATE OF state ON deliveries
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('delivery');
CREATE TRIGGER endpoints_note_created AFTER INSERT ON endpoints
  FOR EACH ROW EXECUTE FUNCTION note_live_update('endpoint');
CREATE TRIGGER endpoints_note_changed AFTER UPDATE ON endpoints
  FOR EACH ROW EXECUTE FUNCTION note_live_update('endpoint');
CREATE TRIGGER replays_note_created AFTER INSERT ON replays
  FOR EACH ROW EXECUTE FUNCTION note_live_update('replay');
CREATE TRIGGER replays_note_changed AFTER UPDATE ON replays
  FOR EACH ROW EXECUTE FUNCTION note_live_update('replay');

-- An approval that is not the last one leaves the state as it is, and changes for whom the payment waits.
CREATE FUNCTION note_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'payout' THEN
    INSERT INTO live_updates (merchant_id, kind, object_id, state) VALUES (NEW.merchant_id, 'payout', NEW.payout_id, 'queued');
  ELSE
    INSERT INTO live_updates (merchant_id, kind, object_id, state) VALUES (NEW.merchant_id, 'reversal', NEW.reversal_id, 'queued');
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER payout_approvals_note AFTER INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION note_approval('payout');
CREATE TRIGGER reversal_approvals_note AFTER INSERT ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION note_approval('reversal');
