-- When each API key was last used, in a row of its own. The row of a key then changes with the key alone, and whoever relies on the
-- version of that row need not verify the key again because it was used. The column of before stays for servers of the version
-- before, which may run meanwhile; nothing else reads it.
--
-- Rules that the database itself enforces here:
-- - Every API key has its row, and keeps it.
-- - As before: that a key was used is never cleared.

CREATE TABLE api_key_uses (
  api_key_id text COLLATE "C" NOT NULL CONSTRAINT api_key_uses_pkey PRIMARY KEY
    CONSTRAINT api_key_uses_api_key_fkey REFERENCES api_keys,
  last_used_at timestamptz
);
INSERT INTO api_key_uses (api_key_id, last_used_at) SELECT id, last_used_at FROM api_keys;
CREATE TRIGGER api_key_uses_kept BEFORE DELETE OR TRUNCATE ON api_key_uses
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_uses_cleared() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the last use of API key % cannot be cleared', OLD.api_key_id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER api_key_uses_stay BEFORE UPDATE ON api_key_uses
  FOR EACH ROW WHEN (NEW.api_key_id <> OLD.api_key_id OR OLD.last_used_at IS NOT NULL AND NEW.last_used_at IS NULL)
  EXECUTE FUNCTION refuse_uses_cleared();

CREATE FUNCTION add_api_key_use() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO api_key_uses (api_key_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER api_keys_add_use AFTER INSERT ON api_keys
  FOR EACH ROW EXECUTE FUNCTION add_api_key_use();
