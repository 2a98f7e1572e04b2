-- The ledger: accounts, and transfers between two accounts.
-- - A transfer moves one amount out of one account and into another: it always balances. It matches the state, amount,
--   currency and accounts of its payment, and a payment has at most one transfer of each kind.
-- - The n-th change of the balance of a merchant is its n-th entry: one transfer has this number on the account and moves
--   exactly the amount by which the balance changes. So the balance is the sum of the entries, no matter who writes to the account.
-- - A payout never holds more than what is available.
-- - What makes money available carries the operator status that it rests on, attested by the process that recorded the
--   status. The service verifies the attestation before a release and in both checks of the ledger.

CREATE TABLE ledger_accounts (
  id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('available', 'held', 'operator')),
  merchant_id text COLLATE "C",
  operator text,
  currency text NOT NULL REFERENCES currencies,
  balance_minor bigint,
  entry_count bigint,
  last_posted_at timestamptz,
  UNIQUE (id, currency),
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  CONSTRAINT ledger_accounts_named_for_owner CHECK (
    id = CASE kind WHEN 'operator' THEN 'operator/' || operator || '/' || currency ELSE merchant_id || '/' || kind END),
  CONSTRAINT ledger_accounts_one_owner CHECK (
    (kind = 'operator') = (merchant_id IS NULL) AND (kind = 'operator') = (operator IS NOT NULL)),
  CONSTRAINT ledger_accounts_balance CHECK ((kind = 'operator') = (balance_minor IS NULL)),
  CONSTRAINT ledger_accounts_balance_range CHECK (balance_minor BETWEEN -9007199254740991 AND 9007199254740991),
  -- A reversal may bring the available balance below zero (a debt); the held balance never goes below zero.
  CONSTRAINT ledger_accounts_held_not_negative CHECK (kind <> 'held' OR balance_minor >= 0),
  CONSTRAINT ledger_accounts_entry_count CHECK ((kind = 'operator') = (entry_count IS NULL))
);
COMMENT ON TABLE ledger_accounts IS 'An account of a merchant (available or held), or of an operator in one currency.';
COMMENT ON COLUMN ledger_accounts.balance_minor IS
  'Kept for the accounts of merchants, which every payment reads and guards. The account of an operator would be one hot row for '
  'all merchants: its balance is summed when it is read.';
COMMENT ON COLUMN ledger_accounts.entry_count IS 'How many entries the account has. Null for an operator.';
COMMENT ON COLUMN ledger_accounts.last_posted_at IS 'The time of the newest entry.';

CREATE TRIGGER ledger_accounts_kept BEFORE DELETE OR TRUNCATE ON ledger_accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER ledger_accounts_kept ON ledger_accounts IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER ledger_accounts_check_change BEFORE INSERT OR UPDATE ON ledger_accounts
  FOR EACH ROW EXECUTE FUNCTION check_account_change();
COMMENT ON TRIGGER ledger_accounts_check_change ON ledger_accounts IS
  'Refuses a new account with a balance, and every change that does not count up the entries.';

-- Finds the transfer by the order of its number. PostgreSQL would otherwise take an index of statements for a table that was
-- never analysed, and read all entries of the account for each transfer.
CREATE FUNCTION check_account_posted() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE CONSTRAINT TRIGGER ledger_accounts_check_posted AFTER UPDATE ON ledger_accounts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_account_posted();
COMMENT ON TRIGGER ledger_accounts_check_posted ON ledger_accounts IS
  'Refuses, at commit, a balance that changed without the transfer that has the number of the change.';

