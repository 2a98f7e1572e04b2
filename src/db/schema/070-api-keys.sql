-- API keys and their uses.

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^key_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  environment text NOT NULL CHECK (environment IN ('test', 'live')),
  hint text NOT NULL CHECK (length(hint) = 4),
  key_sha256 bytea NOT NULL UNIQUE CHECK (length(key_sha256) = 32),
  scopes text[] NOT NULL CHECK (
    cardinality(scopes) > 0
    AND scopes <@ ARRAY['collections:read', 'collections:write', 'payouts:read', 'payouts:write', 'balance:read']
  ),
  allowed_addresses cidr[],
  created_by text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  replaced_by text COLLATE "C" REFERENCES api_keys,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT api_keys_created_by_member FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT api_keys_payouts_have_a_maker CHECK (created_by IS NOT NULL OR NOT 'payouts:write' = ANY (scopes)),
  CONSTRAINT api_keys_allowed_addresses
    CHECK (cardinality(allowed_addresses) BETWEEN 1 AND 20 AND array_position(allowed_addresses, NULL) IS NULL)
);
COMMENT ON TABLE api_keys IS 'A secret with which the server of a merchant calls the API. Only its digest is stored.';
COMMENT ON COLUMN api_keys.allowed_addresses IS 'The blocks of addresses from which the key works. Null: all addresses.';
COMMENT ON COLUMN api_keys.created_by IS 'The maker of the payouts that are created with the key.';
COMMENT ON COLUMN api_keys.replaced_by IS 'The key that a rotation created in its place.';

CREATE INDEX api_keys_merchant ON api_keys (merchant_id, id DESC);

CREATE TRIGGER api_keys_kept BEFORE DELETE OR TRUNCATE ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER api_keys_kept ON api_keys IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_api_key() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- In hours, because a day has 23 or 25 of them where clocks are changed.
    IF 'payouts:write' = ANY (NEW.scopes)
       AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.created_at + interval '8760 hours') THEN
      RAISE EXCEPTION 'API key % creates payouts, so it must end within 365 days', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.merchant_id, NEW.name, NEW.environment, NEW.hint, NEW.key_sha256, NEW.scopes, NEW.allowed_addresses,
      NEW.created_by, NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.name, OLD.environment, OLD.hint, OLD.key_sha256, OLD.scopes, OLD.allowed_addresses,
      OLD.created_by, OLD.created_at) THEN
    RAISE EXCEPTION 'what API key % was created for cannot change', OLD.id USING ERRCODE = 'restrict_violation';
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
CREATE TRIGGER api_keys_check BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION check_api_key();
COMMENT ON TRIGGER api_keys_check ON api_keys IS
  'Refuses a key that creates payouts and does not end within 365 days, to change what a key was created for or the addresses that '
  'it works from, to let it live longer, to replace it twice or by the key of another merchant, and an attestation whose number is '
  'not greater than that of the row.';

CREATE FUNCTION add_api_key_use() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO api_key_uses (api_key_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER api_keys_add_use AFTER INSERT ON api_keys
  FOR EACH ROW EXECUTE FUNCTION add_api_key_use();
COMMENT ON TRIGGER api_keys_add_use ON api_keys IS 'Refuses nothing. It adds the row of api_key_uses.';

CREATE TABLE api_key_uses (
  api_key_id text COLLATE "C" NOT NULL CONSTRAINT api_key_uses_pkey PRIMARY KEY
    CONSTRAINT api_key_uses_api_key_fkey REFERENCES api_keys,
  last_used_at timestamptz
);
COMMENT ON TABLE api_key_uses IS
  'When each API key was last used. The row is separate, so that the row of a key changes with the key alone, and a process that '
  'relies on the version of that row need not verify the key again after each use.';

CREATE TRIGGER api_key_uses_kept BEFORE DELETE OR TRUNCATE ON api_key_uses
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER api_key_uses_kept ON api_key_uses IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_api_key_use() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the last use of API key % cannot be cleared', OLD.api_key_id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER api_key_uses_check BEFORE UPDATE ON api_key_uses
  FOR EACH ROW WHEN (NEW.api_key_id <> OLD.api_key_id OR OLD.last_used_at IS NOT NULL AND NEW.last_used_at IS NULL)
  EXECUTE FUNCTION check_api_key_use();
COMMENT ON TRIGGER api_key_uses_check ON api_key_uses IS 'Refuses to clear the last use, and to change the key of the row.';
