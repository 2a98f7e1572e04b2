-- When the first try to send a payment began, of collections too, and what follows from it.
--
-- Rules that the database itself enforces here:
-- - A send begins once, in the state in which the payment may be sent and before its deadline.
-- - A payment that ended because nobody tried to send it (`service_unavailable`) has no send, then or later.

ALTER TABLE collections ADD COLUMN send_begun_at timestamptz;
-- Of these nobody recorded it, so each counts as sent.
UPDATE collections SET send_begun_at = created_at WHERE state IN ('initiated', 'prompted', 'reconciling');

ALTER TABLE collections
  ADD CONSTRAINT collections_never_sent CHECK (failure_code <> 'service_unavailable' OR send_begun_at IS NULL);
ALTER TABLE payouts
  ADD CONSTRAINT payouts_never_sent CHECK (failure_code <> 'service_unavailable' OR send_begun_at IS NULL);
ALTER TABLE reversals
  ADD CONSTRAINT reversals_never_sent CHECK (failure_code <> 'service_unavailable' OR send_begun_at IS NULL);

CREATE FUNCTION refuse_send_begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a send of % can begin once, while it may be sent and before its deadline', OLD.id
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_check_send_begun BEFORE UPDATE OF send_begun_at ON collections
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'initiated'
    AND NEW.send_begun_at < NEW.prompt_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
CREATE TRIGGER payouts_check_send_begun BEFORE UPDATE OF send_begun_at ON payouts
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_begun_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
CREATE TRIGGER reversals_check_send_begun BEFORE UPDATE OF send_begun_at ON reversals
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'requested'
    AND NEW.send_begun_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
