-- Rules that collections, payouts and reversals share.
-- - A payment starts in its first state and moves only along its transition table. What was requested never changes, and an
--   outcome changes only together with the state. No payment is deleted.
-- - A send begins once, in the state in which the payment may be sent and before its deadline. A further try begins after the
--   first. A refusal says how a payment ended only if no further try began.
-- - A payout or refund that was sent fails as never accepted only on evidence: after the send deadline the operator said at
--   least twice that it does not know the payment. How often and over how long is the number of the operator
--   (`confirmsNeverAccepted`).
-- - A payout or refund is released only with the approvals that it needs, from people who may approve at that moment and did
--   not request it, and nothing is sent on a release without an attestation.

CREATE FUNCTION refuse_send_begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a send of % can begin once, while it may be sent and before its deadline', OLD.id
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_send_repeated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a send of % is repeated after it began, while it may be sent and before its deadline', OLD.id
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION check_not_founds() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_counted boolean := NEW.not_found_count = OLD.not_found_count + 1
    AND NEW.not_found_last_at > coalesce(OLD.not_found_last_at, '-infinity')
    AND NEW.not_found_since = coalesce(OLD.not_found_since, NEW.not_found_last_at)
    AND NEW.not_found_since >= NEW.send_deadline_at
    AND NEW.send_begun_at IS NOT NULL AND NEW.accepted_at IS NULL;
  begins_again boolean := NEW.not_found_count = 0
    AND NEW.not_found_last_at >= coalesce(OLD.not_found_last_at, '-infinity');
BEGIN
  IF NEW.state <> OLD.state OR NOT coalesce(is_counted, false) AND NOT coalesce(begins_again, false) THEN
    RAISE EXCEPTION 'what counts against % is one later status of a payment that was sent and never accepted', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION check_failed_by() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Constraints refuse `never_sent` for a payment that was sent.
  IF NEW.failed_by = 'never_sent' AND NEW.failure_code IN ('service_unavailable', 'already_returned')
     OR NEW.failed_by = 'declined' AND coalesce(NEW.failure_code, '') NOT IN ('service_unavailable', 'already_returned')
     OR NEW.failed_by = 'never_accepted' AND NEW.failure_code = 'operator_unavailable' AND NEW.accepted_at IS NULL
        AND NEW.not_found_count >= 2 AND NEW.not_found_last_at > NEW.not_found_since THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% cannot fail with % by %: the row does not say so', OLD.id, NEW.failure_code, NEW.failed_by
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_cause_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % failed by can change only together with its state', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_receipt_shared() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'whether % shares its receipt with an earlier payment can never change', NEW.id
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_other_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the request that made a row of % cannot change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_unattested_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the request of % has an attestation, which changes with the approvals that it needs alone', NEW.id
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION refuse_unattested_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a release of % has an attestation, which changes with the release alone', NEW.id
    USING ERRCODE = 'restrict_violation';
END $$;

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

CREATE FUNCTION check_daily_limit() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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