CREATE TABLE ledger_transfers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN (
    'collection_paid', 'collection_reversed', 'payout_held', 'payout_voided', 'payout_paid', 'payout_returned')),
  payment_id text COLLATE "C" NOT NULL REFERENCES payments,
  debit_account_id text COLLATE "C" NOT NULL,
  credit_account_id text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor > 0),
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  posted_at timestamptz NOT NULL DEFAULT now(),
  debit_entry bigint,
  credit_entry bigint,
  debit_balance_minor bigint,
  credit_balance_minor bigint,
  status_kind text,
  status_queried_at timestamptz,
  status_attestation text,
  FOREIGN KEY (debit_account_id, currency) REFERENCES ledger_accounts (id, currency),
  FOREIGN KEY (credit_account_id, currency) REFERENCES ledger_accounts (id, currency),
  CHECK (debit_account_id <> credit_account_id),
  CONSTRAINT ledger_transfers_of_kind CHECK (
    left(payment_id, 4) = CASE WHEN kind LIKE 'collection\_%' THEN 'col_' WHEN kind LIKE 'payout\_%' THEN 'pay_' END),
  -- Each movement of a payment is posted once, even when code runs twice.
  CONSTRAINT ledger_transfers_once_per_payment UNIQUE (payment_id, kind),
  -- These two indexes also find the entries of an account.
  CONSTRAINT ledger_transfers_one_per_debit_entry UNIQUE (debit_account_id, debit_entry),
  CONSTRAINT ledger_transfers_one_per_credit_entry UNIQUE (credit_account_id, credit_entry),
  CONSTRAINT ledger_transfers_debit_entry_counted CHECK ((debit_account_id LIKE 'operator/%') = (debit_entry IS NULL)),
  CONSTRAINT ledger_transfers_credit_entry_counted
    CHECK ((credit_account_id LIKE 'operator/%') = (credit_entry IS NULL)),
  CONSTRAINT ledger_transfers_entry_balances CHECK (
    (debit_entry IS NULL) = (debit_balance_minor IS NULL) AND (credit_entry IS NULL) = (credit_balance_minor IS NULL)),
  CONSTRAINT ledger_transfers_attested CHECK (
    (kind IN ('collection_paid', 'payout_voided', 'payout_returned')) = (status_attestation IS NOT NULL)),
  CONSTRAINT ledger_transfers_status CHECK (
    (status_kind IS NULL) = (status_queried_at IS NULL)
    AND CASE kind
      WHEN 'collection_paid' THEN status_kind IS NOT NULL AND status_kind IN ('paid', 'returned')
      WHEN 'payout_returned' THEN status_kind IS NOT NULL AND status_kind = 'returned'
      WHEN 'payout_voided' THEN status_kind IS NULL OR status_kind IN ('declined', 'refused', 'not_found')
      ELSE status_kind IS NULL END)
);
COMMENT ON TABLE ledger_transfers IS 'One amount that moved from one account to another because of a payment.';
COMMENT ON COLUMN ledger_transfers.posted_at IS
  'By the clock of the database, in the order of the entries. created_at is the time of the process that recorded the payment.';
COMMENT ON COLUMN ledger_transfers.debit_entry IS
  'The number of the transfer among the entries of the debited account. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.credit_entry IS
  'The number of the transfer among the entries of the credited account. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.debit_balance_minor IS
  'The balance of the debited account after the transfer. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.credit_balance_minor IS
  'The balance of the credited account after the transfer. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.status_kind IS
  'What the operator said. Null if no status decided: a person did, or nothing was ever sent.';
COMMENT ON COLUMN ledger_transfers.status_queried_at IS 'When the operator was asked.';
COMMENT ON COLUMN ledger_transfers.status_attestation IS
  'Attests the transfer with its status. Null for a transfer that makes nothing available.';

-- An account has few kinds of transfers on each side, so every combination of account, kind and time is a few ranges of an
-- index.
CREATE INDEX ledger_transfers_debit_statement ON ledger_transfers (debit_account_id, kind, posted_at)
  WHERE debit_entry IS NOT NULL;
CREATE INDEX ledger_transfers_credit_statement ON ledger_transfers (credit_account_id, kind, posted_at)
  WHERE credit_entry IS NOT NULL;

CREATE TRIGGER ledger_transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER ledger_transfers_append_only ON ledger_transfers IS
  'Refuses every update, delete and truncate: rows are only added.';

CREATE FUNCTION check_transfer() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  payment payments%ROWTYPE;
  operator_account text;
  merchant text;
  state_now text;
  is_right boolean;
BEGIN
  PERFORM require_fence();
  SELECT * INTO STRICT payment FROM payments WHERE id = NEW.payment_id;
  operator_account := 'operator/' || payment.operator || '/' || payment.currency;
  merchant := payment.merchant_id;
  state_now := payment.state;
  is_right := NEW.amount_minor = payment.amount_minor AND NEW.currency = payment.currency AND CASE NEW.kind
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
      NEW.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'payout_voided'
     AND (NEW.status_kind IS NULL) <> (payment.state <> 'failed' OR payment.failed_by IS NOT DISTINCT FROM 'never_sent') THEN
    RAISE EXCEPTION 'the hold of payout % is voided by another status than the payout says', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_transfers_check BEFORE INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION check_transfer();
