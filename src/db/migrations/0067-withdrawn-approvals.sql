-- The recovery of an account withdraws what somebody else may have left in its name: approvals of what is not released yet, and proposals.
-- What was approved or proposed before a recovery that is over already is withdrawn here, with its entries in the audit logs.
--
-- Rules that the database itself enforces here:
-- - An approval is withdrawn once, while what it is for is queued, and nothing else of it changes. A withdrawn one releases nothing, and
--   takes nothing of the daily limit.
-- - A person has one approval of a payment that is not withdrawn.

ALTER TABLE payout_approvals ADD COLUMN withdrawn_at timestamptz;
ALTER TABLE reversal_approvals ADD COLUMN withdrawn_at timestamptz;
ALTER TABLE payout_approvals DROP CONSTRAINT payout_approvals_pkey;
ALTER TABLE payout_approvals ADD CONSTRAINT payout_approvals_pkey PRIMARY KEY (payout_id, user_id, approved_at);
CREATE UNIQUE INDEX payout_approvals_one_standing ON payout_approvals (payout_id, user_id) WHERE withdrawn_at IS NULL;
ALTER TABLE reversal_approvals DROP CONSTRAINT reversal_approvals_pkey;
ALTER TABLE reversal_approvals ADD CONSTRAINT reversal_approvals_pkey PRIMARY KEY (reversal_id, user_id, approved_at);
CREATE UNIQUE INDEX reversal_approvals_one_standing ON reversal_approvals (reversal_id, user_id) WHERE withdrawn_at IS NULL;

ALTER TABLE policy_changes DROP CONSTRAINT policy_changes_state_check;
ALTER TABLE policy_changes ADD CONSTRAINT policy_changes_state_check
  CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn', 'replaced'));

DROP TRIGGER payout_approvals_append_only ON payout_approvals;
DROP TRIGGER reversal_approvals_append_only ON reversal_approvals;

WITH withdrawn AS (
  UPDATE payout_approvals a SET withdrawn_at = now() FROM payouts p, users u
  WHERE p.id = a.payout_id AND p.state = 'queued' AND u.id = a.user_id AND a.approved_at <= u.recovered_at
  RETURNING a.merchant_id, a.user_id, a.payout_id)
INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, after, created_at)
SELECT merchant_id, user_id, 'payout.approval_withdrawn', 'done', payout_id, '{"reason":"the account was recovered"}', now() FROM withdrawn;
WITH withdrawn AS (
  UPDATE reversal_approvals a SET withdrawn_at = now() FROM reversals p, users u
  WHERE p.id = a.reversal_id AND p.state = 'queued' AND u.id = a.user_id AND a.approved_at <= u.recovered_at
  RETURNING a.merchant_id, a.user_id, a.reversal_id)
INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, after, created_at)
SELECT merchant_id, user_id, 'reversal.approval_withdrawn', 'done', reversal_id, '{"reason":"the account was recovered"}', now() FROM withdrawn;
WITH withdrawn AS (
  UPDATE policy_changes c SET state = 'withdrawn', decided_at = now() FROM users u
  WHERE u.id = c.proposed_by AND c.state = 'pending' AND c.created_at <= u.recovered_at
  RETURNING c.merchant_id, c.proposed_by, c.id)
INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, after, created_at)
SELECT merchant_id, proposed_by, 'policy_change.withdrawn', 'done', id, '{"reason":"the account was recovered"}', now() FROM withdrawn;
WITH withdrawn AS (
  UPDATE member_changes c SET state = 'withdrawn', decided_at = now() FROM users u
  WHERE u.id = c.proposed_by AND c.state = 'pending' AND c.created_at <= u.recovered_at
  RETURNING c.merchant_id, c.proposed_by, c.id)
INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, after, created_at)
SELECT merchant_id, proposed_by, 'member_change.withdrawn', 'done', id, '{"reason":"the account was recovered"}', now() FROM withdrawn;

CREATE FUNCTION check_approval_change() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL
     OR to_jsonb(NEW) - 'withdrawn_at' IS DISTINCT FROM to_jsonb(OLD) - 'withdrawn_at' THEN
    RAISE EXCEPTION 'an approval is withdrawn once, and does not change otherwise' USING ERRCODE = 'restrict_violation';
  END IF;
  -- The lock keeps a decision out that would still count it.
  IF TG_TABLE_NAME = 'payout_approvals' THEN
    PERFORM FROM payouts WHERE id = NEW.payout_id AND state = 'queued' FOR NO KEY UPDATE;
  ELSE
    PERFORM FROM reversals WHERE id = NEW.reversal_id AND state = 'queued' FOR NO KEY UPDATE;
  END IF;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'an approval of what is decided stays' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payout_approvals_kept BEFORE DELETE OR TRUNCATE ON payout_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payout_approvals_check_change BEFORE UPDATE ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_approval_change();
