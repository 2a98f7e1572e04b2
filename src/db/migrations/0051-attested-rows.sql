-- The rows that say who may do what are attested: the process that writes one attests it with a key that the database does
-- not have (MALIPO_ATTESTATION_KEYS), and a row without its attestation lets nobody in and gives nobody a right.
--
-- `npm run merchant -- attestations adopt` attests the rows of before this migration, once. Sessions and recoveries of
-- before are over: people log in again.

ALTER TABLE users ADD COLUMN attestation text;
ALTER TABLE passkeys ADD COLUMN attestation text;
ALTER TABLE members ADD COLUMN attestation text;
ALTER TABLE sessions ADD COLUMN attestation text;
ALTER TABLE api_keys ADD COLUMN attestation text;
ALTER TABLE policies ADD COLUMN attestation text;
ALTER TABLE invitations ADD COLUMN attestation text;
ALTER TABLE recoveries ADD COLUMN attestation text;
ALTER TABLE member_changes ADD COLUMN attestation text;
ALTER TABLE policy_changes ADD COLUMN attestation text;

DELETE FROM sessions;
DELETE FROM recoveries;
-- Their digests have a key now: whoever had codes creates new ones.
DELETE FROM recovery_codes;

-- A recovery is approved once and otherwise never changed, and it is attested after each of the two.
DROP TRIGGER recoveries_check ON recoveries;
CREATE TRIGGER recoveries_check
  BEFORE INSERT OR UPDATE OF id, user_id, reason, requested_by, approved_by, approved_at, token_sha256, created_at, expires_at
  ON recoveries FOR EACH ROW EXECUTE FUNCTION check_recovery();
