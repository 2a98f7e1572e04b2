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
  created_at timestamptz NOT NULL
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

-- The person who made the key counts as the maker of what is made with it.
ALTER TABLE api_keys ADD COLUMN created_by text COLLATE "C";
ALTER TABLE api_keys ADD CONSTRAINT api_keys_created_by_member
  FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id);
ALTER TABLE api_keys ADD CONSTRAINT api_keys_payouts_have_a_maker
  CHECK (created_by IS NOT NULL OR NOT 'payouts:write' = ANY (scopes)) NOT VALID;

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
