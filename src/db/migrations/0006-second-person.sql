-- Who has a part in moving money out is let in by two people, and a lost password or second factor can be made good.

-- The second person's word on an invitation. They hand over a token of their own, so that neither of the two can accept alone.
ALTER TABLE invitations ADD COLUMN approved_at timestamptz;
-- Null beside a time: by whoever runs the service.
ALTER TABLE invitations ADD COLUMN approved_by text COLLATE "C";
ALTER TABLE invitations ADD COLUMN approval_sha256 bytea CHECK (length(approval_sha256) = 32);
ALTER TABLE invitations ADD CONSTRAINT invitations_approved_by_member
  FOREIGN KEY (merchant_id, approved_by) REFERENCES members (merchant_id, user_id);
ALTER TABLE invitations ADD CONSTRAINT invitations_approved CHECK (
  (approved_at IS NULL) = (approval_sha256 IS NULL) AND (approved_by IS NULL OR approved_at IS NOT NULL));
ALTER TABLE invitations ADD CONSTRAINT invitations_by_two CHECK (approved_by <> created_by);

-- A change of a member's roles, or a removal, as one person proposed it, for another to decide.
CREATE TABLE member_changes (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mch_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  user_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'replaced')),
  -- As they were when it was proposed: it is not applied to any others.
  roles_before text[] NOT NULL CHECK (
    cardinality(roles_before) > 0
    AND roles_before <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  -- Null: to be removed.
  roles_after text[] CHECK (
    cardinality(roles_after) > 0
    AND roles_after <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  proposed_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Null beside the state approved: by whoever runs the service.
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

-- One-time tokens with which a person sets a new password without the old one and without the second factor.
CREATE TABLE recoveries (
  -- The digest of the token; used, it is gone.
  token_sha256 bytea PRIMARY KEY CHECK (length(token_sha256) = 32),
  -- The last one made for a person is the only one.
  user_id text COLLATE "C" NOT NULL UNIQUE REFERENCES users,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT recoveries_end_after_they_begin CHECK (expires_at > created_at)
);
CREATE INDEX recoveries_age ON recoveries (expires_at);
