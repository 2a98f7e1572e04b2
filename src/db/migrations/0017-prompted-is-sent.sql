-- What follows for a collection whose prompt the operator accepted: it was sent, whoever sent it.
--
-- While a new version replaces an old one, a worker of before 0010-send-begun.sql still raises prompts without recording
-- that a send begins. The operator's acceptance says the same.
--
-- Rules that the database itself enforces here:
-- - A collection that was prompted has a time at which its send began.
-- - A collection that was prompted does not end as never sent. What ended so before this migration stays as it is.

CREATE FUNCTION record_prompted_send() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Not before its creation; nobody recorded more.
  NEW.send_begun_at := NEW.created_at;
  RETURN NEW;
END $$;
CREATE TRIGGER collections_record_prompted_send BEFORE UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.state = 'prompted' AND NEW.send_begun_at IS NULL) EXECUTE FUNCTION record_prompted_send();

CREATE FUNCTION refuse_prompted_as_never_sent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'collection % was prompted, so it cannot end as never sent', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_check_never_sent BEFORE UPDATE OF state ON collections
  FOR EACH ROW WHEN (NEW.failure_code = 'service_unavailable' AND OLD.prompt_expires_at IS NOT NULL)
  EXECUTE FUNCTION refuse_prompted_as_never_sent();

-- What ended as never sent is rechecked like everything that expired: a worker of before may have sent it.
UPDATE collections SET check_due_at = now()
WHERE state = 'expired' AND failure_code = 'service_unavailable' AND check_due_at IS NULL;
