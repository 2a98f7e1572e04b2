-- Refunds need a second person, as payouts do: a maker requests one, and it is sent when approvers released it.
--
-- A refund of before that nobody has begun to send is queued and waits for an approver. One that was sent is reconciling: its
-- status is queried, and nothing is sent again.
--
-- Rules that the database itself enforces here, as for payouts:
-- - A refund is released only with the approvals that it needs, from people who may approve at that moment and did not request
--   it, while its collection is paid, and with an attestation.
-- - What was requested never changes, and what was decided changes only together with the state.
-- - Approvals are never changed or removed.

INSERT INTO reversal_transitions (from_state, to_state) VALUES
  ('queued', 'released'), ('queued', 'rejected'), ('queued', 'cancelled'), ('queued', 'expired'),
  ('released', 'reconciling'), ('released', 'succeeded'), ('released', 'failed');

ALTER TABLE reversals
  DROP CONSTRAINT reversals_state_check,
  ALTER COLUMN send_deadline_at DROP NOT NULL,
  ADD COLUMN approvals_required integer NOT NULL DEFAULT 1,
  ADD COLUMN expires_at timestamptz,
  ADD COLUMN decided_by text COLLATE "C",
  ADD COLUMN rejection_reason text,
  ADD COLUMN release_attestation text;

-- Rows of before: no rule of then allows for these changes.
ALTER TABLE reversals DISABLE TRIGGER USER;
WITH of_before AS (
  SELECT id, state = 'requested' AND send_begun_at IS NULL AS is_unsent FROM reversals)
UPDATE reversals r SET
  state = CASE WHEN is_unsent THEN 'queued' WHEN state = 'requested' THEN 'reconciling' ELSE state END,
  expires_at = CASE WHEN is_unsent THEN now() ELSE created_at END + interval '7 days',
  send_deadline_at = CASE WHEN NOT is_unsent THEN send_deadline_at END,
  check_due_at = CASE WHEN is_unsent THEN now() + interval '7 days 1 minute' ELSE check_due_at END,
  workflow_started_at = CASE WHEN NOT is_unsent THEN workflow_started_at END,
  start_due_at = CASE WHEN is_unsent THEN now() ELSE start_due_at END
FROM of_before WHERE of_before.id = r.id;
ALTER TABLE reversals ENABLE TRIGGER USER;
DELETE FROM reversal_transitions WHERE from_state = 'requested';

ALTER TABLE reversals
  ALTER COLUMN approvals_required DROP DEFAULT,
  ALTER COLUMN expires_at SET NOT NULL,
  ADD CONSTRAINT reversals_state_check CHECK (state IN (
    'queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired')),
  ADD CONSTRAINT reversals_approvals_required_check CHECK (approvals_required BETWEEN 1 AND 2),
  ADD CONSTRAINT reversals_rejection_reason_check CHECK (length(rejection_reason) BETWEEN 1 AND 200),
  ADD CONSTRAINT reversals_release_attestation_check CHECK (release_attestation ~ '^[A-Za-z0-9_-]{43}$'),
  ADD CONSTRAINT reversals_rejection CHECK ((state = 'rejected') = (rejection_reason IS NOT NULL)),
  ADD CONSTRAINT reversals_decided CHECK ((state IN ('rejected', 'cancelled')) = (decided_by IS NOT NULL)),
  ADD CONSTRAINT reversals_cancelled_by_maker CHECK (state <> 'cancelled' OR decided_by = requested_by),
  ADD CONSTRAINT reversals_send_deadline CHECK (
    (state IN ('queued', 'rejected', 'cancelled', 'expired')) = (send_deadline_at IS NULL)),
  ADD FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id);

DROP INDEX reversals_one_at_a_time, reversals_pending, reversals_waiting, reversals_check_due, reversals_unstarted,
  reversals_unsent_check_due, reversals_recheck_due;
CREATE UNIQUE INDEX reversals_one_at_a_time ON reversals (collection_id)
  WHERE state NOT IN ('failed', 'rejected', 'cancelled', 'expired');
CREATE INDEX reversals_pending ON reversals (merchant_id) WHERE state IN ('queued', 'released', 'reconciling');
CREATE INDEX reversals_waiting ON reversals (merchant_id)
  WHERE state = 'released' AND send_begun_at IS NULL OR state = 'queued' AND workflow_started_at IS NULL;
CREATE INDEX reversals_check_due ON reversals (check_due_at)
  WHERE state IN ('queued', 'released', 'reconciling') AND workflow_started_at IS NOT NULL;
