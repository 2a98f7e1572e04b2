-- The ledger: accounts, and transfers between two accounts.
--
-- Rules that the database itself enforces here:
-- - A transfer moves one amount out of one account and into another: it always balances.
-- - A transfer matches the state, amount, currency and accounts of its payment, and a payment has one transfer of each
--   kind at most.
-- - Balances change only by the posting of a transfer. A payout never holds more than what is available.
-- - Transfers are append-only, and no account is ever deleted.

CREATE TABLE ledger_accounts (
  id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('available', 'held', 'operator')),
  merchant_id text COLLATE "C",
  operator text,
  currency text NOT NULL,
  -- Kept for the accounts of merchants, which every payment reads and guards. An operator's account would be one hot
  -- row for all merchants: its balance is summed when it is read.
  balance_minor bigint,
  UNIQUE (id, currency),
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  CONSTRAINT ledger_accounts_named_for_owner CHECK (
    id = CASE kind WHEN 'operator' THEN 'operator/' || operator || '/' || currency ELSE merchant_id || '/' || kind END),
  CONSTRAINT ledger_accounts_one_owner CHECK (
    (kind = 'operator') = (merchant_id IS NULL) AND (kind = 'operator') = (operator IS NOT NULL)),
  CONSTRAINT ledger_accounts_balance CHECK ((kind = 'operator') = (balance_minor IS NULL)),
  CONSTRAINT ledger_accounts_balance_range CHECK (balance_minor BETWEEN -9007199254740991 AND 9007199254740991),
  -- A reversal may bring the available balance below zero (a debt); the held balance never goes below zero.
  CONSTRAINT ledger_accounts_held_not_negative CHECK (kind <> 'held' OR balance_minor >= 0)
);
CREATE TRIGGER ledger_accounts_kept BEFORE DELETE OR TRUNCATE ON ledger_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION check_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.balance_minor IS DISTINCT FROM (CASE NEW.kind WHEN 'operator' THEN NULL ELSE 0 END) THEN
      RAISE EXCEPTION 'a new account of a merchant starts at zero, and an account of an operator has no stored balance'
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  -- Depth 1 is a statement of a client; depth 2 is the trigger that posts a transfer.
  IF pg_trigger_depth() < 2 THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_accounts_check_change BEFORE INSERT OR UPDATE ON ledger_accounts
  FOR EACH ROW EXECUTE FUNCTION check_account_change();

CREATE TABLE ledger_transfers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN (
    'collection_paid', 'collection_reversed', 'payout_held', 'payout_voided', 'payout_paid', 'payout_returned')),
  collection_id text COLLATE "C" REFERENCES collections,
  payout_id text COLLATE "C" REFERENCES payouts,
  debit_account_id text COLLATE "C" NOT NULL,
  credit_account_id text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (debit_account_id, currency) REFERENCES ledger_accounts (id, currency),
  FOREIGN KEY (credit_account_id, currency) REFERENCES ledger_accounts (id, currency),
  CHECK (debit_account_id <> credit_account_id),
  CONSTRAINT ledger_transfers_of_a_collection CHECK ((kind LIKE 'collection\_%') = (collection_id IS NOT NULL)),
  CONSTRAINT ledger_transfers_of_a_payout CHECK ((kind LIKE 'payout\_%') = (payout_id IS NOT NULL)),
  -- Each movement of a payment is posted once, even when code runs twice.
  CONSTRAINT ledger_transfers_once_per_collection UNIQUE (collection_id, kind),
  CONSTRAINT ledger_transfers_once_per_payout UNIQUE (payout_id, kind)
);
CREATE INDEX ledger_transfers_debit ON ledger_transfers (debit_account_id);
CREATE INDEX ledger_transfers_credit ON ledger_transfers (credit_account_id);
CREATE TRIGGER ledger_transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE VIEW ledger_entries AS
  SELECT id AS transfer_id, debit_account_id AS account_id, -amount_minor AS amount_minor, currency, created_at
    FROM ledger_transfers
  UNION ALL
  SELECT id, credit_account_id, amount_minor, currency, created_at FROM ledger_transfers;

CREATE FUNCTION check_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  amount bigint;
  paid_in text;
  merchant text;
  state_now text;
  operator_account text;
  is_right boolean;
BEGIN
  IF NEW.collection_id IS NOT NULL THEN
    SELECT amount_minor, currency, merchant_id, state, 'operator/' || operator || '/' || currency
      INTO STRICT amount, paid_in, merchant, state_now, operator_account FROM collections WHERE id = NEW.collection_id;
  ELSE
    SELECT amount_minor, currency, merchant_id, state, 'operator/' || operator || '/' || currency
      INTO STRICT amount, paid_in, merchant, state_now, operator_account FROM payouts WHERE id = NEW.payout_id;
  END IF;
  is_right := NEW.amount_minor = amount AND NEW.currency = paid_in AND CASE NEW.kind
    WHEN 'collection_paid' THEN state_now = 'succeeded'
      AND NEW.debit_account_id = operator_account AND NEW.credit_account_id = merchant || '/available'
    WHEN 'collection_reversed' THEN state_now = 'reversed'
      AND NEW.debit_account_id = merchant || '/available' AND NEW.credit_account_id = operator_account
    WHEN 'payout_held' THEN state_now = 'queued'
      AND NEW.debit_account_id = merchant || '/available' AND NEW.credit_account_id = merchant || '/held'
    WHEN 'payout_voided' THEN state_now IN ('failed', 'rejected', 'cancelled', 'expired')
      AND NEW.debit_account_id = merchant || '/held' AND NEW.credit_account_id = merchant || '/available'
    WHEN 'payout_paid' THEN state_now = 'succeeded'
      AND NEW.debit_account_id = merchant || '/held' AND NEW.credit_account_id = operator_account
    WHEN 'payout_returned' THEN state_now = 'reversed'
      AND NEW.debit_account_id = operator_account AND NEW.credit_account_id = merchant || '/available'
    ELSE false END;
  IF NOT is_right THEN
    RAISE EXCEPTION 'transfer % does not match the state, amount, currency or accounts of %', NEW.kind,
      coalesce(NEW.collection_id, NEW.payout_id) USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_transfers_check BEFORE INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION check_transfer();

CREATE FUNCTION post_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Accounts are locked in the order of their ids, whichever side they are on, so that two transfers never deadlock.
  PERFORM 1 FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE ledger_accounts
    SET balance_minor = balance_minor
      + CASE id WHEN NEW.credit_account_id THEN NEW.amount_minor ELSE -NEW.amount_minor END
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_transfers_post AFTER INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION post_transfer();

-- A reversal may make a debt; a payout may not.
CREATE FUNCTION check_held_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT balance_minor FROM ledger_accounts WHERE id = NEW.debit_account_id) < 0 THEN
    RAISE EXCEPTION 'payout % exceeds the available balance', NEW.payout_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
-- Its name sorts after ledger_transfers_post, so it runs after the posting: PostgreSQL runs triggers of one kind in the
-- order of their names.
CREATE TRIGGER ledger_transfers_post_held AFTER INSERT ON ledger_transfers
  FOR EACH ROW WHEN (NEW.kind = 'payout_held') EXECUTE FUNCTION check_held_transfer();