COMMENT ON TRIGGER ledger_transfers_check ON ledger_transfers IS
  'Refuses a transfer that does not match the state, amount, currency or accounts of its payment, to void a hold by another '
  'status than that of the payout, and every transfer without a fresh fence.';

-- The fixed path keeps a caller from substituting tables of its own.
CREATE FUNCTION post_transfer() RETURNS trigger LANGUAGE plpgsql
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
    RAISE EXCEPTION 'payout % exceeds the available balance', NEW.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ledger_transfers_post BEFORE INSERT ON ledger_transfers
  FOR EACH ROW EXECUTE FUNCTION post_transfer();
COMMENT ON TRIGGER ledger_transfers_post ON ledger_transfers IS
  'Refuses a payout that exceeds the available balance. It posts the transfer, as the owner of the tables, because the account of '
  'the application cannot change a balance. Its name sorts after ledger_transfers_check, so it runs after the check.';

CREATE VIEW ledger_entries AS
  SELECT id AS transfer_id, debit_account_id AS account_id, -amount_minor AS amount_minor, currency, created_at
    FROM ledger_transfers
  UNION ALL
  SELECT id, credit_account_id, amount_minor, currency, created_at FROM ledger_transfers;
COMMENT ON VIEW ledger_entries IS 'Both sides of each transfer, with the amount that it adds to the account.';

CREATE TABLE ledger_checkpoints (
  account_id text COLLATE "C" NOT NULL CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY,
  entry bigint NOT NULL,
  balance_minor bigint NOT NULL,
  unattested_minor bigint NOT NULL DEFAULT 0
    CONSTRAINT ledger_checkpoints_unattested CHECK (unattested_minor >= 0),
  checked_at timestamptz NOT NULL DEFAULT now(),
  attestation text NOT NULL DEFAULT ''
);
COMMENT ON TABLE ledger_checkpoints IS
  'How far the ledger was checked. Up to this entry, and with this balance, the entries of the account add up, and their payments '
  'agree with them.';
COMMENT ON COLUMN ledger_checkpoints.unattested_minor IS
  'The part of the balance that came by transfers without attestation. Nobody can spend it.';

CREATE TRIGGER ledger_checkpoints_kept BEFORE DELETE OR TRUNCATE ON ledger_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER ledger_checkpoints_kept ON ledger_checkpoints IS 'Refuses to delete rows and to truncate.';

-- A checkpoint is attested again as it is when the service's keys are replaced.
CREATE FUNCTION check_ledger_checkpoint() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
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
CREATE TRIGGER ledger_checkpoints_check BEFORE INSERT OR UPDATE ON ledger_checkpoints
  FOR EACH ROW EXECUTE FUNCTION check_ledger_checkpoint();
COMMENT ON TRIGGER ledger_checkpoints_check ON ledger_checkpoints IS
  'Refuses a checkpoint that goes back, one whose balance no entry leaves, and an attestation whose number is not greater than that '
  'of the row. A checkpoint is attested again as it is when the keys are replaced.';

-- What requested refunds that are not paid yet will take: no payout and no other refund can use it.
CREATE FUNCTION reserved_by_refunds(merchant text) RETURNS bigint
  LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN (SELECT coalesce(sum(r.amount_minor), 0)
    FROM payments r JOIN payments c ON c.id = r.collection_id
    WHERE r.merchant_id = merchant AND r.kind = 'reversal' AND r.state IN ('queued', 'released', 'reconciling')
      AND c.state = 'succeeded');
END $$;

-- What a merchant can still spend, in one call that locks the available account and then reads what the lock guards. It is a
-- function, because one statement reads everything as it was before the statement waited for the lock: a refund or payout
-- that was recorded meanwhile would not count. Each statement of a volatile function sees what was committed before it.
CREATE FUNCTION lock_spendable(
  merchant text, account text, api_key text,
  OUT spendable_minor bigint, OUT reserved_minor bigint, OUT queued_of_key_minor bigint
) LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS $$
BEGIN
  SELECT balance_minor INTO STRICT spendable_minor FROM ledger_accounts WHERE id = account FOR NO KEY UPDATE;
  reserved_minor := reserved_by_refunds(merchant);
  spendable_minor := spendable_minor - reserved_minor;
  IF api_key IS NOT NULL THEN
    SELECT coalesce(sum(p.amount_minor), 0) INTO STRICT queued_of_key_minor
      FROM payments p
      WHERE p.merchant_id = merchant AND p.kind = 'payout' AND p.state = 'queued' AND p.api_key_id = api_key;
  END IF;
END $$;
