-- What one person proposes for another person to decide: an invitation, a change or removal of a member, or a change of the
-- policy. A proposal is open until it is decided; an invitation, until the invited person accepts it or it is withdrawn.

CREATE TABLE proposals (
  id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL,
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  state text NOT NULL,
  user_id text COLLATE "C",
  email text CHECK (length(email) BETWEEN 3 AND 254 AND email = lower(email)),
  roles_before text[] CHECK (
    cardinality(roles_before) > 0
    AND roles_before <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  roles text[] CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['owner', 'admin', 'developer', 'maker', 'approver', 'viewer']
  ),
  changes json CHECK (json_typeof(changes) = 'object'),
  token_sha256 bytea UNIQUE CHECK (length(token_sha256) = 32),
  approval_sha256 bytea CHECK (length(approval_sha256) = 32),
  proposed_by text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_by text COLLATE "C",
  decided_at timestamptz,
  ended_at timestamptz,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT proposals_id CHECK (id ~ '^(inv|mch|pch)_[0-7][0-9a-hjkmnp-tv-z]{25}$' AND kind = CASE left(id, 3)
    WHEN 'inv' THEN 'invitation' WHEN 'mch' THEN 'member_change' ELSE 'policy_change' END),
  CONSTRAINT proposals_state CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', CASE kind
    WHEN 'invitation' THEN 'accepted' ELSE 'replaced' END)),
  CONSTRAINT proposals_of_kind CHECK (CASE kind
    WHEN 'invitation' THEN num_nulls(email, roles, token_sha256) = 0 AND num_nonnulls(roles_before, changes) = 0
    WHEN 'member_change' THEN num_nulls(user_id, roles_before, proposed_by) = 0
      AND num_nonnulls(email, changes, token_sha256) = 0
    ELSE num_nulls(changes, proposed_by) = 0 AND num_nonnulls(user_id, email, roles_before, roles, token_sha256) = 0 END),
  CONSTRAINT proposals_about_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id),
  CONSTRAINT proposals_by_a_member FOREIGN KEY (merchant_id, proposed_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT proposals_decided_by_a_member
    FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT proposals_about_another CHECK (kind <> 'member_change' OR user_id <> proposed_by),
  CONSTRAINT proposals_decided CHECK (CASE
    WHEN state IN ('approved', 'rejected') THEN decided_at IS NOT NULL
    WHEN state = 'pending' OR kind <> 'invitation' THEN decided_at IS NULL
    ELSE true END),
  CONSTRAINT proposals_by_two CHECK (CASE
    WHEN decided_at IS NULL THEN decided_by IS NULL
    WHEN decided_by IS NULL THEN state <> 'rejected' AND kind <> 'policy_change'
    ELSE decided_by <> proposed_by END),
  CONSTRAINT proposals_approved CHECK (
    (approval_sha256 IS NOT NULL) = (kind = 'invitation' AND state <> 'rejected' AND decided_at IS NOT NULL)),
  CONSTRAINT proposals_accepted CHECK (kind <> 'invitation' OR (user_id IS NOT NULL) = (state = 'accepted')),
  CONSTRAINT proposals_ended CHECK ((ended_at IS NOT NULL) = (state IN ('withdrawn', 'replaced', 'accepted')))
);
COMMENT ON TABLE proposals IS
  'What one person proposed for another person to decide: an invitation to become a member, a change of the roles of a member or '
  'their removal, or a change of the policy. An invitation that needs no second person stays pending until it is accepted.';
COMMENT ON COLUMN proposals.user_id IS 'The member whom the change is about; of an invitation, the person who accepted it.';
COMMENT ON COLUMN proposals.roles_before IS 'The roles of the member at the proposal. A change of roles applies to no other ones.';
COMMENT ON COLUMN proposals.roles IS 'The roles to give. Null for a change of a member: the member is to be removed.';
COMMENT ON COLUMN proposals.changes IS 'Only the fields of the policy to change, under the names that the API gives them.';
COMMENT ON COLUMN proposals.token_sha256 IS 'The digest of the token that the sender of an invitation passes on.';
COMMENT ON COLUMN proposals.approval_sha256 IS
  'The approver of an invitation passes on a token of their own, so that neither of the two people can accept it alone.';
COMMENT ON COLUMN proposals.proposed_by IS 'Null: the staff of the service invited the first owner of the merchant.';
COMMENT ON COLUMN proposals.decided_by IS 'Null although decided_at is set: the staff of the service approved the proposal.';
COMMENT ON COLUMN proposals.decided_at IS 'When a second person approved or rejected the proposal.';
COMMENT ON COLUMN proposals.ended_at IS 'When the proposal was withdrawn or replaced, or the invitation accepted.';

CREATE INDEX proposals_merchant ON proposals (merchant_id, kind, id DESC);
CREATE UNIQUE INDEX proposals_one_pending ON proposals (merchant_id, proposed_by, user_id) NULLS NOT DISTINCT
  WHERE state = 'pending' AND kind <> 'invitation';

-- A recovery of the account of its approver makes an approved invitation pending, and another person may approve it.
CREATE FUNCTION check_proposal() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.kind, NEW.merchant_id) <> (OLD.id, OLD.kind, OLD.merchant_id) THEN
    RAISE EXCEPTION 'id, kind and merchant of a row of proposals never change' USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state <> 'pending' AND (OLD.kind, OLD.state) <> ('invitation', 'approved')
     AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.ended_at)
         IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.ended_at) THEN
    RAISE EXCEPTION 'a decided proposal stays as it was decided' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER proposals_check BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION check_proposal();
COMMENT ON TRIGGER proposals_check ON proposals IS
  'Refuses another id, kind or merchant, to decide a proposal again or to change how it ended, and an attestation whose number is '
  'not greater than that of the row.';
