-- A payout or refund that was sent fails as never accepted only on evidence: the operator said more than once, over some
-- time, that it does not know it.
--
-- Rules that the database itself enforces here:
-- - The count of such statuses goes up one by one, each of them later than the last, or begins again at zero. Only those
--   after the send deadline count, of a payment that was sent and that the operator never accepted.
-- - A payout or refund that fails says by what: as never accepted with at least two such statuses, as never sent without
--   any send. How many there must be, and over how long, is the operator's own number (`confirmsNeverAccepted`).
-- - The operator's acceptance of a refund cannot be cleared.

ALTER TABLE payouts
  ADD COLUMN not_found_count integer NOT NULL DEFAULT 0,
  ADD COLUMN not_found_since timestamptz,
  -- Of the last status that was counted, or that made the count begin again.
  ADD COLUMN not_found_last_at timestamptz,
  -- Null for what failed before this migration.
  ADD COLUMN failed_by text,
  ADD CONSTRAINT payouts_failed_by CHECK (
    failed_by IS NULL OR state = 'failed' AND failed_by IN ('declined', 'never_sent', 'never_accepted')),
  ADD CONSTRAINT payouts_not_founds CHECK (
    not_found_count >= 0 AND (not_found_count = 0) = (not_found_since IS NULL)
    AND (not_found_count = 0 OR not_found_last_at >= not_found_since));
ALTER TABLE reversals
  ADD COLUMN not_found_count integer NOT NULL DEFAULT 0,
  ADD COLUMN not_found_since timestamptz,
  ADD COLUMN not_found_last_at timestamptz,
  ADD COLUMN failed_by text,
  ADD CONSTRAINT reversals_failed_by CHECK (
    failed_by IS NULL OR state = 'failed' AND failed_by IN ('declined', 'never_sent', 'never_accepted')),
  ADD CONSTRAINT reversals_not_founds CHECK (
    not_found_count >= 0 AND (not_found_count = 0) = (not_found_since IS NULL)
    AND (not_found_count = 0 OR not_found_last_at >= not_found_since));

CREATE FUNCTION check_not_founds() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_counted boolean := NEW.not_found_count = OLD.not_found_count + 1
    AND NEW.not_found_last_at > coalesce(OLD.not_found_last_at, '-infinity')
    AND NEW.not_found_since = coalesce(OLD.not_found_since, NEW.not_found_last_at)
    AND NEW.not_found_since >= NEW.send_deadline_at
    AND NEW.send_begun_at IS NOT NULL AND NEW.accepted_at IS NULL;
  begins_again boolean := NEW.not_found_count = 0
    AND NEW.not_found_last_at >= coalesce(OLD.not_found_last_at, '-infinity');
BEGIN
  IF NEW.state <> OLD.state OR NOT coalesce(is_counted, false) AND NOT coalesce(begins_again, false) THEN
    RAISE EXCEPTION 'what counts against % is one later status of a payment that was sent and never accepted', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_check_not_founds BEFORE UPDATE OF not_found_count, not_found_since, not_found_last_at ON payouts
  FOR EACH ROW WHEN ((NEW.not_found_count, NEW.not_found_since, NEW.not_found_last_at)
    IS DISTINCT FROM (OLD.not_found_count, OLD.not_found_since, OLD.not_found_last_at))
  EXECUTE FUNCTION check_not_founds();
CREATE TRIGGER reversals_check_not_founds BEFORE UPDATE OF not_found_count, not_found_since, not_found_last_at ON reversals
  FOR EACH ROW WHEN ((NEW.not_found_count, NEW.not_found_since, NEW.not_found_last_at)
    IS DISTINCT FROM (OLD.not_found_count, OLD.not_found_since, OLD.not_found_last_at))
  EXECUTE FUNCTION check_not_founds();

CREATE FUNCTION check_failed_by() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.failed_by = 'declined' AND NEW.failure_code IS DISTINCT FROM 'service_unavailable'
     -- A constraint of 0010-send-begun.sql sees to it that nothing was sent.
     OR NEW.failed_by = 'never_sent' AND NEW.failure_code = 'service_unavailable'
     OR NEW.failed_by = 'never_accepted' AND NEW.failure_code = 'operator_unavailable' AND NEW.accepted_at IS NULL
        AND NEW.not_found_count >= 2 AND NEW.not_found_last_at > NEW.not_found_since THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% cannot fail with % by %: the row does not say so', OLD.id, NEW.failure_code, NEW.failed_by
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payouts_check_failed_by BEFORE UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state = 'failed' AND OLD.state <> 'failed') EXECUTE FUNCTION check_failed_by();
CREATE TRIGGER reversals_check_failed_by BEFORE UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.state = 'failed' AND OLD.state <> 'failed') EXECUTE FUNCTION check_failed_by();

CREATE FUNCTION refuse_cause_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % failed by can change only together with its state', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payouts_check_cause_change BEFORE UPDATE OF failed_by ON payouts
  FOR EACH ROW WHEN (NEW.state = OLD.state AND NEW.failed_by IS DISTINCT FROM OLD.failed_by)
  EXECUTE FUNCTION refuse_cause_change();
CREATE TRIGGER reversals_check_cause_change BEFORE UPDATE OF failed_by ON reversals
  FOR EACH ROW WHEN (NEW.state = OLD.state AND NEW.failed_by IS DISTINCT FROM OLD.failed_by)
  EXECUTE FUNCTION refuse_cause_change();

CREATE FUNCTION refuse_clearing_acceptance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'accepted_at of % cannot be cleared', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER reversals_check_acceptance BEFORE UPDATE OF accepted_at ON reversals
  FOR EACH ROW WHEN (OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL)
  EXECUTE FUNCTION refuse_clearing_acceptance();
