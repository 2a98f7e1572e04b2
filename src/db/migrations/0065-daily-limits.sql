-- The daily limit of an approver holds in the database too.
--
-- Rules that the database itself enforces here:
-- - A person approves no more in any 24 hours than the policy of the merchant allows, payouts and refunds together.

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
    UNION ALL
    SELECT c.amount_minor FROM reversal_approvals a
      JOIN reversals r ON r.id = a.reversal_id JOIN collections c ON c.id = r.collection_id
    WHERE a.merchant_id = NEW.merchant_id AND a.user_id = NEW.user_id AND a.approved_at > NEW.approved_at - interval '24 hours'
  ) AS of_a_day;
  IF approved > allowed THEN
    RAISE EXCEPTION '% approves more than the daily limit', NEW.user_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER payout_approvals_daily_limit AFTER INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_daily_limit();
CREATE TRIGGER reversal_approvals_daily_limit AFTER INSERT ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION check_daily_limit();
