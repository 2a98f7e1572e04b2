-- A collection that expired because the operator never said how it ended, and that the operator later calls failed, gets
-- that outcome.
--
-- Rules that the database itself enforces here:
-- - Only a collection whose failure is `unknown` fails after it expired: any other expiry was the operator's own word.

INSERT INTO collection_transitions (from_state, to_state) VALUES ('expired', 'failed');

CREATE FUNCTION check_collection_failed_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.failure_code <> 'unknown' THEN
    RAISE EXCEPTION 'collection % expired as %, so it cannot fail later', OLD.id, OLD.failure_code
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_check_failed_late BEFORE UPDATE OF state ON collections
  FOR EACH ROW WHEN (OLD.state = 'expired' AND NEW.state = 'failed') EXECUTE FUNCTION check_collection_failed_late();