CREATE INDEX reversals_unstarted
  ON reversals (merchant_id, (state IN ('queued', 'released', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;
CREATE INDEX reversals_unsent_check_due ON reversals (check_due_at)
  WHERE state = 'released' AND workflow_started_at IS NOT NULL;
CREATE INDEX reversals_recheck_due ON reversals ((coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('queued', 'released', 'reconciling') AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
CREATE INDEX reversals_list ON reversals (merchant_id, id DESC);
CREATE INDEX reversals_list_by_state ON reversals (merchant_id, state, id DESC);

-- One row per person who approved.
CREATE TABLE reversal_approvals (
  reversal_id text COLLATE "C" NOT NULL REFERENCES reversals,
  user_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  approved_at timestamptz NOT NULL,
  attestation text NOT NULL CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'),
  PRIMARY KEY (reversal_id, user_id),
  FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
CREATE INDEX reversal_approvals_by_person ON reversal_approvals (merchant_id, user_id, approved_at);
CREATE TRIGGER reversal_approvals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reversal_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_reversal_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  reversal reversals%ROWTYPE;
BEGIN
  -- The lock keeps approvals out while a decision on the refund is under way.
  SELECT * INTO STRICT reversal FROM reversals WHERE id = NEW.reversal_id FOR NO KEY UPDATE;
  IF reversal.state <> 'queued' OR reversal.merchant_id <> NEW.merchant_id OR NEW.approved_at >= reversal.expires_at THEN
    RAISE EXCEPTION 'refund % is not queued, has expired or belongs to another merchant than the approval', reversal.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_while_queued';
  END IF;
  IF reversal.requested_by = NEW.user_id THEN
    RAISE EXCEPTION 'refund % cannot be approved by the person who requested it', reversal.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_another';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'refund % can be approved only by an owner or an approver of its merchant', reversal.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_approvers';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversal_approvals_check BEFORE INSERT ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_approval();

-- As in 0031-waiting-time.sql.
CREATE TRIGGER reversal_approvals_check_waiting BEFORE INSERT ON reversal_approvals
  FOR EACH ROW WHEN (NOT moves_money(NEW.merchant_id, NEW.user_id, NEW.approved_at))
  EXECUTE FUNCTION refuse_while_waiting();
CREATE TRIGGER reversals_check_release BEFORE UPDATE ON reversals
  FOR EACH ROW WHEN (OLD.state = 'queued' AND NEW.state = 'released') EXECUTE FUNCTION check_money_out();

CREATE OR REPLACE FUNCTION check_reversal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'queued' THEN
      RAISE EXCEPTION 'reversal % must be created in state queued', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.collection_id, NEW.operator_reference, NEW.requested_by, NEW.created_at, NEW.expires_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.collection_id, OLD.operator_reference, OLD.requested_by, OLD.created_at, OLD.expires_at)
  THEN
    RAISE EXCEPTION 'the requested fields of reversal % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION 'reversal % cannot need fewer approvals than before', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.failure_code, NEW.decided_by, NEW.rejection_reason, NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.failure_code, OLD.decided_by, OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of reversal % can change only together with its state', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM reversal_transitions WHERE from_state = OLD.state AND to_state = NEW.state) THEN
    RAISE EXCEPTION 'reversal % cannot move from % to %', OLD.id, OLD.state, NEW.state
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state <> 'queued' AND NEW.send_deadline_at IS DISTINCT FROM OLD.send_deadline_at THEN
    RAISE EXCEPTION 'the send deadline of reversal % is set by its release', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'released' AND NEW.approvals_required >
      (SELECT count(*) FROM reversal_approvals a
       JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
       WHERE a.reversal_id = NEW.id AND m.removed_at IS NULL AND m.roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'reversal % lacks approvals', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'released'
     AND NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'succeeded') THEN
    RAISE EXCEPTION 'reversal % cannot be released: its collection is not paid', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER reversals_check_created_attestation BEFORE INSERT ON reversals
  FOR EACH ROW WHEN (NEW.release_attestation IS NOT NULL) EXECUTE FUNCTION refuse_unattested_release();
CREATE TRIGGER reversals_check_release_attested BEFORE UPDATE OF state, release_attestation ON reversals
  FOR EACH ROW WHEN (
    CASE WHEN OLD.state = 'queued' AND NEW.state = 'released' THEN NEW.release_attestation IS NULL
         ELSE NEW.release_attestation IS DISTINCT FROM OLD.release_attestation END)
  EXECUTE FUNCTION refuse_unattested_release();

DROP TRIGGER reversals_check_send_begun ON reversals;
CREATE TRIGGER reversals_check_send_begun BEFORE UPDATE OF send_begun_at ON reversals
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_begun_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
