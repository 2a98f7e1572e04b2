-- Accounts with operators: what two of the staff agreed on, and the credentials, sealed.

CREATE TABLE operator_accounts (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^opa_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  operator text COLLATE "C" NOT NULL CHECK (operator ~ '^[a-z][a-z-]{1,29}$'),
  country text COLLATE "C" CHECK (country ~ '^[A-Z]{2}$'),
  currency text COLLATE "C" REFERENCES currencies,
  base_url text NOT NULL CHECK (base_url ~ '^https?://' AND length(base_url) <= 500),
  calls_per_second integer NOT NULL CHECK (calls_per_second BETWEEN 1 AND 10000),
  identifiers json NOT NULL CHECK (json_typeof(identifiers) = 'object'),
  credentials_sealed text NOT NULL CHECK (credentials_sealed <> ''),
  state text NOT NULL CHECK (state IN ('active', 'closed')),
  proposed_by text COLLATE "C" NOT NULL REFERENCES staff_members,
  confirmed_by text COLLATE "C" NOT NULL REFERENCES staff_members,
  proposal_id text COLLATE "C" NOT NULL UNIQUE REFERENCES staff_proposals,
  created_at timestamptz NOT NULL,
  attestation text NOT NULL DEFAULT '',
  CONSTRAINT operator_accounts_one_of_an_operator UNIQUE (operator),
  CONSTRAINT operator_accounts_market CHECK (num_nulls(country, currency) IN (0, 2))
);
COMMENT ON TABLE operator_accounts IS
  'The account with an operator: payments are sent with its credentials. It is never removed, because ended payments are asked about.';
COMMENT ON COLUMN operator_accounts.country IS
  'The market. Null: every market of the operator, as at a test system.';
COMMENT ON COLUMN operator_accounts.identifiers IS 'The credentials that are no secret, for people who decide.';
COMMENT ON COLUMN operator_accounts.credentials_sealed IS
  'The secret credentials, sealed for the id of the account. They are not sealed again when keys change: the next ones are sealed with '
  'the first key.';
COMMENT ON COLUMN operator_accounts.state IS
  'No payment is accepted for a closed account. What was accepted before is still sent, and asked about.';
COMMENT ON COLUMN operator_accounts.proposed_by IS 'Who proposed the last change.';
COMMENT ON COLUMN operator_accounts.confirmed_by IS 'The other person of the staff, who confirmed it.';
COMMENT ON COLUMN operator_accounts.proposal_id IS 'The last confirmed proposal about the account.';
COMMENT ON CONSTRAINT operator_accounts_one_of_an_operator ON operator_accounts IS
  'A payment knows its operator, and not the account: with two of them it could be asked about at the wrong one, which never saw it.';

CREATE FUNCTION check_operator_account() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  agreed staff_proposals;
  previous staff_proposals;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
    IF (NEW.id, NEW.operator, NEW.country, NEW.currency, NEW.created_at)
        IS DISTINCT FROM (OLD.id, OLD.operator, OLD.country, OLD.currency, OLD.created_at) THEN
      RAISE EXCEPTION 'the id, operator, market and beginning of a row of operator_accounts never change'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF (to_jsonb(NEW) - 'attestation') = (to_jsonb(OLD) - 'attestation')
        AND NEW.identifiers::text = OLD.identifiers::text THEN
      RETURN NEW;
    END IF;
    SELECT * INTO previous FROM staff_proposals WHERE id = OLD.proposal_id;
  END IF;
  SELECT * INTO agreed FROM staff_proposals
  WHERE id = NEW.proposal_id AND state = 'confirmed' AND payload ->> 'account' = NEW.id
    AND (proposed_by, decided_by) = (NEW.proposed_by, NEW.confirmed_by)
    AND kind = CASE WHEN NEW.state = 'closed' THEN 'operator_account_closing'
      WHEN TG_OP = 'INSERT' THEN 'operator_account_addition' ELSE 'operator_account_rotation' END;
  IF agreed.id IS NULL THEN
    RAISE EXCEPTION 'two of the staff add or change an account with an operator: %', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND agreed.decided_at <= previous.decided_at THEN
    RAISE EXCEPTION 'proposal % is not the last one about account %', NEW.proposal_id, NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'closed' THEN
    IF (NEW.base_url, NEW.calls_per_second, NEW.identifiers::text, NEW.credentials_sealed)
        IS DISTINCT FROM (OLD.base_url, OLD.calls_per_second, OLD.identifiers::text, OLD.credentials_sealed) THEN
      RAISE EXCEPTION 'closing account % changes nothing else', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF (NEW.operator, NEW.country, NEW.currency, NEW.base_url, NEW.calls_per_second::text, NEW.credentials_sealed, NEW.identifiers::jsonb)
      IS DISTINCT FROM (agreed.payload ->> 'operator', agreed.payload ->> 'country', agreed.payload ->> 'currency',
        agreed.payload ->> 'base_url', agreed.payload ->> 'calls_per_second', agreed.payload ->> 'credentials_sealed',
        (agreed.payload -> 'identifiers')::jsonb) THEN
    RAISE EXCEPTION 'account % is as the two of the staff agreed', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER operator_accounts_check BEFORE INSERT OR UPDATE ON operator_accounts
  FOR EACH ROW EXECUTE FUNCTION check_operator_account();
COMMENT ON TRIGGER operator_accounts_check ON operator_accounts IS
  'Refuses an account on which no two of the staff agreed or that is not as they agreed, a change by an earlier proposal, another id, '
  'operator or market, and an attestation whose number is not greater than that of the row.';
