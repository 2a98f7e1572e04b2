-- The service's staff act under their names, and it takes two of them to let a person in again.
--
-- Rules that the database itself enforces here:
-- - An entry of the audit log that names one of the staff names no other actor.
-- - A recovery is requested by one of the staff and approved by another, once and in time. Only then it has a token.
-- - When an account was recovered is never forgotten, nor moved to an earlier time.

ALTER TABLE audit_entries
  -- Who of the service's staff acted; null: a person, an API key or the service by itself.
  ADD COLUMN staff text,
  ADD CONSTRAINT audit_entries_staff_form CHECK (staff ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$'),
  ADD CONSTRAINT audit_entries_one_actor CHECK (staff IS NULL OR (user_id IS NULL AND api_key_id IS NULL));
-- What a merchant's people are told about recoveries when they log in.
CREATE INDEX audit_entries_recoveries ON audit_entries (merchant_id, id DESC) WHERE action LIKE 'recovery.%';

ALTER TABLE users
  -- When the account was last recovered.
  ADD COLUMN recovered_at timestamptz,
  -- A recovery took the second factor away, and no other one is enrolled yet: that comes before anything else.
  ADD COLUMN lost_second_factor boolean NOT NULL DEFAULT false;

CREATE FUNCTION check_user_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.recovered_at IS NOT NULL AND (NEW.recovered_at IS NULL OR NEW.recovered_at < OLD.recovered_at) THEN
    RAISE EXCEPTION 'the recovery of user % cannot be forgotten', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_check_change BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION check_user_change();

-- The tokens of before were each made by one person alone: none of them is valid any more.
DROP TABLE recoveries;
CREATE TABLE recoveries (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rcv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  -- A person has one recovery at most: a new one replaces the old one.
  user_id text COLLATE "C" NOT NULL UNIQUE REFERENCES users,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  requested_by text NOT NULL CHECK (requested_by ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$'),
  created_at timestamptz NOT NULL,
  -- Of the request; then, from its approval on, of the token.
  expires_at timestamptz NOT NULL,
  approved_by text CHECK (approved_by ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$'),
  approved_at timestamptz,
  -- The digest of the token, with which the person sets a new password. The row is deleted when it is used.
  token_sha256 bytea UNIQUE CHECK (length(token_sha256) = 32),
  CONSTRAINT recoveries_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT recoveries_approved CHECK (
    (approved_by IS NULL) = (token_sha256 IS NULL) AND (approved_at IS NULL) = (token_sha256 IS NULL)),
  CONSTRAINT recoveries_by_two CHECK (approved_by <> requested_by)
);
CREATE INDEX recoveries_age ON recoveries (expires_at);

CREATE FUNCTION check_recovery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.approved_by IS NOT NULL THEN
      RAISE EXCEPTION 'recovery % must be requested before it is approved', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF OLD.approved_by IS NOT NULL OR NEW.approved_by IS NULL OR NEW.approved_at >= OLD.expires_at
     OR (NEW.id, NEW.user_id, NEW.reason, NEW.requested_by, NEW.created_at)
        IS DISTINCT FROM (OLD.id, OLD.user_id, OLD.reason, OLD.requested_by, OLD.created_at) THEN
    RAISE EXCEPTION 'recovery % can only be approved, once and before it expires', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER recoveries_check BEFORE INSERT OR UPDATE ON recoveries
  FOR EACH ROW EXECUTE FUNCTION check_recovery();
