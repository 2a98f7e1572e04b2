-- Releases are attested: the process that records an approval, and the one that records a release, attests it with a key that the
-- database does not have (MALIPO_ATTESTATION_KEYS), and nothing is sent on a release without its attestation.
--
-- What was released before this migration has none. It is not sent any more, its money stays held, and a person settles it:
-- nothing tells such a row from one that was written by hand. An approval of before does not count.
--
-- Rules that the database itself enforces here:
-- - An approval and a release have an attestation, and that of a release changes only with the release itself. Whether it is
--   right, only a process with the key can tell.

ALTER TABLE payout_approvals ADD COLUMN attestation text CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$');
ALTER TABLE payouts ADD COLUMN release_attestation text CHECK (release_attestation ~ '^[A-Za-z0-9_-]{43}$');

CREATE FUNCTION refuse_unattested_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an approval has an attestation' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payout_approvals_check_attested BEFORE INSERT ON payout_approvals
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION refuse_unattested_approval();

CREATE FUNCTION refuse_unattested_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a release of % has an attestation, which changes with the release alone', NEW.id
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payouts_check_created_attestation BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.release_attestation IS NOT NULL) EXECUTE FUNCTION refuse_unattested_release();
CREATE TRIGGER payouts_check_release_attested BEFORE UPDATE OF state, release_attestation ON payouts
  FOR EACH ROW WHEN (
    CASE WHEN OLD.state = 'queued' AND NEW.state = 'released' THEN NEW.release_attestation IS NULL
         ELSE NEW.release_attestation IS DISTINCT FROM OLD.release_attestation END)
  EXECUTE FUNCTION refuse_unattested_release();

ALTER TABLE discrepancies
  DROP CONSTRAINT discrepancies_kind_check,
  ADD CONSTRAINT discrepancies_kind_check CHECK (kind IN (
    'paid_after_failed', 'declined_after_paid', 'refunded_twice', 'receipt_reused', 'paid_otherwise', 'release_unattested'));
