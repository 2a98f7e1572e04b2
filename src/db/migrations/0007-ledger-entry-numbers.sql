-- Each change of a merchant's account is numbered, and bound to the transfer that caused it.
--
-- Until now a balance could be changed from within any trigger, because the rule was that it changes in no other place.
--
-- Rules that the database itself enforces here:
-- - The n-th change of an account is its n-th entry: one transfer has this number on this account, and moves exactly the
--   amount by which the balance changes. So the balance is the sum of the entries, whoever writes to the account.

ALTER TABLE ledger_accounts
  -- How many entries the account has. Null for an operator, whose balance is summed when it is read.
  ADD COLUMN entry_count bigint;
ALTER TABLE ledger_transfers
  -- The number of this transfer among the entries of each account. Null for an operator's account.
  ADD COLUMN debit_entry bigint,
  ADD COLUMN credit_entry bigint;

-- The rows that are there already, in the order of their posting.
ALTER TABLE ledger_accounts DISABLE TRIGGER USER;
ALTER TABLE ledger_transfers DISABLE TRIGGER USER;
WITH numbered AS (
  SELECT e.transfer_id, e.account_id, row_number() OVER (PARTITION BY e.account_id ORDER BY e.transfer_id) AS n
  FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id WHERE a.merchant_id IS NOT NULL)
UPDATE ledger_transfers t SET debit_entry = debit.n, credit_entry = credit.n
FROM ledger_transfers same
  LEFT JOIN numbered debit ON debit.transfer_id = same.id AND debit.account_id = same.debit_account_id
  LEFT JOIN numbered credit ON credit.transfer_id = same.id AND credit.account_id = same.credit_account_id
WHERE same.id = t.id;
UPDATE ledger_accounts a
SET entry_count = (SELECT count(*) FROM ledger_entries e WHERE e.account_id = a.id) WHERE a.merchant_id IS NOT NULL;
ALTER TABLE ledger_accounts ENABLE TRIGGER USER;
ALTER TABLE ledger_transfers ENABLE TRIGGER USER;

ALTER TABLE ledger_accounts
  ADD CONSTRAINT ledger_accounts_entry_count CHECK ((kind = 'operator') = (entry_count IS NULL));
-- These indexes take the place of those that found an account's entries.
ALTER TABLE ledger_transfers
  ADD CONSTRAINT ledger_transfers_one_per_debit_entry UNIQUE (debit_account_id, debit_entry),
  ADD CONSTRAINT ledger_transfers_one_per_credit_entry UNIQUE (credit_account_id, credit_entry),
  ADD CONSTRAINT ledger_transfers_debit_entry_counted CHECK ((debit_account_id LIKE 'operator/%') = (debit_entry IS NULL)),
  ADD CONSTRAINT ledger_transfers_credit_entry_counted
    CHECK ((credit_account_id LIKE 'operator/%') = (credit_entry IS NULL));
DROP INDEX ledger_transfers_debit, ledger_transfers_credit;

CREATE OR REPLACE FUNCTION check_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.balance_minor IS DISTINCT FROM (CASE NEW.kind WHEN 'operator' THEN NULL ELSE 0 END) THEN
      RAISE EXCEPTION 'a new account of a merchant starts at zero, and an account of an operator has no stored balance'
        USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.entry_count := NEW.balance_minor;
    RETURN NEW;
  END IF;
  IF OLD.entry_count IS NULL OR NEW.entry_count IS DISTINCT FROM OLD.entry_count + 1
     OR (NEW.id, NEW.kind, NEW.merchant_id, NEW.operator, NEW.currency)
        IS DISTINCT FROM (OLD.id, OLD.kind, OLD.merchant_id, OLD.operator, OLD.currency) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- At commit: the transfer with the number of this change moved the amount by which the balance changed.
CREATE FUNCTION check_account_posted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE credit_account_id = NEW.id AND credit_entry = NEW.entry_count
          AND amount_minor = NEW.balance_minor - OLD.balance_minor)
     AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE debit_account_id = NEW.id AND debit_entry = NEW.entry_count
          AND amount_minor = OLD.balance_minor - NEW.balance_minor) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted, and % changed without one', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ledger_accounts_check_posted AFTER UPDATE ON ledger_accounts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_account_posted();

-- Posts before the row is written, so that the row has its numbers from the start: it never changes.
DROP TRIGGER ledger_transfers_post_held ON ledger_transfers;
DROP FUNCTION check_held_transfer;
DROP TRIGGER ledger_transfers_post ON ledger_transfers;
CREATE OR REPLACE FUNCTION post_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  debit_balance bigint;
BEGIN
  -- Accounts are locked in the order of their ids, whichever side they are on, so that two transfers never deadlock.
  PERFORM 1 FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE ledger_accounts SET balance_minor = balance_minor - NEW.amount_minor, entry_count = entry_count + 1
    WHERE id = NEW.debit_account_id AND merchant_id IS NOT NULL
    RETURNING entry_count, balance_minor INTO NEW.debit_entry, debit_balance;
  UPDATE ledger_accounts SET balance_minor = balance_minor + NEW.amount_minor, entry_count = entry_count + 1
    WHERE id = NEW.credit_account_id AND merchant_id IS NOT NULL
    RETURNING entry_count INTO NEW.credit_entry;
  -- A reversal may make a debt; a payout may not.
  IF NEW.kind = 'payout_held' AND debit_balance < 0 THEN
    RAISE EXCEPTION 'payout % exceeds the available balance', NEW.payout_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
-- Its name sorts after ledger_transfers_check, so it runs after the check: PostgreSQL runs triggers of one kind in the
-- order of their names.
CREATE TRIGGER ledger_transfers_post BEFORE INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION post_transfer();
