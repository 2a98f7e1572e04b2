-- Checkouts: pages at which payers pay a merchant.
-- The state of a checkout is not stored: it follows from these rows, the collections and the clock.

CREATE TABLE checkouts (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^chk_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  code text COLLATE "C" NOT NULL UNIQUE CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{32}$'),
  merchant_id text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL CHECK (amount_minor BETWEEN 1 AND 9007199254740991),
  currency text NOT NULL,
  reference text NOT NULL CHECK (length(reference) BETWEEN 1 AND 100),
  description text CHECK (length(description) BETWEEN 1 AND 120),
  metadata json NOT NULL CHECK (json_typeof(metadata) = 'object'),
  use text NOT NULL CHECK (use IN ('one_time', 'reusable')),
  return_url text CHECK (return_url ~ '^https?://' AND length(return_url) <= 1000),
  expires_at timestamptz,
  cancelled_at timestamptz,
  created_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT checkouts_merchant_currency FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  CONSTRAINT checkouts_creator FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT checkouts_expiry CHECK (expires_at > created_at AND (use = 'reusable' OR expires_at IS NOT NULL))
);
COMMENT ON TABLE checkouts IS 'What a merchant asks payers for on a page.';
COMMENT ON COLUMN checkouts.code IS '160 random bits, in the address of its page.';

CREATE INDEX checkouts_list ON checkouts (merchant_id, id DESC);
CREATE INDEX checkouts_list_by_reference ON checkouts (merchant_id, lower(reference) text_pattern_ops, id DESC);
CREATE INDEX checkouts_of_person ON checkouts (created_by, id);

CREATE TRIGGER checkouts_kept BEFORE DELETE OR TRUNCATE ON checkouts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER checkouts_kept ON checkouts IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_checkout() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.cancelled_at IS NOT NULL THEN
      RAISE EXCEPTION 'checkout % must be created open', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF is_live() AND NEW.return_url !~ '^https://' THEN
      RAISE EXCEPTION 'checkout % must send payers back by https', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF (to_jsonb(NEW) - 'cancelled_at') <> (to_jsonb(OLD) - 'cancelled_at')
     OR OLD.cancelled_at IS NOT NULL AND NEW.cancelled_at IS DISTINCT FROM OLD.cancelled_at THEN
    RAISE EXCEPTION 'checkout % can be cancelled once, and nothing else of it can change', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER checkouts_check BEFORE INSERT OR UPDATE ON checkouts FOR EACH ROW EXECUTE FUNCTION check_checkout();
COMMENT ON TRIGGER checkouts_check ON checkouts IS
  'Refuses a new checkout that is cancelled, a live one that sends payers back without https, and every change except one '
  'cancellation.';

-- The only change of a checkout is its cancellation.
CREATE TRIGGER checkouts_note AFTER INSERT OR UPDATE ON checkouts FOR EACH ROW EXECUTE FUNCTION note_state_change();
COMMENT ON TRIGGER checkouts_note ON checkouts IS 'Refuses nothing. It adds a row to state_changes.';

CREATE TABLE checkout_attempts (
  code_sha256 bytea PRIMARY KEY CHECK (length(code_sha256) = 32),
  checkout_id text COLLATE "C" NOT NULL REFERENCES checkouts,
  merchant_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL UNIQUE REFERENCES payments,
  created_at timestamptz NOT NULL
);
COMMENT ON TABLE checkout_attempts IS 'One new collection by which a payer tries to pay a checkout.';
COMMENT ON COLUMN checkout_attempts.code_sha256 IS
  'The digest of the code in the address of the page of the attempt. Only the payer has that code.';

CREATE INDEX checkout_attempts_list ON checkout_attempts (checkout_id, collection_id DESC);

CREATE TRIGGER checkout_attempts_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON checkout_attempts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER checkout_attempts_kept ON checkout_attempts IS 'Refuses every update, delete and truncate: rows are only added.';

-- Two attempts at one checkout wait for each other at its row, so that the second sees the first.
CREATE FUNCTION check_checkout_attempt() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  checkout checkouts%ROWTYPE;
  collection payments%ROWTYPE;
BEGIN
  SELECT * INTO checkout FROM checkouts WHERE id = NEW.checkout_id FOR NO KEY UPDATE;
  SELECT * INTO collection FROM payments WHERE id = NEW.collection_id;
  IF (collection.merchant_id, collection.amount_minor, collection.currency, collection.reference, collection.description,
      collection.metadata::jsonb, collection.state, NEW.merchant_id)
     IS DISTINCT FROM
     (checkout.merchant_id, checkout.amount_minor, checkout.currency, checkout.reference, checkout.description,
      checkout.metadata::jsonb, 'initiated', checkout.merchant_id) THEN
    RAISE EXCEPTION 'collection % is not as checkout % asks for', NEW.collection_id, NEW.checkout_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF checkout.cancelled_at IS NOT NULL OR checkout.expires_at <= NEW.created_at THEN
    RAISE EXCEPTION 'checkout % takes no attempt any more', NEW.checkout_id USING ERRCODE = 'restrict_violation';
  END IF;
  IF checkout.use = 'one_time' AND EXISTS (
       SELECT FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id
       WHERE a.checkout_id = NEW.checkout_id
         AND (c.state IN ('initiated', 'prompted', 'reconciling', 'succeeded', 'reversed')
              OR c.state = 'expired' AND c.failure_code = 'unknown')) THEN
    RAISE EXCEPTION 'checkout % has an attempt that was or can be paid', NEW.checkout_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF checkout.use = 'reusable' AND EXISTS (
       SELECT FROM payments c JOIN checkout_attempts a ON a.collection_id = c.id AND a.checkout_id = NEW.checkout_id
       WHERE c.merchant_id = NEW.merchant_id AND c.kind = 'collection' AND c.phone = collection.phone
         AND c.state IN ('initiated', 'prompted', 'reconciling')) THEN
    RAISE EXCEPTION 'checkout % has a live attempt of this phone', NEW.checkout_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER checkout_attempts_check BEFORE INSERT ON checkout_attempts
  FOR EACH ROW EXECUTE FUNCTION check_checkout_attempt();
COMMENT ON TRIGGER checkout_attempts_check ON checkout_attempts IS
  'Refuses an attempt whose collection is not as the checkout asks for, at a checkout that is cancelled or expired, at a one-time '
  'checkout that was or can be paid, and a second live attempt of a phone.';
