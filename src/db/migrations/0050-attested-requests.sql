-- Requests are attested: the process that records a payout or a refund attests what was requested, with a key that the
-- database does not have (MALIPO_ATTESTATION_KEYS). Nobody approves one whose row is not as it was requested.
--
-- What is queued from before this migration has none, and is approved no more: reject it, and request it again.
--
-- Rules that the database itself enforces here:
-- - A new payout or refund has an attestation of its request. It changes while it is queued alone, with the number of
--   approvals that it needs.

ALTER TABLE payouts ADD COLUMN request_attestation text;
ALTER TABLE reversals ADD COLUMN request_attestation text;

CREATE FUNCTION refuse_unattested_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the request of % has an attestation, which changes with the approvals that it needs alone', NEW.id
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payouts_check_request_attested BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.request_attestation IS NULL) EXECUTE FUNCTION refuse_unattested_request();
CREATE TRIGGER reversals_check_request_attested BEFORE INSERT ON reversals
  FOR EACH ROW WHEN (NEW.request_attestation IS NULL) EXECUTE FUNCTION refuse_unattested_request();
CREATE TRIGGER payouts_check_request_attestation BEFORE UPDATE OF request_attestation ON payouts
  FOR EACH ROW WHEN (NEW.request_attestation IS DISTINCT FROM OLD.request_attestation
    AND (NEW.request_attestation IS NULL OR NEW.approvals_required = OLD.approvals_required OR OLD.state <> 'queued'))
  EXECUTE FUNCTION refuse_unattested_request();
CREATE TRIGGER reversals_check_request_attestation BEFORE UPDATE OF request_attestation ON reversals
  FOR EACH ROW WHEN (NEW.request_attestation IS DISTINCT FROM OLD.request_attestation
    AND (NEW.request_attestation IS NULL OR NEW.approvals_required = OLD.approvals_required OR OLD.state <> 'queued'))
  EXECUTE FUNCTION refuse_unattested_request();
