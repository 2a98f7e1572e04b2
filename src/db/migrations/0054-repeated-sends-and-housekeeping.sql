-- What whoever completes activities by hand could bend, and when housekeeping was last done.
--
-- A refusal is the answer to one try to send. It says how a payment ended only if no other try began: that is recorded here, and
-- not in Temporal alone. Tries of before are not known: what was refused before this migration is recorded already.
--
-- Rules that the database itself enforces here:
-- - A further try to send begins after the first, while the payment may be sent and before its deadline; its time stays.
-- - The send deadline of a payout is set by its release, as that of a refund is.
-- - As of when housekeeping is done goes forward alone, and is never removed.

ALTER TABLE collections ADD COLUMN send_repeated_at timestamptz;
ALTER TABLE payouts ADD COLUMN send_repeated_at timestamptz;
ALTER TABLE reversals ADD COLUMN send_repeated_at timestamptz;

CREATE FUNCTION refuse_send_repeated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a send of % is repeated after it began, while it may be sent and before its deadline', OLD.id
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER collections_check_send_repeated BEFORE UPDATE OF send_repeated_at ON collections
  FOR EACH ROW WHEN (NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT (
    OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NEW.state = 'initiated'
    AND NEW.send_repeated_at < NEW.prompt_deadline_at))
  EXECUTE FUNCTION refuse_send_repeated();
CREATE TRIGGER payouts_check_send_repeated BEFORE UPDATE OF send_repeated_at ON payouts
  FOR EACH ROW WHEN (NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT (
    OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_repeated_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_repeated();
CREATE TRIGGER reversals_check_send_repeated BEFORE UPDATE OF send_repeated_at ON reversals
  FOR EACH ROW WHEN (NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT (
    OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_repeated_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_repeated();

CREATE FUNCTION refuse_deadline_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the send deadline of payout % is set by its release', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
-- After the other rules, so that an illegal transition is refused as such.
CREATE TRIGGER payouts_check_send_deadline AFTER UPDATE OF send_deadline_at ON payouts
  FOR EACH ROW WHEN (OLD.state <> 'queued' AND NEW.send_deadline_at IS DISTINCT FROM OLD.send_deadline_at)
  EXECUTE FUNCTION refuse_deadline_change();

-- What there was to do at that time is done. Read by the metrics: what no longer runs, a process that is away or somebody who
-- ended its schedule, shows nowhere else.
CREATE TABLE housekeeping (
  task text COLLATE "C" NOT NULL CONSTRAINT housekeeping_pkey PRIMARY KEY,
  done_as_of timestamptz NOT NULL,
  -- Of a check, how many faults it found.
  faults integer NOT NULL,
  CONSTRAINT housekeeping_task CHECK (task IN ('dispatch', 'rechecks', 'purge', 'recent_payments', 'ledger_check')),
  CONSTRAINT housekeeping_faults CHECK (faults >= 0)
);
CREATE TRIGGER housekeeping_kept BEFORE DELETE OR TRUNCATE ON housekeeping
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_housekeeping_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'as of when % is done goes forward alone', OLD.task USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER housekeeping_check_forward BEFORE UPDATE ON housekeeping
  FOR EACH ROW WHEN (NEW.task <> OLD.task OR NEW.done_as_of < OLD.done_as_of)
  EXECUTE FUNCTION refuse_housekeeping_back();
