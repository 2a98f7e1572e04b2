-- `npm run merchant -- attestations adopt` attests rows that have no attestation at all, because they are older than attestations.
-- So no other row is ever without one: nobody writes a row by hand and waits until somebody adopts it.
--
-- Rules that the database itself enforces here:
-- - A new row has an attestation, empty until the process that writes it has attested it.
-- - A row that has an attestation never loses it.

CREATE FUNCTION keep_attestation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a row of % has an attestation, and never loses it', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

ALTER TABLE users ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER users_attestation_made BEFORE INSERT ON users
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER users_attestation_kept BEFORE UPDATE OF attestation ON users
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE passkeys ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER passkeys_attestation_made BEFORE INSERT ON passkeys
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER passkeys_attestation_kept BEFORE UPDATE OF attestation ON passkeys
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE members ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER members_attestation_made BEFORE INSERT ON members
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER members_attestation_kept BEFORE UPDATE OF attestation ON members
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE sessions ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER sessions_attestation_made BEFORE INSERT ON sessions
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER sessions_attestation_kept BEFORE UPDATE OF attestation ON sessions
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE api_keys ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER api_keys_attestation_made BEFORE INSERT ON api_keys
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER api_keys_attestation_kept BEFORE UPDATE OF attestation ON api_keys
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE policies ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER policies_attestation_made BEFORE INSERT ON policies
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER policies_attestation_kept BEFORE UPDATE OF attestation ON policies
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE invitations ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER invitations_attestation_made BEFORE INSERT ON invitations
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER invitations_attestation_kept BEFORE UPDATE OF attestation ON invitations
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE recoveries ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER recoveries_attestation_made BEFORE INSERT ON recoveries
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER recoveries_attestation_kept BEFORE UPDATE OF attestation ON recoveries
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE member_changes ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER member_changes_attestation_made BEFORE INSERT ON member_changes
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER member_changes_attestation_kept BEFORE UPDATE OF attestation ON member_changes
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
ALTER TABLE policy_changes ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER policy_changes_attestation_made BEFORE INSERT ON policy_changes
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER policy_changes_attestation_kept BEFORE UPDATE OF attestation ON policy_changes
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
