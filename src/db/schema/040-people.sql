-- People who log in, what they log in with, and how they regain access.

CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  email text NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  password_hash text NOT NULL CHECK (password_hash LIKE '$argon2id$%'),
  totp_secret_sealed text,
  totp_last_step bigint,
  totp_pending_sealed text,
  created_at timestamptz NOT NULL,
  failed_log_ins integer NOT NULL DEFAULT 0 CHECK (failed_log_ins >= 0),
  last_failed_at timestamptz,
  last_failed_address inet,
  recovered_at timestamptz,
  lost_second_factor boolean NOT NULL DEFAULT false,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT users_step_of_a_secret CHECK (totp_last_step IS NULL OR totp_secret_sealed IS NOT NULL)
);
COMMENT ON TABLE users IS 'A person who logs in. One e-mail address is one person.';
COMMENT ON COLUMN users.email IS 'In lower case.';
COMMENT ON COLUMN users.totp_secret_sealed IS 'Sealed with the key ring. Null: no authenticator app.';
COMMENT ON COLUMN users.totp_last_step IS 'The last time step that was used, so that a code works once.';
COMMENT ON COLUMN users.totp_pending_sealed IS 'Shown to the person and not yet confirmed by a code.';
COMMENT ON COLUMN users.failed_log_ins IS 'Since the last log-in that succeeded.';
COMMENT ON COLUMN users.recovered_at IS 'When the account was last recovered.';
COMMENT ON COLUMN users.lost_second_factor IS
  'A recovery removed the second factor, and the person has not enrolled another one. Nothing else is possible before.';
COMMENT ON COLUMN users.attestation IS 'It covers the name and the list of the passkeys of the person, too.';

CREATE FUNCTION check_user() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'the id of a row of users never changes' USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.recovered_at IS NOT NULL AND (NEW.recovered_at IS NULL OR NEW.recovered_at < OLD.recovered_at) THEN
    RAISE EXCEPTION 'the recovery of user % cannot be forgotten', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_check BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION check_user();
COMMENT ON TRIGGER users_check ON users IS
  'Refuses another id, a recovery time that is cleared or moves back, and an attestation whose number is not greater than that of '
  'the row.';

CREATE TABLE recovery_codes (
  user_id text COLLATE "C" NOT NULL REFERENCES users,
  code_sha256 bytea NOT NULL CHECK (length(code_sha256) = 32),
  created_at timestamptz NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (user_id, code_sha256)
);
COMMENT ON TABLE recovery_codes IS 'A code in place of a lost second factor, stored as its digest.';

CREATE FUNCTION check_recovery_code() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.used_at IS NOT NULL OR (NEW.user_id, NEW.code_sha256, NEW.created_at)
      IS DISTINCT FROM (OLD.user_id, OLD.code_sha256, OLD.created_at) THEN
    RAISE EXCEPTION 'a recovery code is used once and never changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER recovery_codes_check BEFORE UPDATE ON recovery_codes
  FOR EACH ROW EXECUTE FUNCTION check_recovery_code();
COMMENT ON TRIGGER recovery_codes_check ON recovery_codes IS 'Refuses to use a code twice, and any other change.';

CREATE TABLE recoveries (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rcv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  user_id text COLLATE "C" NOT NULL UNIQUE REFERENCES users,
  proposal_id text COLLATE "C" NOT NULL REFERENCES staff_proposals,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT recoveries_end_after_they_begin CHECK (expires_at > created_at)
);
COMMENT ON TABLE recoveries IS 'A way for a person to regain access. Two of the staff of the service agreed on it.';
COMMENT ON COLUMN recoveries.user_id IS 'A person has one recovery at most: a new one replaces the old one.';
COMMENT ON COLUMN recoveries.proposal_id IS 'The confirmed proposal of the staff, which names both of them and the reason.';
COMMENT ON COLUMN recoveries.token_sha256 IS
  'The digest of the token, with which the person sets a new password. The row is deleted when it is used.';

CREATE INDEX recoveries_age ON recoveries (expires_at);

CREATE FUNCTION check_recovery() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NOT is_confirmed_by_staff(NEW.proposal_id, 'recovery', 'user_id', NEW.user_id) THEN
      RAISE EXCEPTION 'two of the staff agree on recovery % of this person', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (to_jsonb(NEW) - 'attestation') <> (to_jsonb(OLD) - 'attestation') THEN
    RAISE EXCEPTION 'recovery % is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER recoveries_check BEFORE INSERT OR UPDATE ON recoveries FOR EACH ROW EXECUTE FUNCTION check_recovery();
COMMENT ON TRIGGER recoveries_check ON recoveries IS
  'Refuses a recovery without a confirmed proposal of the staff about this person, every change, and an attestation whose number '
  'is not greater than that of the row.';

CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^psk_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  user_id text COLLATE "C" NOT NULL REFERENCES users,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  credential_id bytea NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
  public_key bytea NOT NULL CHECK (length(public_key) BETWEEN 1 AND 8192),
  counter bigint NOT NULL CHECK (counter >= 0),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  attestation text NOT NULL DEFAULT ''
);
COMMENT ON TABLE passkeys IS 'A WebAuthn credential: a second factor, as an authenticator app is.';
COMMENT ON COLUMN passkeys.counter IS 'The last count that the authenticator reported; 0 if it does not count.';

CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE FUNCTION check_passkey() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- The attestation of the person covers the list of their passkeys.
    PERFORM 1 FROM users WHERE id = NEW.user_id FOR NO KEY UPDATE;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.user_id, NEW.credential_id, NEW.public_key, NEW.created_at)
      <> (OLD.id, OLD.user_id, OLD.credential_id, OLD.public_key, OLD.created_at) THEN
    RAISE EXCEPTION 'passkey % is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.counter < OLD.counter THEN
    RAISE EXCEPTION 'the counter of passkey % never falls', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER passkeys_check BEFORE INSERT OR UPDATE ON passkeys FOR EACH ROW EXECUTE FUNCTION check_passkey();
COMMENT ON TRIGGER passkeys_check ON passkeys IS
  'Refuses another id, person, credential or public key, a counter that falls, and an attestation whose number is not greater than '
  'that of the row. A new row locks its person.';

CREATE FUNCTION has_second_factor(person text) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM users WHERE id = person AND totp_secret_sealed IS NOT NULL)
    OR EXISTS (SELECT 1 FROM passkeys WHERE user_id = person);
END $$;

CREATE TABLE passkey_challenges (
  challenge_sha256 bytea PRIMARY KEY CHECK (length(challenge_sha256) = 32),
  purpose text NOT NULL CHECK (purpose IN ('register', 'log_in', 'step_up')),
  subject text COLLATE "C" NOT NULL CHECK (length(subject) BETWEEN 1 AND 100),
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE passkey_challenges IS 'What a passkey signs. It is valid for one purpose, one subject and some minutes.';
COMMENT ON COLUMN passkey_challenges.subject IS
  'The id of a person. At a log-in: the digest of the e-mail address as typed, whether an account has it or not.';

CREATE INDEX passkey_challenges_age ON passkey_challenges (expires_at);

CREATE TABLE attempt_counters (
  subject text COLLATE "C" PRIMARY KEY CHECK (length(subject) BETWEEN 1 AND 100),
  failures integer NOT NULL CHECK (failures >= 0),
  window_ends_at timestamptz NOT NULL
);
COMMENT ON TABLE attempt_counters IS
  'Failed authentication attempts by account and by address. The subject is a digest or an address, so that a password typed into '
  'the wrong field is stored nowhere.';

CREATE INDEX attempt_counters_age ON attempt_counters (window_ends_at);
