-- The staff of the service: people who log in for each command that changes something, and what one of them proposes for
-- another one to confirm.

CREATE TABLE staff_members (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^stf_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$'),
  state text NOT NULL CHECK (state IN ('active', 'ended')),
  founder smallint UNIQUE CHECK (founder IN (1, 2)),
  added_by text COLLATE "C" REFERENCES staff_members,
  confirmed_by text COLLATE "C" REFERENCES staff_members,
  proposal_id text COLLATE "C" UNIQUE,
  password_hash text CHECK (password_hash LIKE '$argon2id$%'),
  totp_secret_sealed text,
  totp_last_step bigint,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT staff_members_added CHECK (CASE WHEN founder IS NULL
    THEN num_nulls(added_by, confirmed_by, proposal_id) = 0 ELSE num_nonnulls(added_by, confirmed_by) = 0 END),
  CONSTRAINT staff_members_by_two CHECK (confirmed_by <> added_by),
  CONSTRAINT staff_members_enrolled CHECK (num_nulls(password_hash, totp_secret_sealed, totp_last_step) IN (0, 3)),
  CONSTRAINT staff_members_ended CHECK (
    (ended_at IS NOT NULL) = (state = 'ended') AND (state = 'active' OR password_hash IS NULL))
);
COMMENT ON TABLE staff_members IS
  'A person of the staff of the service, who logs in for each command that changes something. A name is never given to another person.';
COMMENT ON COLUMN staff_members.founder IS
  'The two founders have 1 and 2, so that everybody else is added by a proposal. Null: two of the staff added this person.';
COMMENT ON COLUMN staff_members.added_by IS 'The person who proposed to add this one. Null for a founder.';
COMMENT ON COLUMN staff_members.confirmed_by IS 'The other person, who confirmed that proposal. Null for a founder.';
COMMENT ON COLUMN staff_members.proposal_id IS
  'The last confirmed proposal about this one: to add, to reset or to end. The secret of codes is sealed for it, or for the id while '
  'there is none, so that no earlier secret is put back.';
COMMENT ON COLUMN staff_members.password_hash IS 'Null: not enrolled. Such a person cannot log in.';
COMMENT ON COLUMN staff_members.totp_last_step IS 'The last time step that was used, so that a code works once.';

CREATE TABLE staff_proposals (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^spr_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  kind text NOT NULL CHECK (kind ~ '^[a-z][a-z_]{2,49}$'),
  payload json NOT NULL CHECK (json_typeof(payload) = 'object'),
  state text NOT NULL CHECK (state IN ('pending', 'confirmed', 'rejected')),
  proposed_by text COLLATE "C" NOT NULL REFERENCES staff_members,
  token_sha256 bytea UNIQUE CHECK (length(token_sha256) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_by text COLLATE "C" REFERENCES staff_members,
  decided_at timestamptz,
  confirmation_sha256 bytea UNIQUE CHECK (length(confirmation_sha256) = 32),
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT staff_proposals_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT staff_proposals_decided CHECK (num_nulls(decided_by, decided_at) = CASE state WHEN 'pending' THEN 2 ELSE 0 END),
  CONSTRAINT staff_proposals_by_two CHECK (state <> 'confirmed' OR decided_by <> proposed_by),
  CONSTRAINT staff_proposals_confirmation CHECK (confirmation_sha256 IS NULL OR state = 'confirmed')
);
COMMENT ON TABLE staff_proposals IS
  'What one of the staff proposed. Until its end another one of them may confirm it, and each of them may reject it.';
COMMENT ON COLUMN staff_proposals.kind IS 'What is proposed, which says what the payload holds.';
COMMENT ON COLUMN staff_proposals.token_sha256 IS
  'The digest of the token of the proposer, where the person whom the proposal is about enrols with one token from each of the '
  'two. Null: none.';
COMMENT ON COLUMN staff_proposals.decided_by IS 'The person who confirmed or rejected the proposal.';
COMMENT ON COLUMN staff_proposals.confirmation_sha256 IS
  'The digest of the token of the person who confirmed the proposal. Null: none.';

ALTER TABLE staff_members
  ADD CONSTRAINT staff_members_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES staff_proposals;

-- Locks the person, so that nobody is ended at the same moment.
CREATE FUNCTION require_enrolled_staff(member text) RETURNS void
  LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM staff_members WHERE id = member AND state = 'active' AND password_hash IS NOT NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is none of the enrolled staff', member USING ERRCODE = 'restrict_violation';
  END IF;
END $$;

-- Whether two of the staff agreed on a proposal of this kind about the subject. The payload has the subject under this name.
CREATE FUNCTION is_confirmed_by_staff(proposal text, wanted text, name text, subject text) RETURNS boolean
  LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM staff_proposals p
    WHERE p.id = proposal AND p.kind = wanted AND p.state = 'confirmed' AND p.payload ->> name = subject)
