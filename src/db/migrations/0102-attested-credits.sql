-- What makes money of a merchant available carries the operator status that it rests on, attested by the process that recorded it.
--
-- Rules that the database itself enforces here:
-- - A transfer that makes money available, and a refund that failed, has an attestation. One that a status of the operator decides names that status and when it
--   was queried: a collection that was paid, a payout that was returned, a payout
--   or refund that failed after a send began.
-- - A checkpoint of the ledger carries an attestation, and says how much of the balance at it has none.
-- Whether an attestation is the right one, the service verifies: before a release, and in both checks of the ledger.

ALTER TABLE ledger_transfers
  -- What the operator said, and when it was asked. Null where no status decided: a person did, or nothing was ever sent.
  ADD COLUMN status_kind text,
  ADD COLUMN status_queried_at timestamptz,
  -- Of this transfer with its status. Null for a transfer that makes nothing available.
  ADD COLUMN status_attestation text,
  ADD CONSTRAINT ledger_transfers_attested CHECK (
    (kind IN ('collection_paid', 'payout_voided', 'payout_returned')) = (status_attestation IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT ledger_transfers_status CHECK (
    (status_kind IS NULL) = (status_queried_at IS NULL)
    AND CASE kind
      WHEN 'collection_paid' THEN status_kind IS NOT NULL AND status_kind IN ('paid', 'returned')
      WHEN 'payout_returned' THEN status_kind IS NOT NULL AND status_kind = 'returned'
      WHEN 'payout_voided' THEN status_kind IS NULL OR status_kind IN ('declined', 'refused', 'not_found')
      ELSE status_kind IS NULL END) NOT VALID;

CREATE FUNCTION check_voided_status() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF (NEW.status_kind IS NULL) <>
     (SELECT state <> 'failed' OR failed_by IS NOT DISTINCT FROM 'never_sent' FROM payouts WHERE id = NEW.payout_id) THEN
    RAISE EXCEPTION 'the hold of payout % is voided by another status than the payout says', NEW.payout_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_transfers_check_voided_status BEFORE INSERT ON ledger_transfers
  FOR EACH ROW WHEN (NEW.kind = 'payout_voided') EXECUTE FUNCTION check_voided_status();

-- A refund that failed reserves its money no more.
ALTER TABLE reversals
  ADD COLUMN status_kind text,
  ADD COLUMN status_queried_at timestamptz,
  ADD COLUMN status_attestation text,
  ADD CONSTRAINT reversals_attested CHECK ((state = 'failed') = (status_attestation IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT reversals_status CHECK (
    (status_kind IS NULL) = (status_queried_at IS NULL)
    AND CASE WHEN state = 'failed' AND failed_by IN ('declined', 'never_accepted')
      THEN status_kind IS NOT NULL AND status_kind IN ('declined', 'refused', 'not_found')
      ELSE status_kind IS NULL END) NOT VALID;

ALTER TABLE ledger_checkpoints
  -- Of the balance: what came by transfers that no process of the service attested. Nobody can spend it.
  ADD COLUMN unattested_minor bigint NOT NULL DEFAULT 0
    CONSTRAINT ledger_checkpoints_unattested CHECK (unattested_minor >= 0),
  ADD COLUMN attestation text;
ALTER TABLE ledger_checkpoints ALTER COLUMN attestation SET DEFAULT '';
CREATE TRIGGER ledger_checkpoints_attestation_made BEFORE INSERT ON ledger_checkpoints
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER ledger_checkpoints_attestation_kept BEFORE UPDATE OF attestation ON ledger_checkpoints
  FOR EACH ROW WHEN (NEW.attestation IS NULL AND OLD.attestation IS NOT NULL) EXECUTE FUNCTION keep_attestation();
CREATE TRIGGER ledger_checkpoints_attestation_newer BEFORE UPDATE OF attestation ON ledger_checkpoints
  FOR EACH ROW WHEN (NEW.attestation IS DISTINCT FROM OLD.attestation) EXECUTE FUNCTION keep_newer_attestation();

-- A checkpoint is attested again as it is when the service's keys are replaced.
CREATE OR REPLACE FUNCTION check_ledger_checkpoint() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.account_id, NEW.entry, NEW.balance_minor, NEW.unattested_minor)
       = (OLD.account_id, OLD.entry, OLD.balance_minor, OLD.unattested_minor) THEN
      RETURN NEW;
    END IF;
    IF NEW.account_id <> OLD.account_id OR NEW.entry <= OLD.entry THEN
      RAISE EXCEPTION 'the checkpoint of % goes forward alone', OLD.account_id USING ERRCODE = 'restrict_violation';
    END IF;
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

ALTER TABLE discrepancies
  DROP CONSTRAINT discrepancies_kind_check,
  ADD CONSTRAINT discrepancies_kind_check CHECK (kind IN (
    'paid_after_failed', 'declined_after_paid', 'refunded_twice', 'receipt_reused', 'paid_otherwise', 'release_unattested',
    'credit_unattested'));
