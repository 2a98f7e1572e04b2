-- How far the ledger was checked, so that a check reads what changed since the one before, however much there is in all.
--
-- Rules that the database itself enforces here:
-- - A checkpoint is at an entry of its account, with the balance after that entry, and goes forward alone.
-- - The time up to which changed payments were checked goes forward alone.

-- Up to this entry, and with this balance, the account's entries add up, and their payments agree with them.
CREATE TABLE ledger_checkpoints (
  account_id text COLLATE "C" NOT NULL CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY,
  entry bigint NOT NULL,
  balance_minor bigint NOT NULL,
  checked_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER ledger_checkpoints_kept BEFORE DELETE OR TRUNCATE ON ledger_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_ledger_checkpoint() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.account_id <> OLD.account_id OR NEW.entry <= OLD.entry) THEN
    RAISE EXCEPTION 'the checkpoint of % goes forward alone', OLD.account_id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE credit_account_id = NEW.account_id AND credit_entry = NEW.entry AND credit_balance_minor = NEW.balance_minor)
     AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE debit_account_id = NEW.account_id AND debit_entry = NEW.entry AND debit_balance_minor = NEW.balance_minor) THEN
    RAISE EXCEPTION 'no entry % of % leaves the balance of its checkpoint', NEW.entry, NEW.account_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_checkpoints_check BEFORE INSERT OR UPDATE ON ledger_checkpoints
  FOR EACH ROW EXECUTE FUNCTION check_ledger_checkpoint();

-- Payments that changed before this time agree with their transfers.
CREATE TABLE checked_payments (
  is_only boolean NOT NULL DEFAULT true CONSTRAINT checked_payments_pkey PRIMARY KEY
    CONSTRAINT checked_payments_one_row CHECK (is_only),
  changed_before timestamptz NOT NULL
);
CREATE TRIGGER checked_payments_kept BEFORE DELETE OR TRUNCATE ON checked_payments
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_checked_payments_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the time before which payments are checked goes forward alone' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER checked_payments_forward BEFORE UPDATE ON checked_payments
  FOR EACH ROW WHEN (NEW.changed_before <= OLD.changed_before) EXECUTE FUNCTION refuse_checked_payments_back();

ALTER TABLE housekeeping DROP CONSTRAINT housekeeping_task;
ALTER TABLE housekeeping ADD CONSTRAINT housekeeping_task
  CHECK (task IN ('dispatch', 'rechecks', 'purge', 'recent_payments', 'ledger_check', 'whole_ledger_check'));
