-- People: who may act for a merchant, in which role, how they prove who they are, and a record of all they did.

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
  -- Shown, and not yet confirmed by a code.
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
  -- A member who was removed stays in the books: what they did names them.
  removed_at timestamptz,
  PRIMARY KEY (merchant_id, user_id)
);
CREATE INDEX members_user ON members (user_id);
CREATE TRIGGER members_kept BEFORE DELETE OR TRUNCATE ON members
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Two owners who remove each other at once would leave none: the lock makes the second see what the first did.
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

CREATE TABLE invitations (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^inv_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  -- Null: by whoever runs the service, for a merchant's first owner.
  created_by text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_by text COLLATE "C",
  accepted_at timestamptz,
  withdrawn_at timestamptz,
  CONSTRAINT invitations_created_by_member FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT invitations_accepted_by_member FOREIGN KEY (merchant_id, accepted_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT invitations_accepted CHECK ((accepted_by IS NULL) = (accepted_at IS NULL)),
  CONSTRAINT invitations_one_end CHECK (accepted_at IS NULL OR withdrawn_at IS NULL)
);
CREATE INDEX invitations_merchant ON invitations (merchant_id, id DESC);

CREATE TABLE sessions (
  -- The digest of the token; the token itself is with the person alone.
  token_sha256 bytea PRIMARY KEY CHECK (length(token_sha256) = 32),
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  -- However much it is used, it ends then.
  expires_at timestamptz NOT NULL,
  second_factor_at timestamptz,
  CONSTRAINT sessions_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT sessions_of_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (expires_at);

-- Failed proofs of identity, counted per account and per address. What is counted is named by a digest or an address, so
-- that a password typed in the wrong field is kept nowhere.
CREATE TABLE attempt_counters (
  subject text COLLATE "C" PRIMARY KEY CHECK (length(subject) BETWEEN 1 AND 100),
  failures integer NOT NULL CHECK (failures >= 0),
  window_ends_at timestamptz NOT NULL
);
CREATE INDEX attempt_counters_age ON attempt_counters (window_ends_at);

-- The person who made the key counts as the maker of what is made with it.
ALTER TABLE api_keys ADD COLUMN created_by text COLLATE "C";
ALTER TABLE api_keys ADD CONSTRAINT api_keys_created_by_member
  FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id);
-- The key that took this one's place.
ALTER TABLE api_keys ADD COLUMN replaced_by text COLLATE "C" REFERENCES api_keys;
-- Keys of before have no maker, and there was no payout they could have made: they keep everything else.
UPDATE api_keys SET scopes = CASE WHEN scopes <@ ARRAY['payouts:write'] THEN ARRAY['payouts:read']
    ELSE array_remove(scopes, 'payouts:write') END
  WHERE 'payouts:write' = ANY (scopes);
ALTER TABLE api_keys ADD CONSTRAINT api_keys_payouts_have_a_maker
  CHECK (created_by IS NOT NULL OR NOT 'payouts:write' = ANY (scopes));

-- What a merchant asks for beyond the second person. A row per merchant that ever changed it; without one: the defaults.
CREATE TABLE policies (
  merchant_id text COLLATE "C" PRIMARY KEY REFERENCES merchants,
  second_factor_required boolean NOT NULL DEFAULT false,
  -- Above this amount two approvers must release; null: one is enough for any amount.
  two_approvers_above_minor bigint CHECK (two_approvers_above_minor BETWEEN 0 AND 9007199254740991),
  -- The most one person releases in 24 hours; null: no limit.
  approver_daily_limit_minor bigint CHECK (approver_daily_limit_minor BETWEEN 1 AND 9007199254740991),
  payout_expires_after_ms bigint CHECK (payout_expires_after_ms BETWEEN 1000 AND 2592000000),
  updated_at timestamptz NOT NULL
);

-- A change of the policy as one person proposed it, for another to decide.
CREATE TABLE policy_changes (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^pch_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'replaced')),
  -- Only the fields to change, as the policy names them on the wire.
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