CREATE TRIGGER reversal_approvals_kept BEFORE DELETE OR TRUNCATE ON reversal_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER reversal_approvals_check_change BEFORE UPDATE ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION check_approval_change();

-- Each as before, but for approvals that are withdrawn.
CREATE OR REPLACE FUNCTION check_payout_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'queued' THEN
      RAISE EXCEPTION 'payout % must be created in state queued', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.api_key_id IS NOT NULL
       AND EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.api_key_id AND merchant_id <> NEW.merchant_id) THEN
      RAISE EXCEPTION 'payout % was created with an API key of another merchant', NEW.id
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.idempotency_key, NEW.amount_minor, NEW.currency, NEW.reference, NEW.phone,
      NEW.operator, NEW.operator_reference, NEW.description, NEW.metadata::text, NEW.created_by, NEW.api_key_id,
      NEW.created_at, NEW.expires_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.idempotency_key, OLD.amount_minor, OLD.currency, OLD.reference, OLD.phone,
      OLD.operator, OLD.operator_reference, OLD.description, OLD.metadata::text, OLD.created_by, OLD.api_key_id,
      OLD.created_at, OLD.expires_at) THEN
    RAISE EXCEPTION 'the requested fields of payout % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.send_begun_at IS NOT NULL AND NEW.send_begun_at IS NULL
     OR OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL THEN
    RAISE EXCEPTION 'send_begun_at and accepted_at of payout % cannot be cleared', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION 'payout % cannot need fewer approvals than before', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt, NEW.decided_by, NEW.rejection_reason,
        NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt, OLD.decided_by,
        OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of payout % can change only together with its state', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a new state of payout % must count up version and set previous_state to the old state', OLD.id
      USING ERRCODE = 'restrict_violation';
  ELSIF NEW.state = 'released' AND NEW.approvals_required >
      (SELECT count(*) FROM payout_approvals a
       JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
       WHERE a.payout_id = NEW.id AND a.withdrawn_at IS NULL AND m.removed_at IS NULL AND m.roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'payout % lacks approvals', OLD.id USING ERRCODE = 'restrict_violation', CONSTRAINT = 'releases_approved';
  END IF;
  RETURN NEW;
END $$;

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
       WHERE a.reversal_id = NEW.id AND a.withdrawn_at IS NULL AND m.removed_at IS NULL AND m.roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'reversal % lacks approvals', OLD.id USING ERRCODE = 'restrict_violation', CONSTRAINT = 'releases_approved';
  END IF;
  IF NEW.state = 'released'
     AND NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'succeeded') THEN
    RAISE EXCEPTION 'reversal % cannot be released: its collection is not paid', OLD.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'refunds_of_paid';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION check_daily_limit() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  allowed bigint := (SELECT approver_daily_limit_minor FROM policies WHERE merchant_id = NEW.merchant_id);
  approved bigint;
BEGIN
  IF allowed IS NULL THEN
    RETURN NULL;
  END IF;
  -- Two approvals of one person at once would not see each other.
  PERFORM FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id FOR NO KEY UPDATE;
  SELECT sum(amount_minor) INTO approved FROM (
    SELECT p.amount_minor FROM payout_approvals a JOIN payouts p ON p.id = a.payout_id
    WHERE a.merchant_id = NEW.merchant_id AND a.user_id = NEW.user_id AND a.approved_at > NEW.approved_at - interval '24 hours'
      AND a.withdrawn_at IS NULL
    UNION ALL
    SELECT c.amount_minor FROM reversal_approvals a
      JOIN reversals r ON r.id = a.reversal_id JOIN collections c ON c.id = r.collection_id
    WHERE a.merchant_id = NEW.merchant_id AND a.user_id = NEW.user_id AND a.approved_at > NEW.approved_at - interval '24 hours'
      AND a.withdrawn_at IS NULL
  ) AS of_a_day;
  IF approved > allowed THEN
    RAISE EXCEPTION '% approves more than the daily limit', NEW.user_id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approver_daily_limit';
  END IF;
  RETURN NULL;
END $$;
