-- What may change of an API key. Its siblings have such a rule since 0001.
--
-- Rules that the database itself enforces here:
-- - What a key was created for never changes: merchant, name, environment, digest, scopes and creator.
-- - A key can only end sooner: an expiry is set or brought forward, and a revocation stays as it is.
-- - A key is replaced once, by another key of its merchant.
-- - No API key is ever deleted: payouts and audit entries refer to it.

CREATE TRIGGER api_keys_kept BEFORE DELETE OR TRUNCATE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_api_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.name, NEW.environment, NEW.hint, NEW.key_sha256, NEW.scopes, NEW.created_by,
      NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.name, OLD.environment, OLD.hint, OLD.key_sha256, OLD.scopes, OLD.created_by,
      OLD.created_at) THEN
    RAISE EXCEPTION 'what API key % was created for cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.last_used_at IS NOT NULL AND NEW.last_used_at IS NULL THEN
    RAISE EXCEPTION 'the last use of API key % cannot be cleared', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.expires_at IS NOT NULL AND (NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at)
     OR OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN
    RAISE EXCEPTION 'API key % can only end sooner', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.replaced_by IS NOT NULL AND NEW.replaced_by IS DISTINCT FROM OLD.replaced_by THEN
    RAISE EXCEPTION 'API key % can be replaced only once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.replaced_by IS DISTINCT FROM OLD.replaced_by AND (NEW.replaced_by = NEW.id
       OR EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.replaced_by AND merchant_id <> NEW.merchant_id)) THEN
    RAISE EXCEPTION 'API key % can only be replaced by a key of its own merchant', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER api_keys_check_change BEFORE UPDATE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION check_api_key_change();
