-- What a new collection or payout adds to the totals, to the figures of the service and to the live updates, written once for each
-- statement and not three times for each row: many collections are accepted by one statement.
--
-- Rules that the database itself enforces here:
-- - As before: each new payment adds one row to payment_total_changes, one to payment_moves and one to live_updates, in its transaction.

DROP TRIGGER collections_count_created ON collections;
DROP TRIGGER collections_move_created ON collections;
DROP TRIGGER collections_note_created ON collections;
DROP TRIGGER payouts_count_created ON payouts;
DROP TRIGGER payouts_move_created ON payouts;
DROP TRIGGER payouts_note_created ON payouts;

-- The argument: the kind of payment.
CREATE FUNCTION note_created_payments() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payment_total_changes (merchant_id, quarter_at, kind, operator, to_state, amount_minor)
    SELECT merchant_id, quarter_of(created_at), TG_ARGV[0], operator, state, amount_minor FROM created;
  INSERT INTO payment_moves (kind, operator, to_state) SELECT TG_ARGV[0], operator, state FROM created;
  INSERT INTO live_updates (merchant_id, kind, object_id, state) SELECT merchant_id, TG_ARGV[0], id, state FROM created;
  RETURN NULL;
END $$;

CREATE TRIGGER collections_note_created AFTER INSERT ON collections
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_created_payments('collection');
CREATE TRIGGER payouts_note_created AFTER INSERT ON payouts
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_created_payments('payout');
