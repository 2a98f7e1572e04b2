-- The people who act for a merchant, and their sessions. A merchant always keeps at least one owner, and the row of a removed
-- member stays.

CREATE TABLE members (
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  user_id text COLLATE "C" NOT NULL REFERENCES users,
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  created_at timestamptz NOT NULL,
  removed_at timestamptz,
  approver_since timestamptz,
  attestation text NOT NULL DEFAULT '',
  PRIMARY KEY (merchant_id, user_id)
);
COMMENT ON TABLE members IS 'A person who acts for a merchant, with their roles.';
COMMENT ON COLUMN members.removed_at IS 'The row of a removed member stays: payouts, approvals and audit entries refer to it.';
COMMENT ON COLUMN members.approver_since IS 'Since when the member may approve without interruption. The database alone sets it.';

CREATE INDEX members_user ON members (user_id);

CREATE TRIGGER members_kept BEFORE DELETE OR TRUNCATE ON members
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER members_kept ON members IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_member() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
    IF (NEW.merchant_id, NEW.user_id) <> (OLD.merchant_id, OLD.user_id) THEN
      RAISE EXCEPTION 'merchant and user of a row of members never change' USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  IF NEW.removed_at IS NOT NULL OR NOT NEW.roles && ARRAY['owner', 'approver'] THEN
    NEW.approver_since := NULL;
  ELSIF TG_OP = 'UPDATE' AND OLD.approver_since IS NOT NULL THEN
    NEW.approver_since := OLD.approver_since;
  ELSE
    NEW.approver_since := clock_timestamp();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER members_check BEFORE INSERT OR UPDATE ON members FOR EACH ROW EXECUTE FUNCTION check_member();
COMMENT ON TRIGGER members_check ON members IS
  'Refuses another merchant or user, and an attestation whose number is not greater than that of the row. It sets approver_since.';

-- Two owners who remove each other at the same time would leave none. The lock on the merchant makes the second transaction
-- wait, and then see what the first one did.
CREATE FUNCTION check_owner_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM merchants WHERE id = OLD.merchant_id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT 1 FROM members
      WHERE merchant_id = OLD.merchant_id AND removed_at IS NULL AND 'owner' = ANY (roles)) THEN
    RAISE EXCEPTION 'merchant % would be left without an owner', OLD.merchant_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER members_check_owner_left AFTER UPDATE ON members
  FOR EACH ROW WHEN (OLD.removed_at IS NULL AND 'owner' = ANY (OLD.roles)
    AND (NEW.removed_at IS NOT NULL OR NOT 'owner' = ANY (NEW.roles)))
  EXECUTE FUNCTION check_owner_left();
COMMENT ON TRIGGER members_check_owner_left ON members IS 'Refuses to leave a merchant without an owner.';

CREATE FUNCTION count_secured_owners(merchant text) RETURNS bigint
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN (SELECT count(*) FROM members
    WHERE merchant_id = merchant AND removed_at IS NULL AND 'owner' = ANY (roles) AND has_second_factor(user_id));
END $$;

CREATE TABLE sessions (
  id text COLLATE "C" NOT NULL CHECK (id ~ '^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  token_sha256 bytea PRIMARY KEY CHECK (length(token_sha256) = 32),
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  verified_at timestamptz NOT NULL,
  second_factor_at timestamptz,
  address inet,
  user_agent text CHECK (length(user_agent) BETWEEN 1 AND 200),
  failed_log_ins integer NOT NULL DEFAULT 0 CHECK (failed_log_ins >= 0),
  last_failed_at timestamptz,
  last_failed_address inet,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT sessions_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT sessions_of_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id),
  CONSTRAINT sessions_named_once UNIQUE (id)
);
COMMENT ON TABLE sessions IS 'A log-in of a member in one browser.';
COMMENT ON COLUMN sessions.id IS 'The name of the session for its person and for administrators.';
COMMENT ON COLUMN sessions.token_sha256 IS 'The digest of the token. Only the person has the token.';
COMMENT ON COLUMN sessions.expires_at IS 'The session ends then, however much it is used.';
COMMENT ON COLUMN sessions.verified_at IS
  'The last verification of any kind, by password or second factor. The log-in is the first.';
COMMENT ON COLUMN sessions.failed_log_ins IS 'What users.failed_log_ins was when the session was opened.';

CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (expires_at);

CREATE TRIGGER sessions_check BEFORE UPDATE ON sessions
  FOR EACH ROW WHEN ((NEW.id, NEW.attestation) <> (OLD.id, OLD.attestation))
  EXECUTE FUNCTION check_attested_row('id');
COMMENT ON TRIGGER sessions_check ON sessions IS
  'Refuses another id, and an attestation whose number is not greater than that of the row.';
