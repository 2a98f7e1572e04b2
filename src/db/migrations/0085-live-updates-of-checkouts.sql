-- Live updates of checkouts: created, cancelled, and paid. That one expired is no change of a row: whoever shows it knows when.

-- Rows of before have a narrower choice of kinds, so none is looked at.
ALTER TABLE live_updates DROP CONSTRAINT live_updates_kind;
ALTER TABLE live_updates ADD CONSTRAINT live_updates_kind
  CHECK (kind IN ('collection', 'payout', 'reversal', 'delivery', 'endpoint', 'replay', 'checkout')) NOT VALID;

CREATE FUNCTION note_checkout() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO live_updates (merchant_id, kind, object_id, state) VALUES (NEW.merchant_id, 'checkout', NEW.id, TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE TRIGGER checkouts_note_created AFTER INSERT ON checkouts
  FOR EACH ROW EXECUTE FUNCTION note_checkout('open');
CREATE TRIGGER checkouts_note_cancelled AFTER UPDATE OF cancelled_at ON checkouts
  FOR EACH ROW WHEN (NEW.cancelled_at IS DISTINCT FROM OLD.cancelled_at) EXECUTE FUNCTION note_checkout('cancelled');

-- How often a checkout was paid counts the attempts that are paid, also those whose money was returned since.
CREATE FUNCTION note_paid_checkout() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO live_updates (merchant_id, kind, object_id, state)
  SELECT k.merchant_id, 'checkout', k.id,
    CASE WHEN k.use = 'one_time' THEN 'completed'
         WHEN k.cancelled_at IS NOT NULL THEN 'cancelled'
         WHEN k.expires_at <= clock_timestamp() THEN 'expired'
         ELSE 'open' END
  FROM checkout_attempts a JOIN checkouts k ON k.id = a.checkout_id WHERE a.collection_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER collections_note_paid_checkout AFTER UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state IN ('succeeded', 'reversed') AND OLD.state NOT IN ('succeeded', 'reversed'))
  EXECUTE FUNCTION note_paid_checkout();
