-- Who has just become able to move money waits, and in the live environment it takes two owners before money leaves a merchant.
--
-- Rules that the database itself enforces here:
-- - Since when a member may approve is set by the database alone: at the moment when they become an owner or approver, and
--   anew when they become one again.
-- - In the live environment a person moves no money in the first 24 hours after they became an owner or approver, nor
--   after a recovery of their account: they approve no payout, request no refund and create no payout. The merchant's policy
--   can make that longer, and have it in the test environment too.
-- - A key that a person created after the recovery of their account creates no payouts for as long.
-- - In the live environment no payout is created or released, and no refund requested, while the merchant has fewer than
--   two owners with a second factor.
-- A database that is not stamped with an environment counts as live.
--
-- The functions name the schema, so that no table of a caller's own takes the place of these.

ALTER TABLE policies ADD COLUMN approver_wait_ms bigint CHECK (approver_wait_ms BETWEEN 1000 AND 2592000000);

ALTER TABLE members ADD COLUMN approver_since timestamptz;
UPDATE members SET approver_since = created_at WHERE removed_at IS NULL AND roles && ARRAY['owner', 'approver'];

CREATE FUNCTION set_approver_since() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.removed_at IS NOT NULL OR NOT NEW.roles && ARRAY['owner', 'approver'] THEN
    NEW.approver_since := NULL;
  ELSIF TG_OP = 'UPDATE' AND OLD.approver_since IS NOT NULL THEN
    NEW.approver_since := OLD.approver_since;
  ELSE
    NEW.approver_since := clock_timestamp();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER members_set_approver_since BEFORE INSERT OR UPDATE ON members
  FOR EACH ROW EXECUTE FUNCTION set_approver_since();

CREATE FUNCTION is_live() RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN coalesce((SELECT environment FROM deployment), 'live') = 'live';
END $$;

CREATE FUNCTION waiting_time(merchant text) RETURNS interval LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN greatest(
    CASE WHEN is_live() THEN interval '24 hours' ELSE interval '0' END,
    (SELECT make_interval(secs => approver_wait_ms / 1000.0) FROM policies WHERE merchant_id = merchant));
END $$;

-- Whether the person has waited long enough. A moment ahead of the database's clock counts as now.
CREATE FUNCTION moves_money(merchant text, person text, at timestamptz) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
  wait interval := waiting_time(merchant);
BEGIN
  RETURN wait = interval '0' OR coalesce(least(at, clock_timestamp()) >= wait + (
    SELECT greatest(m.approver_since, u.recovered_at)
    FROM users u LEFT JOIN members m ON m.merchant_id = merchant AND m.user_id = u.id
    WHERE u.id = person), true);
END $$;

CREATE FUNCTION has_second_factor(person text) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM users WHERE id = person AND totp_secret_sealed IS NOT NULL);
END $$;

CREATE FUNCTION count_secured_owners(merchant text) RETURNS bigint
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN (SELECT count(*) FROM members
    WHERE merchant_id = merchant AND removed_at IS NULL AND 'owner' = ANY (roles) AND has_second_factor(user_id));
END $$;

CREATE FUNCTION check_money_out() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF is_live() AND count_secured_owners(NEW.merchant_id) < 2 THEN
    RAISE EXCEPTION 'merchant % needs two owners with a second factor before money leaves it', NEW.merchant_id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_two_owners';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_check_money_out BEFORE INSERT ON payouts FOR EACH ROW EXECUTE FUNCTION check_money_out();
CREATE TRIGGER payouts_check_release BEFORE UPDATE ON payouts
  FOR EACH ROW WHEN (OLD.state = 'queued' AND NEW.state = 'released') EXECUTE FUNCTION check_money_out();
CREATE TRIGGER reversals_check_money_out BEFORE INSERT ON reversals FOR EACH ROW EXECUTE FUNCTION check_money_out();

CREATE FUNCTION refuse_while_waiting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a new approver, or a recovered account, moves no money yet'
    USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_after_waiting';
END $$;
CREATE TRIGGER payout_approvals_check_waiting BEFORE INSERT ON payout_approvals
  FOR EACH ROW WHEN (NOT moves_money(NEW.merchant_id, NEW.user_id, NEW.approved_at))
  EXECUTE FUNCTION refuse_while_waiting();
CREATE TRIGGER reversals_check_waiting BEFORE INSERT ON reversals
  FOR EACH ROW WHEN (NOT moves_money(NEW.merchant_id, NEW.requested_by, NEW.created_at))
  EXECUTE FUNCTION refuse_while_waiting();
CREATE TRIGGER payouts_check_waiting BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.api_key_id IS NULL AND NOT moves_money(NEW.merchant_id, NEW.created_by, NEW.created_at))
  EXECUTE FUNCTION refuse_while_waiting();

-- The servers of the merchant go on with the keys that they had before: nobody learns such a key by a recovery.
CREATE FUNCTION check_key_of_recovered() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM api_keys k JOIN users u ON u.id = NEW.created_by
      WHERE k.id = NEW.api_key_id AND k.created_at >= u.recovered_at
        AND u.recovered_at + waiting_time(NEW.merchant_id) > least(NEW.created_at, clock_timestamp())) THEN
    RAISE EXCEPTION 'a key of a recovered account creates no payouts yet'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_by_recovered_key';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_check_key_of_recovered BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.api_key_id IS NOT NULL) EXECUTE FUNCTION check_key_of_recovered();
