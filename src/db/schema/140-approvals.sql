-- Approvals of payouts and refunds.

CREATE TABLE approvals (
  payment_id text COLLATE "C" NOT NULL REFERENCES payments,
  user_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  approved_at timestamptz NOT NULL,
  attestation text NOT NULL CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'),
  withdrawn_at timestamptz,
  PRIMARY KEY (payment_id, user_id, approved_at),
  FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
COMMENT ON TABLE approvals IS 'An approval of a payout or refund by one person.';
COMMENT ON COLUMN approvals.attestation IS 'Made by the process that records the approval.';
COMMENT ON COLUMN approvals.withdrawn_at IS 'A withdrawn approval releases nothing, and takes nothing of the daily limit.';

CREATE INDEX approvals_by_person ON approvals (merchant_id, user_id, approved_at);
CREATE UNIQUE INDEX approvals_one_standing ON approvals (payment_id, user_id) WHERE withdrawn_at IS NULL;

CREATE TRIGGER approvals_kept BEFORE DELETE OR TRUNCATE ON approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER approvals_kept ON approvals IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_approval() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  payment payments%ROWTYPE;
BEGIN
  -- The lock keeps approvals and withdrawals out while a decision on the payment is in progress.
  SELECT * INTO STRICT payment FROM payments WHERE id = NEW.payment_id FOR NO KEY UPDATE;
  IF TG_OP = 'UPDATE' THEN
    IF OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL
       OR to_jsonb(NEW) - 'withdrawn_at' IS DISTINCT FROM to_jsonb(OLD) - 'withdrawn_at' THEN
      RAISE EXCEPTION 'an approval is withdrawn once, and does not change otherwise' USING ERRCODE = 'restrict_violation';
    END IF;
    IF payment.state <> 'queued' THEN
      RAISE EXCEPTION 'an approval of what is decided stays' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF payment.state <> 'queued' OR payment.merchant_id <> NEW.merchant_id OR NEW.approved_at >= payment.expires_at THEN
    RAISE EXCEPTION '% % is not queued, has expired or belongs to another merchant than the approval', payment.kind, payment.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_while_queued';
  END IF;
  IF payment.created_by = NEW.user_id THEN
    RAISE EXCEPTION '% % cannot be approved by the person who created it', payment.kind, payment.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_another';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION '% % can be approved only by an owner or an approver of its merchant', payment.kind, payment.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_approvers';
  END IF;
  PERFORM check_waited(NEW.merchant_id, NEW.user_id, NEW.approved_at);
  RETURN NEW;
END $$;
CREATE TRIGGER approvals_check BEFORE INSERT OR UPDATE ON approvals
  FOR EACH ROW EXECUTE FUNCTION check_approval();
COMMENT ON TRIGGER approvals_check ON approvals IS
  'Refuses an approval of a payment that is not queued or has expired, by its maker, by somebody who is no owner or approver, and by '
  'a person in their waiting time; and every change but one withdrawal while the payment is queued.';

CREATE FUNCTION check_daily_limit() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  allowed bigint := (SELECT approver_daily_limit_minor FROM policies WHERE merchant_id = NEW.merchant_id);
BEGIN
  IF allowed IS NOT NULL THEN
    -- Concurrent approvals by one person would not see each other.
    PERFORM FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id FOR NO KEY UPDATE;
    IF allowed < (SELECT sum(p.amount_minor) FROM approvals a JOIN payments p ON p.id = a.payment_id
        WHERE a.merchant_id = NEW.merchant_id AND a.user_id = NEW.user_id
          AND a.approved_at > NEW.approved_at - interval '24 hours' AND a.withdrawn_at IS NULL) THEN
      RAISE EXCEPTION '% approves more than the daily limit', NEW.user_id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approver_daily_limit';
    END IF;
  END IF;
  -- An approval that is not the last one changes for whom the payment waits.
  INSERT INTO state_changes (merchant_id, kind, object_id, to_state)
  SELECT merchant_id, kind, id, 'queued' FROM payments WHERE id = NEW.payment_id;
  RETURN NULL;
END $$;
CREATE TRIGGER approvals_check_daily_limit AFTER INSERT ON approvals
  FOR EACH ROW EXECUTE FUNCTION check_daily_limit();
COMMENT ON TRIGGER approvals_check_daily_limit ON approvals IS
  'Refuses an approval beyond the daily limit of the person. It adds a row to state_changes, for pages that show the payment.';
