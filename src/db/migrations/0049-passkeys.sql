-- Passkeys (WebAuthn) as second factors, and the challenges that they sign.
--
-- Rules: a credential belongs to one person and never changes; its counter never falls; a challenge is for one purpose
-- and one subject, and ends after minutes.

CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^psk_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  user_id text COLLATE "C" NOT NULL REFERENCES users,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  credential_id bytea NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
  public_key bytea NOT NULL CHECK (length(public_key) BETWEEN 1 AND 8192),
  -- What the authenticator said last; 0 where it does not count.
  counter bigint NOT NULL CHECK (counter >= 0),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE FUNCTION check_passkey_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.user_id, NEW.credential_id, NEW.public_key, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.user_id, OLD.credential_id, OLD.public_key, OLD.created_at) THEN
    RAISE EXCEPTION 'passkey % is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.counter < OLD.counter THEN
    RAISE EXCEPTION 'the counter of passkey % never falls', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER passkeys_check_change BEFORE UPDATE ON passkeys
  FOR EACH ROW EXECUTE FUNCTION check_passkey_change();

CREATE TABLE passkey_challenges (
  challenge_sha256 bytea PRIMARY KEY CHECK (length(challenge_sha256) = 32),
  purpose text NOT NULL CHECK (purpose IN ('register', 'log_in', 'step_up')),
  -- A person's id, or at a log-in the digest of the e-mail as typed, known or not.
  subject text COLLATE "C" NOT NULL CHECK (length(subject) BETWEEN 1 AND 100),
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_age ON passkey_challenges (expires_at);

-- A passkey is a second factor as an authenticator app is.
CREATE OR REPLACE FUNCTION has_second_factor(person text) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM users WHERE id = person AND totp_secret_sealed IS NOT NULL)
    OR EXISTS (SELECT 1 FROM passkeys WHERE user_id = person);
END $$;
