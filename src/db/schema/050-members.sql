-- The people who act for a merchant, their sessions, and what one person proposes for another person to decide.
-- - A merchant always keeps at least one owner, and the row of a removed member stays.
-- - A second person approves an invitation and decides a change of a member.

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

CREATE TABLE member_changes (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mch_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  user_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'replaced')),
  roles_before text[] NOT NULL CHECK (
    cardinality(roles_before) > 0
    AND roles_before <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  roles_after text[] CHECK (
    cardinality(roles_after) > 0
    AND roles_after <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  proposed_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_by text COLLATE "C",
  decided_at timestamptz,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT member_changes_of_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id),
  CONSTRAINT member_changes_proposed_by_member
    FOREIGN KEY (merchant_id, proposed_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT member_changes_decided_by_member
    FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT member_changes_of_another CHECK (user_id <> proposed_by),
  CONSTRAINT member_changes_decided CHECK ((state = 'pending') = (decided_at IS NULL)),
  CONSTRAINT member_changes_by_two CHECK (
    CASE state
      WHEN 'approved' THEN decided_by IS DISTINCT FROM proposed_by
      WHEN 'rejected' THEN decided_by IS NOT NULL AND decided_by <> proposed_by
      ELSE decided_by IS NULL END)
);
COMMENT ON TABLE member_changes IS
  'A change of the roles of a member, or a removal, that one person proposed for another person to decide.';
COMMENT ON COLUMN member_changes.roles_before IS 'The roles when the change was proposed. The change applies to no other roles.';
COMMENT ON COLUMN member_changes.roles_after IS 'Null: the member is to be removed.';
COMMENT ON COLUMN member_changes.decided_by IS 'Null in the state approved: the people who run the service approved it.';

CREATE UNIQUE INDEX member_changes_one_pending ON member_changes (merchant_id, user_id, proposed_by)
  WHERE state = 'pending';

CREATE TRIGGER member_changes_check BEFORE UPDATE ON member_changes FOR EACH ROW EXECUTE FUNCTION check_proposal();
COMMENT ON TRIGGER member_changes_check ON member_changes IS
  'Refuses another id or merchant, to decide a proposal again or to change a decision, and an attestation whose number is not '
  'greater than that of the row.';

CREATE TABLE invitations (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^inv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  created_by text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  approved_at timestamptz,
  approved_by text COLLATE "C",
  approval_sha256 bytea CHECK (length(approval_sha256) = 32),
  accepted_by text COLLATE "C",
  accepted_at timestamptz,
  withdrawn_at timestamptz,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT invitations_created_by_member
    FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT invitations_accepted_by_member
    FOREIGN KEY (merchant_id, accepted_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT invitations_approved_by_member
    FOREIGN KEY (merchant_id, approved_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT invitations_approved CHECK (
    (approved_at IS NULL) = (approval_sha256 IS NULL) AND (approved_by IS NULL OR approved_at IS NOT NULL)),
  CONSTRAINT invitations_by_two CHECK (approved_by <> created_by),
  CONSTRAINT invitations_accepted CHECK ((accepted_by IS NULL) = (accepted_at IS NULL)),
  CONSTRAINT invitations_one_end CHECK (accepted_at IS NULL OR withdrawn_at IS NULL)
);
COMMENT ON TABLE invitations IS 'An invitation to become a member. It needs a second person, as a change of a member does.';
COMMENT ON COLUMN invitations.created_by IS 'Null: the people who run the service invited the merchant''s first owner.';
COMMENT ON COLUMN invitations.approved_at IS 'Set when a second person approved the invitation.';
COMMENT ON COLUMN invitations.approved_by IS 'Null although approved_at is set: the people who run the service approved it.';
COMMENT ON COLUMN invitations.approval_sha256 IS
  'The approver passes on a token of their own, so that neither of the two people can accept the invitation alone.';

CREATE INDEX invitations_merchant ON invitations (merchant_id, id DESC);

CREATE TRIGGER invitations_check BEFORE UPDATE ON invitations
  FOR EACH ROW WHEN ((NEW.id, NEW.merchant_id, NEW.attestation) <> (OLD.id, OLD.merchant_id, OLD.attestation))
  EXECUTE FUNCTION check_attested_row('id', 'merchant_id');
COMMENT ON TRIGGER invitations_check ON invitations IS
  'Refuses another id or merchant, and an attestation whose number is not greater than that of the row.';

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
