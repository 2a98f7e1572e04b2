-- The statement of a merchant's accounts: each ledger entry knows the balance after it and its place in time.
--
-- Both are written while the accounts are locked, so they agree with the numbers of the entries whatever was posted at once, and a
-- page of the statement reads its own rows alone, at any depth.
--
-- Rules that the database itself enforces here:
-- - The balance after an account's newest entry is the account's balance.
-- - An entry of a merchant's account is later than the entry before it, whatever a clock says.

ALTER TABLE ledger_accounts
  -- The time of the account's newest entry.
  ADD COLUMN last_posted_at timestamptz;
ALTER TABLE ledger_transfers
  -- The balance of each account after this transfer. Null for an operator's account, whose balance is summed when it is read.
  ADD COLUMN debit_balance_minor bigint,
  ADD COLUMN credit_balance_minor bigint,
  -- By the clock of the database, and the order of the entries: `created_at` is that of the process that recorded the payment.
  ADD COLUMN posted_at timestamptz NOT NULL DEFAULT now();

-- The rows that are there already: balances in the order of their numbers, times in the order of their posting.
ALTER TABLE ledger_accounts DISABLE TRIGGER USER;
ALTER TABLE ledger_transfers DISABLE TRIGGER USER;
WITH balances AS (
  SELECT e.transfer_id, e.is_credit, sum(e.amount_minor) OVER (PARTITION BY e.account_id ORDER BY e.entry) AS balance_minor
  FROM (SELECT id AS transfer_id, false AS is_credit, debit_account_id AS account_id, debit_entry AS entry,
               -amount_minor AS amount_minor FROM ledger_transfers WHERE debit_entry IS NOT NULL
        UNION ALL
        SELECT id, true, credit_account_id, credit_entry, amount_minor FROM ledger_transfers
        WHERE credit_entry IS NOT NULL) AS e),
reached AS (
  SELECT id, merchant, max(created_at) OVER (PARTITION BY merchant ORDER BY id) AS latest_at
  FROM (SELECT id, created_at, split_part(CASE WHEN debit_entry IS NULL THEN credit_account_id ELSE debit_account_id END, '/', 1)
          AS merchant FROM ledger_transfers) AS t),
times AS (
  SELECT id, latest_at + row_number() OVER (PARTITION BY merchant, latest_at ORDER BY id) * interval '1 microsecond' AS posted_at
  FROM reached)
UPDATE ledger_transfers t
SET debit_balance_minor = debit.balance_minor, credit_balance_minor = credit.balance_minor, posted_at = times.posted_at
FROM times
  LEFT JOIN balances debit ON debit.transfer_id = times.id AND NOT debit.is_credit
  LEFT JOIN balances credit ON credit.transfer_id = times.id AND credit.is_credit
WHERE times.id = t.id;
UPDATE ledger_accounts a SET last_posted_at = (
  SELECT max(posted_at) FROM ledger_transfers WHERE a.id IN (debit_account_id, credit_account_id))
WHERE a.merchant_id IS NOT NULL;
ALTER TABLE ledger_accounts ENABLE TRIGGER USER;
ALTER TABLE ledger_transfers ENABLE TRIGGER USER;

ALTER TABLE ledger_transfers
  ADD CONSTRAINT ledger_transfers_entry_balances CHECK (
    (debit_entry IS NULL) = (debit_balance_minor IS NULL) AND (credit_entry IS NULL) = (credit_balance_minor IS NULL));

-- An account has few kinds of transfers on each side, so every combination of account, kind and time is a few index ranges.
CREATE INDEX ledger_transfers_debit_statement ON ledger_transfers (debit_account_id, kind, posted_at)
  WHERE debit_entry IS NOT NULL;
CREATE INDEX ledger_transfers_credit_statement ON ledger_transfers (credit_account_id, kind, posted_at)
  WHERE credit_entry IS NOT NULL;

CREATE OR REPLACE FUNCTION check_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.balance_minor IS DISTINCT FROM (CASE NEW.kind WHEN 'operator' THEN NULL ELSE 0 END) THEN
      RAISE EXCEPTION 'a new account of a merchant starts at zero, and an account of an operator has no stored balance'
        USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.entry_count := NEW.balance_minor;
    NEW.last_posted_at := NULL;
    RETURN NEW;
  END IF;
  IF OLD.entry_count IS NULL OR NEW.entry_count IS DISTINCT FROM OLD.entry_count + 1
     OR (NEW.id, NEW.kind, NEW.merchant_id, NEW.operator, NEW.currency)
        IS DISTINCT FROM (OLD.id, OLD.kind, OLD.merchant_id, OLD.operator, OLD.currency) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- At commit: the transfer with the number of this change moved the amount by which the balance changed, and says so.
CREATE OR REPLACE FUNCTION check_account_posted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE credit_account_id = NEW.id AND credit_entry = NEW.entry_count
          AND amount_minor = NEW.balance_minor - OLD.balance_minor AND credit_balance_minor = NEW.balance_minor)
     AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE debit_account_id = NEW.id AND debit_entry = NEW.entry_count
          AND amount_minor = OLD.balance_minor - NEW.balance_minor AND debit_balance_minor = NEW.balance_minor) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted, and % changed without one', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION post_transfer() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  last_posted timestamptz;
BEGIN
  -- Accounts are locked in the order of their ids, whichever side they are on, so that two transfers never deadlock.
  PERFORM 1 FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE;
  -- A statement of its own: one that waited for a lock still sees other rows as they were when it began.
  SELECT max(last_posted_at) INTO last_posted FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL;
  NEW.posted_at := greatest(clock_timestamp(), last_posted + interval '1 microsecond');
  UPDATE ledger_accounts
    SET balance_minor = balance_minor - NEW.amount_minor, entry_count = entry_count + 1, last_posted_at = NEW.posted_at
    WHERE id = NEW.debit_account_id AND merchant_id IS NOT NULL
    RETURNING entry_count, balance_minor INTO NEW.debit_entry, NEW.debit_balance_minor;
  UPDATE ledger_accounts
    SET balance_minor = balance_minor + NEW.amount_minor, entry_count = entry_count + 1, last_posted_at = NEW.posted_at
    WHERE id = NEW.credit_account_id AND merchant_id IS NOT NULL
    RETURNING entry_count, balance_minor INTO NEW.credit_entry, NEW.credit_balance_minor;
  -- A reversal may make a debt; a payout may not.
  IF NEW.kind = 'payout_held' AND NEW.debit_balance_minor < 0 THEN
    RAISE EXCEPTION 'payout % exceeds the available balance', NEW.payout_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