$$;

CREATE FUNCTION check_staff_proposal() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'pending' THEN
      RAISE EXCEPTION 'proposal % must be made before it is decided', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM require_enrolled_staff(NEW.proposed_by);
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (to_jsonb(NEW) - 'attestation') = (to_jsonb(OLD) - 'attestation') AND NEW.payload::text = OLD.payload::text THEN
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.kind, NEW.payload::text, NEW.proposed_by, NEW.token_sha256, NEW.created_at, NEW.expires_at)
      IS DISTINCT FROM (OLD.id, OLD.kind, OLD.payload::text, OLD.proposed_by, OLD.token_sha256, OLD.created_at, OLD.expires_at) THEN
    RAISE EXCEPTION 'what proposal % proposes never changes', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state <> 'pending' OR NEW.state = 'pending' THEN
    RAISE EXCEPTION 'proposal % is decided once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  PERFORM require_enrolled_staff(NEW.decided_by);
  IF NEW.state = 'confirmed' THEN
    PERFORM require_enrolled_staff(NEW.proposed_by);
    IF NEW.decided_at >= OLD.expires_at THEN
      RAISE EXCEPTION 'proposal % has expired', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER staff_proposals_check BEFORE INSERT OR UPDATE ON staff_proposals
  FOR EACH ROW EXECUTE FUNCTION check_staff_proposal();
COMMENT ON TRIGGER staff_proposals_check ON staff_proposals IS
  'Refuses a new proposal that is already decided, a change of what is proposed, a second decision, a confirmation from the end '
  'of the proposal on, a proposer or decider who is not of the enrolled staff, and an attestation whose number is not greater '
  'than that of the row.';

CREATE FUNCTION check_staff_member() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  is_decided boolean;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.founder IS NULL AND (NEW.password_hash IS NOT NULL OR NOT EXISTS (SELECT FROM staff_proposals p
        WHERE is_confirmed_by_staff(p.id, 'staff_addition', 'name', NEW.name)
          AND (p.id, p.proposed_by, p.decided_by) = (NEW.proposal_id, NEW.added_by, NEW.confirmed_by))) THEN
      RAISE EXCEPTION 'two of the staff add another one, who is not enrolled yet: %', NEW.name
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.name, NEW.founder, NEW.added_by, NEW.confirmed_by, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.name, OLD.founder, OLD.added_by, OLD.confirmed_by, OLD.created_at) THEN
    RAISE EXCEPTION 'the id, name and origin of a row of staff_members never change' USING ERRCODE = 'restrict_violation';
  END IF;
  is_decided := (NEW.state, NEW.proposal_id) IS DISTINCT FROM (OLD.state, OLD.proposal_id)
    OR (OLD.password_hash IS NOT NULL AND NEW.password_hash IS DISTINCT FROM OLD.password_hash);
  IF is_decided AND (OLD.state = 'ended' OR NEW.password_hash IS NOT NULL
      OR NEW.proposal_id IS NOT DISTINCT FROM OLD.proposal_id
      OR NOT is_confirmed_by_staff(NEW.proposal_id,
        CASE NEW.state WHEN 'ended' THEN 'staff_end' ELSE 'staff_reset' END, 'member', NEW.id)) THEN
    RAISE EXCEPTION 'two of the staff end or reset another one: %', OLD.name USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.totp_last_step < OLD.totp_last_step THEN
    RAISE EXCEPTION 'a used code stays used: %', OLD.name USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER staff_members_check BEFORE INSERT OR UPDATE ON staff_members
  FOR EACH ROW EXECUTE FUNCTION check_staff_member();
COMMENT ON TRIGGER staff_members_check ON staff_members IS
  'Refuses a person whom no two of the staff added, another id, name or origin, an end or reset on which no two agreed, a used code as '
  'unused, and an attestation whose number is not greater than that of the row.';

CREATE FUNCTION check_founders() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF (SELECT count(*) FROM staff_members WHERE founder IS NOT NULL) <> 2 THEN
    RAISE EXCEPTION 'the first of the staff are two' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER staff_members_first_two AFTER INSERT ON staff_members DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.founder IS NOT NULL) EXECUTE FUNCTION check_founders();
COMMENT ON TRIGGER staff_members_first_two ON staff_members IS 'Refuses one founder without the other.';
