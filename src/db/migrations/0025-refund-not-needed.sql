-- A refund that was requested, and that the operator then made needless: it returned the collection before anything was sent.
--
-- Rules that the database itself enforces here:
-- - Only a refund fails as `already_returned`: one that nobody sent, of a collection that is reversed.

ALTER TABLE collections ADD CONSTRAINT collections_already_returned CHECK (failure_code <> 'already_returned');
ALTER TABLE payouts ADD CONSTRAINT payouts_already_returned CHECK (failure_code <> 'already_returned');
ALTER TABLE reversals
  ADD CONSTRAINT reversals_already_returned CHECK (failure_code <> 'already_returned' OR send_begun_at IS NULL);

CREATE FUNCTION check_already_returned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'refund % is still needed: its collection was not returned', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversals_check_already_returned BEFORE UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.failure_code = 'already_returned') EXECUTE FUNCTION check_already_returned();

CREATE OR REPLACE FUNCTION check_failed_by() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Constraints see to it that nothing was sent (0010-send-begun.sql, and above).
  IF NEW.failed_by = 'never_sent' AND NEW.failure_code IN ('service_unavailable', 'already_returned')
     OR NEW.failed_by = 'declined' AND coalesce(NEW.failure_code, '') NOT IN ('service_unavailable', 'already_returned')
     OR NEW.failed_by = 'never_accepted' AND NEW.failure_code = 'operator_unavailable' AND NEW.accepted_at IS NULL
        AND NEW.not_found_count >= 2 AND NEW.not_found_last_at > NEW.not_found_since THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% cannot fail with % by %: the row does not say so', OLD.id, NEW.failure_code, NEW.failed_by
    USING ERRCODE = 'restrict_violation';
END $$;
