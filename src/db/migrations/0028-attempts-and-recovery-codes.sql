-- Failed log-ins, for the person to be told of, and recovery codes in place of a lost second factor.
--
-- Rules: a recovery code is stored as its digest alone, belongs to one person, and is used once.

ALTER TABLE users
  -- Since the last log-in that succeeded, or since the person exists.
  ADD COLUMN failed_log_ins integer NOT NULL DEFAULT 0 CHECK (failed_log_ins >= 0),
  ADD COLUMN last_failed_at timestamptz,
  ADD COLUMN last_failed_address inet;

-- What the person had when this session was opened.
ALTER TABLE sessions
  ADD COLUMN failed_log_ins integer NOT NULL DEFAULT 0 CHECK (failed_log_ins >= 0),
  ADD COLUMN last_failed_at timestamptz,
  ADD COLUMN last_failed_address inet;

CREATE TABLE recovery_codes (
  user_id text COLLATE "C" NOT NULL REFERENCES users,
  code_sha256 bytea NOT NULL CHECK (length(code_sha256) = 32),
  created_at timestamptz NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (user_id, code_sha256)
);

CREATE FUNCTION check_recovery_code_use() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.used_at IS NOT NULL OR (NEW.user_id, NEW.code_sha256, NEW.created_at)
      IS DISTINCT FROM (OLD.user_id, OLD.code_sha256, OLD.created_at) THEN
    RAISE EXCEPTION 'a recovery code is used once and never changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER recovery_codes_used_once BEFORE UPDATE ON recovery_codes
  FOR EACH ROW EXECUTE FUNCTION check_recovery_code_use();
