-- An attestation says that a row is ours, and not that no row is missing. So no row that says who may do what leaves its place.
--
-- Rules that the database itself enforces here:
-- - What names such a row never changes.
-- - A passkey is added under the lock of its person's row, whose attestation names the passkeys.

CREATE FUNCTION keep_key_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what names a row of % never changes', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER users_key_kept BEFORE UPDATE ON users
  FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER passkeys_key_kept BEFORE UPDATE ON passkeys
  FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER members_key_kept BEFORE UPDATE ON members
  FOR EACH ROW WHEN ((NEW.merchant_id, NEW.user_id) <> (OLD.merchant_id, OLD.user_id))
  EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER sessions_key_kept BEFORE UPDATE ON sessions
  FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER api_keys_key_kept BEFORE UPDATE ON api_keys
  FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER policies_key_kept BEFORE UPDATE ON policies
  FOR EACH ROW WHEN (NEW.merchant_id <> OLD.merchant_id) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER invitations_key_kept BEFORE UPDATE ON invitations
  FOR EACH ROW WHEN ((NEW.id, NEW.merchant_id) <> (OLD.id, OLD.merchant_id)) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER recoveries_key_kept BEFORE UPDATE ON recoveries
  FOR EACH ROW WHEN (NEW.id <> OLD.id) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER member_changes_key_kept BEFORE UPDATE ON member_changes
  FOR EACH ROW WHEN ((NEW.id, NEW.merchant_id) <> (OLD.id, OLD.merchant_id)) EXECUTE FUNCTION keep_key_of_row();
CREATE TRIGGER policy_changes_key_kept BEFORE UPDATE ON policy_changes
  FOR EACH ROW WHEN ((NEW.id, NEW.merchant_id) <> (OLD.id, OLD.merchant_id)) EXECUTE FUNCTION keep_key_of_row();

CREATE FUNCTION lock_person_of_passkey() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM users WHERE id = NEW.user_id FOR NO KEY UPDATE;
  RETURN NEW;
END $$;
CREATE TRIGGER passkeys_lock_person BEFORE INSERT ON passkeys FOR EACH ROW EXECUTE FUNCTION lock_person_of_passkey();
