-- Merchants and the people who act for them: users, members, invitations, recoveries, sessions, attempt counters,
-- API keys, policies and the audit log.
--
-- Rules that the database itself enforces here:
-- - A merchant always keeps at least one owner, and a removed member's row stays.
-- - A second person approves an invitation, and decides a proposed change of a member or of the policy.
-- - An API key that creates payouts names the person who created the key: that person counts as the payouts' maker.
-- - Audit entries are append-only.
--
-- These files are append-only from here on: README.md in this folder says how to change the schema.

-- Refuses every statement that a trigger runs it for: updates, deletes or truncates of tables that keep their rows.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is not allowed on %', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TABLE merchants (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz NOT NULL,
  UNIQUE (id, currency)
);

CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  -- Lower case: one address is one person.
  email text NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  password_hash text NOT NULL CHECK (password_hash LIKE '$argon2id$%'),
  -- Sealed with the key ring. Null: no second factor.
  totp_secret_sealed text,
  -- The last time step that was used: a code works once.
  totp_last_step bigint,
  -- Shown to the person and not yet confirmed by a code.
  totp_pending_sealed text,
  created_at timestamptz NOT NULL,
  CONSTRAINT users_step_of_a_secret CHECK (totp_last_step IS NULL OR totp_secret_sealed IS NOT NULL)
);

CREATE TABLE members (
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  user_id text COLLATE "C" NOT NULL REFERENCES users,
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  created_at timestamptz NOT NULL,
  -- The row of a removed member stays: payouts, approvals and audit entries refer to it.
  removed_at timestamptz,
  PRIMARY KEY (merchant_id, user_id)
);
CREATE INDEX members_user ON members (user_id);
CREATE TRIGGER members_kept BEFORE DELETE OR TRUNCATE ON members
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Two owners who remove each other at the same time would leave none. The lock on the merchant makes the second
-- transaction wait, and then see what the first one did.
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

-- A change of a member's roles, or a removal, that one person proposed for another one to decide.
CREATE TABLE member_changes (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mch_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  user_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'replaced')),
  -- The roles when the change was proposed. The change applies to no other roles.
  roles_before text[] NOT NULL CHECK (
    cardinality(roles_before) > 0
    AND roles_before <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  -- Null: the member is to be removed.
  roles_after text[] CHECK (
    cardinality(roles_after) > 0
    AND roles_after <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  proposed_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Null in the state approved: the people who run the service approved it.
  decided_by text COLLATE "C",
  decided_at timestamptz,
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
CREATE UNIQUE INDEX member_changes_one_pending ON member_changes (merchant_id, user_id, proposed_by)
  WHERE state = 'pending';

CREATE TABLE invitations (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^inv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  -- Null: the people who run the service invited the merchant's first owner.
  created_by text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Set when a second person approved the invitation.
  approved_at timestamptz,
  -- Null although approved_at is set: the people who run the service approved it.
  approved_by text COLLATE "C",
  -- The approver passes on a token of their own, so that neither of the two people can accept the invitation alone.
  approval_sha256 bytea CHECK (length(approval_sha256) = 32),
  accepted_by text COLLATE "C",
  accepted_at timestamptz,
  withdrawn_at timestamptz,
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
CREATE INDEX invitations_merchant ON invitations (merchant_id, id DESC);

-- One-time tokens: with one, a person sets a new password without the old password and without the second factor.
CREATE TABLE recoveries (
  -- The digest of the token. The row is deleted when the token is used.
  token_sha256 bytea PRIMARY KEY CHECK (length(token_sha256) = 32),
  -- A person has one recovery at most: a new one replaces the old one.
  user_id text COLLATE "C" NOT NULL UNIQUE REFERENCES users,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT recoveries_end_after_they_begin CHECK (expires_at > created_at)
);
CREATE INDEX recoveries_age ON recoveries (expires_at);

CREATE TABLE sessions (
  -- The digest of the token; only the person has the token itself.
  token_sha256 bytea PRIMARY KEY CHECK (length(token_sha256) = 32),
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  -- The session ends then, however much it is used.
  expires_at timestamptz NOT NULL,
  second_factor_at timestamptz,
  CONSTRAINT sessions_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT sessions_of_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (expires_at);

-- Failed authentication attempts, counted per account and per address. The subject is a digest or an address, so that a
-- password typed into the wrong field is stored nowhere.
CREATE TABLE attempt_counters (
  subject text COLLATE "C" PRIMARY KEY CHECK (length(subject) BETWEEN 1 AND 100),
  failures integer NOT NULL CHECK (failures >= 0),
  window_ends_at timestamptz NOT NULL
);
CREATE INDEX attempt_counters_age ON attempt_counters (window_ends_at);

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
  -- The person who created the key counts as the maker of the payouts that are created with it.
  created_by text COLLATE "C",
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- The key that a rotation created in its place.
  replaced_by text COLLATE "C" REFERENCES api_keys,
  CONSTRAINT api_keys_created_by_member FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT api_keys_payouts_have_a_maker CHECK (created_by IS NOT NULL OR NOT 'payouts:write' = ANY (scopes))
);
CREATE INDEX api_keys_merchant ON api_keys (merchant_id, id DESC);

-- What a merchant demands beyond the second person. A merchant that never changed its policy has no row: the defaults
-- apply.
CREATE TABLE policies (
  merchant_id text COLLATE "C" PRIMARY KEY REFERENCES merchants,
  second_factor_required boolean NOT NULL DEFAULT false,
  -- A payout above this amount needs two approvers; null: one approver is enough for any amount.
  two_approvers_above_minor bigint CHECK (two_approvers_above_minor BETWEEN 0 AND 9007199254740991),
  -- The most that one person releases in 24 hours; null: no limit.
  approver_daily_limit_minor bigint CHECK (approver_daily_limit_minor BETWEEN 1 AND 9007199254740991),
  payout_expires_after_ms bigint CHECK (payout_expires_after_ms BETWEEN 1000 AND 2592000000),
  updated_at timestamptz NOT NULL
);

-- A change of the policy that one person proposed for another one to decide.
CREATE TABLE policy_changes (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^pch_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'replaced')),
  -- Only the fields to change, under the names that the API gives them.
  changes json NOT NULL CHECK (json_typeof(changes) = 'object'),
  proposed_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_by text COLLATE "C",
  decided_at timestamptz,
  CONSTRAINT policy_changes_proposed_by_member
    FOREIGN KEY (merchant_id, proposed_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT policy_changes_decided_by_member
    FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT policy_changes_decided CHECK ((state = 'pending') = (decided_at IS NULL)),
  CONSTRAINT policy_changes_by_two CHECK (
    CASE WHEN state IN ('approved', 'rejected') THEN decided_by IS NOT NULL AND decided_by <> proposed_by
      ELSE decided_by IS NULL END)
);
CREATE UNIQUE INDEX policy_changes_one_pending ON policy_changes (merchant_id, proposed_by) WHERE state = 'pending';

CREATE TABLE audit_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" REFERENCES merchants,
  user_id text COLLATE "C" REFERENCES users,
  api_key_id text COLLATE "C" REFERENCES api_keys,
  action text NOT NULL CHECK (length(action) BETWEEN 1 AND 100),
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  subject_id text COLLATE "C" CHECK (length(subject_id) <= 300),
  before json,
  after json,
  address inet,
  request_id text,
  created_at timestamptz NOT NULL
);
CREATE INDEX audit_entries_list ON audit_entries (merchant_id, id DESC);
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
