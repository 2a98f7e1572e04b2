-- Attestations are numbered, and attest the name of a person too: it says to others who asks for something. Those of before are void.
-- `npm run merchant -- attestations adopt` attests the rows of before this migration, once. Sessions and recoveries of before are
-- over: people log in again.
--
-- Rules that the database itself enforces here:
-- - Another attestation of a row has a greater number, so that nobody puts back what the row was before.
-- - A proposal that was decided, withdrawn or replaced stays so.

CREATE FUNCTION number_of_attestation(attestation text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(substring(attestation FROM '^([1-9][0-9]{0,17})[.]'), '0')::bigint
$$;
CREATE FUNCTION keep_newer_attestation() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF number_of_attestation(NEW.attestation) <= number_of_attestation(OLD.attestation) THEN
    RAISE EXCEPTION 'another attestation of a row of % has a greater number', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

DELETE FROM sessions;
DELETE FROM recoveries;

CREATE FUNCTION keep_decided_proposal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a decided proposal stays as it was decided' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER member_changes_decided_kept BEFORE UPDATE ON member_changes
  FOR EACH ROW WHEN (OLD.state <> 'pending'
    AND (NEW.state, NEW.decided_by, NEW.decided_at) IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at))
  EXECUTE FUNCTION keep_decided_proposal();
CREATE TRIGGER policy_changes_decided_kept BEFORE UPDATE ON policy_changes
  FOR EACH ROW WHEN (OLD.state <> 'pending'
    AND (NEW.state, NEW.decided_by, NEW.decided_at) IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at))
  EXECUTE FUNCTION keep_decided_proposal();

ALTER TABLE users DISABLE TRIGGER USER;
UPDATE users SET attestation = NULL;
ALTER TABLE users ENABLE TRIGGER USER;
CREATE TRIGGER users_attestation_newer BEFORE UPDATE OF attestation ON users
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE passkeys DISABLE TRIGGER USER;
UPDATE passkeys SET attestation = NULL;
ALTER TABLE passkeys ENABLE TRIGGER USER;
CREATE TRIGGER passkeys_attestation_newer BEFORE UPDATE OF attestation ON passkeys
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE members DISABLE TRIGGER USER;
UPDATE members SET attestation = NULL;
ALTER TABLE members ENABLE TRIGGER USER;
CREATE TRIGGER members_attestation_newer BEFORE UPDATE OF attestation ON members
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE sessions DISABLE TRIGGER USER;
UPDATE sessions SET attestation = NULL;
ALTER TABLE sessions ENABLE TRIGGER USER;
CREATE TRIGGER sessions_attestation_newer BEFORE UPDATE OF attestation ON sessions
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE api_keys DISABLE TRIGGER USER;
UPDATE api_keys SET attestation = NULL;
ALTER TABLE api_keys ENABLE TRIGGER USER;
CREATE TRIGGER api_keys_attestation_newer BEFORE UPDATE OF attestation ON api_keys
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE policies DISABLE TRIGGER USER;
UPDATE policies SET attestation = NULL;
ALTER TABLE policies ENABLE TRIGGER USER;
CREATE TRIGGER policies_attestation_newer BEFORE UPDATE OF attestation ON policies
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE invitations DISABLE TRIGGER USER;
UPDATE invitations SET attestation = NULL;
ALTER TABLE invitations ENABLE TRIGGER USER;
CREATE TRIGGER invitations_attestation_newer BEFORE UPDATE OF attestation ON invitations
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE recoveries DISABLE TRIGGER USER;
UPDATE recoveries SET attestation = NULL;
ALTER TABLE recoveries ENABLE TRIGGER USER;
CREATE TRIGGER recoveries_attestation_newer BEFORE UPDATE OF attestation ON recoveries
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE member_changes DISABLE TRIGGER USER;
UPDATE member_changes SET attestation = NULL;
ALTER TABLE member_changes ENABLE TRIGGER USER;
CREATE TRIGGER member_changes_attestation_newer BEFORE UPDATE OF attestation ON member_changes
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

ALTER TABLE policy_changes DISABLE TRIGGER USER;
UPDATE policy_changes SET attestation = NULL;
ALTER TABLE policy_changes ENABLE TRIGGER USER;
CREATE TRIGGER policy_changes_attestation_newer BEFORE UPDATE OF attestation ON policy_changes
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();
