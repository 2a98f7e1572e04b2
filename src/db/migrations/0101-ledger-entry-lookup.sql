-- The check that a balance changes with its transfer alone finds that transfer by the number of its entry. Of a table that was never
-- analysed PostgreSQL believes that any index with the account is as good, took the one of statements, and read all entries of the
-- account for each transfer. In the order of its numbers there is one index, whatever PostgreSQL knows of the table.
CREATE OR REPLACE FUNCTION check_account_posted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
       SELECT FROM (
         SELECT * FROM ledger_transfers WHERE credit_account_id = NEW.id AND credit_entry >= NEW.entry_count
         ORDER BY credit_entry LIMIT 1) AS first
       WHERE credit_entry = NEW.entry_count
         AND amount_minor = NEW.balance_minor - OLD.balance_minor AND credit_balance_minor = NEW.balance_minor)
     AND NOT EXISTS (
       SELECT FROM (
         SELECT * FROM ledger_transfers WHERE debit_account_id = NEW.id AND debit_entry >= NEW.entry_count
         ORDER BY debit_entry LIMIT 1) AS first
       WHERE debit_entry = NEW.entry_count
         AND amount_minor = OLD.balance_minor - NEW.balance_minor AND debit_balance_minor = NEW.balance_minor) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted, and % changed without one', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
