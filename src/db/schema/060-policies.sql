-- What a merchant demands of the people who move its money, and the waiting time before a person moves money.
-- The functions have a fixed search path, so that a caller cannot substitute tables of its own.

CREATE TABLE policies (
  merchant_id text COLLATE "C" PRIMARY KEY REFERENCES merchants,
  second_factor_required boolean NOT NULL DEFAULT false,
  two_approvers_above_minor bigint CHECK (two_approvers_above_minor BETWEEN 0 AND 9007199254740991),
  approver_daily_limit_minor bigint CHECK (approver_daily_limit_minor BETWEEN 1 AND 9007199254740991),
  approver_wait_ms bigint CHECK (approver_wait_ms BETWEEN 1000 AND 2592000000),
  key_held_limit_minor bigint
    CHECK (key_held_limit_minor BETWEEN 0 AND 9007199254740991),
  payout_expires_after_ms bigint CHECK (payout_expires_after_ms BETWEEN 1000 AND 2592000000),
  updated_at timestamptz NOT NULL,
  attestation text NOT NULL DEFAULT ''
);
COMMENT ON TABLE policies IS
  'What a merchant demands beyond the second person. A merchant that never changed its policy has no row: the defaults apply.';
COMMENT ON COLUMN policies.two_approvers_above_minor IS
  'A payout above this amount needs two approvers. Null: one approver is enough for any amount.';
COMMENT ON COLUMN policies.approver_daily_limit_minor IS
  'The most that one person approves in 24 hours, payouts and refunds together. Null: no limit.';
COMMENT ON COLUMN policies.approver_wait_ms IS 'How long a new approver waits. Null: the least that the environment demands.';
COMMENT ON COLUMN policies.key_held_limit_minor IS
  'The most that the queued payouts of one API key may hold together. Null: no limit.';

CREATE TRIGGER policies_check BEFORE UPDATE ON policies
  FOR EACH ROW WHEN ((NEW.merchant_id, NEW.attestation) <> (OLD.merchant_id, OLD.attestation))
  EXECUTE FUNCTION check_attested_row('merchant_id');
COMMENT ON TRIGGER policies_check ON policies IS
  'Refuses another merchant, and an attestation whose number is not greater than that of the row.';

-- In the live environment a person moves no money in the first 24 hours after they became an owner or approver, nor in the
-- first 24 hours after a recovery of their account: they approve nothing, request no refund and create no payout. A policy can
-- make the waiting time longer, and demand one in the test environment.
CREATE FUNCTION waiting_time(merchant text) RETURNS interval LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN greatest(
    CASE WHEN is_live() THEN interval '24 hours' ELSE interval '0' END,
    (SELECT make_interval(secs => approver_wait_ms / 1000.0) FROM policies WHERE merchant_id = merchant));
END $$;

-- Whether the person has waited long enough. A moment ahead of the clock of the database counts as now.
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

-- Refuses a move of money by a person who became an approver, or whose account was recovered, too recently.
CREATE FUNCTION check_waited(merchant text, person text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT moves_money(merchant, person, at) THEN
    RAISE EXCEPTION 'a new approver, or a recovered account, moves no money yet'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_after_waiting';
  END IF;
END $$;

CREATE FUNCTION check_two_owners(merchant text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF is_live() AND count_secured_owners(merchant) < 2 THEN
    RAISE EXCEPTION 'merchant % needs two owners with a second factor before money leaves it', merchant
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_two_owners';
  END IF;
END $$;
