-- Payouts: the money is held at creation, sent only after a second person released it, and given back when it is not sent.

CREATE TABLE payout_transitions (
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (from_state, to_state)
);
COMMENT ON TABLE payout_transitions IS
  'The transitions of src/domain/payments/payout.ts, for the check of the database. A test holds the two equal.';

INSERT INTO payout_transitions (from_state, to_state) VALUES
  ('queued', 'released'), ('queued', 'rejected'), ('queued', 'cancelled'), ('queued', 'expired'),
  ('released', 'succeeded'), ('released', 'failed'), ('released', 'reconciling'),
  ('reconciling', 'succeeded'), ('reconciling', 'failed'),
  ('succeeded', 'reversed');

CREATE TABLE payouts (
  id text COLLATE "C" PRIMARY KEY CHECK (length(id) = 30 AND id ~ '^pay_[0-7][0-9a-hjkmnp-tv-z]+$'),
  merchant_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  state text NOT NULL,
  previous_state text,
  version integer NOT NULL DEFAULT 0,
  amount_minor bigint NOT NULL CHECK (amount_minor BETWEEN 1 AND 9007199254740991),
  currency text NOT NULL,
  reference text NOT NULL CHECK (length(reference) BETWEEN 1 AND 100),
  phone text NOT NULL CHECK (length(phone) BETWEEN 8 AND 15 AND phone ~ '^[1-9][0-9]+$'),
  operator text NOT NULL,
  operator_reference uuid NOT NULL UNIQUE,
  operator_receipt text CHECK (length(operator_receipt) BETWEEN 1 AND 200),
  description text CHECK (length(description) BETWEEN 1 AND 120),
  metadata json NOT NULL CHECK (json_typeof(metadata) = 'object'),
  failure_code text,
  failed_by text,
  amount_reversed_minor bigint NOT NULL DEFAULT 0,
  created_by text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" REFERENCES api_keys,
  request_id text COLLATE "C",
  approvals_required integer NOT NULL CHECK (approvals_required BETWEEN 1 AND 2),
  decided_by text COLLATE "C",
  rejection_reason text CHECK (length(rejection_reason) BETWEEN 1 AND 200),
  request_attestation text,
  release_attestation text CHECK (release_attestation ~ '^[A-Za-z0-9_-]{43}$'),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  send_deadline_at timestamptz,
  send_begun_at timestamptz,
  send_repeated_at timestamptz,
  accepted_at timestamptz,
  not_found_count integer NOT NULL DEFAULT 0,
  not_found_since timestamptz,
  not_found_last_at timestamptz,
  receipt_shared boolean NOT NULL DEFAULT false,
  workflow_started_at timestamptz,
  start_due_at timestamptz NOT NULL DEFAULT now(),
  start_failures integer NOT NULL DEFAULT 0,
  workflow_failures integer NOT NULL DEFAULT 0,
  check_due_at timestamptz,
  recheck_check_due_at timestamptz,
  recheck_claimed_until timestamptz,
  FOREIGN KEY (merchant_id, currency) REFERENCES merchants (id, currency),
  FOREIGN KEY (merchant_id, created_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  FOREIGN KEY (previous_state, state) REFERENCES payout_transitions (from_state, to_state),
  CONSTRAINT payouts_known_state CHECK (state IN (
    'queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired', 'reversed')),
  CONSTRAINT payouts_created_queued CHECK (
    (state = 'queued') = (version = 0) AND (state = 'queued') = (previous_state IS NULL)),
  CONSTRAINT payouts_failure CHECK ((state = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT payouts_receipt CHECK ((state IN ('succeeded', 'reversed')) = (operator_receipt IS NOT NULL)),
  CONSTRAINT payouts_rejection CHECK ((state = 'rejected') = (rejection_reason IS NOT NULL)),
  CONSTRAINT payouts_decided CHECK ((state IN ('rejected', 'cancelled')) = (decided_by IS NOT NULL)),
  CONSTRAINT payouts_cancelled_by_maker CHECK (state <> 'cancelled' OR decided_by = created_by),
  CONSTRAINT payouts_send_deadline CHECK (
    (state IN ('queued', 'rejected', 'cancelled', 'expired')) = (send_deadline_at IS NULL)),
  CONSTRAINT payouts_reversed_amount CHECK (
    amount_reversed_minor = CASE state WHEN 'reversed' THEN amount_minor ELSE 0 END),
  CONSTRAINT payouts_never_sent CHECK (failure_code <> 'service_unavailable' OR send_begun_at IS NULL),
  CONSTRAINT payouts_failed_by CHECK (
    failed_by IS NULL OR state = 'failed' AND failed_by IN ('declined', 'never_sent', 'never_accepted')),
  CONSTRAINT payouts_not_founds CHECK (
    not_found_count >= 0 AND (not_found_count = 0) = (not_found_since IS NULL)
    AND (not_found_count = 0 OR not_found_last_at >= not_found_since)),
  CONSTRAINT payouts_already_returned CHECK (failure_code <> 'already_returned')
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE payouts IS 'Money that a merchant pays out to a phone number.';
COMMENT ON COLUMN payouts.failed_by IS 'What made it fail.';
COMMENT ON COLUMN payouts.created_by IS
  'The maker: the person who requested the payout in a session, or who created the API key that requested it.';
COMMENT ON COLUMN payouts.request_id IS 'As collections.request_id.';
COMMENT ON COLUMN payouts.request_attestation IS
  'Made by the process that records the request. Nobody approves a payout whose row is not as it was requested.';
COMMENT ON COLUMN payouts.release_attestation IS 'Made by the process that records the release. It changes with the release alone.';
COMMENT ON COLUMN payouts.send_deadline_at IS 'Nothing is sent to the operator after this time. Set by the release.';
COMMENT ON COLUMN payouts.send_begun_at IS 'When the first try to send it began, whatever the try led to.';
COMMENT ON COLUMN payouts.send_repeated_at IS 'As collections.send_repeated_at.';
COMMENT ON COLUMN payouts.accepted_at IS 'When the operator first said that it has the payout.';
COMMENT ON COLUMN payouts.not_found_count IS
  'How many statuses in a row said that the operator does not know the payout. Those count that came after the send deadline.';
COMMENT ON COLUMN payouts.not_found_since IS 'Of the first status that was counted.';
COMMENT ON COLUMN payouts.not_found_last_at IS 'Of the last status that was counted, or that made the count begin again.';
COMMENT ON COLUMN payouts.receipt_shared IS 'As collections.receipt_shared.';
COMMENT ON COLUMN payouts.workflow_started_at IS 'As collections.workflow_started_at.';
COMMENT ON COLUMN payouts.start_due_at IS 'As collections.start_due_at.';
COMMENT ON COLUMN payouts.start_failures IS 'As collections.start_failures.';
COMMENT ON COLUMN payouts.workflow_failures IS 'As collections.workflow_failures.';
COMMENT ON COLUMN payouts.check_due_at IS 'As collections.check_due_at.';
COMMENT ON COLUMN payouts.recheck_check_due_at IS 'As collections.recheck_check_due_at.';
COMMENT ON COLUMN payouts.recheck_claimed_until IS 'As collections.recheck_claimed_until.';

CREATE INDEX payouts_list ON payouts (merchant_id, id DESC);
CREATE INDEX payouts_list_by_state ON payouts (merchant_id, state, id DESC);
CREATE INDEX payouts_list_by_phone ON payouts (merchant_id, phone, id DESC);
-- The id of the workflow consists of merchant and key: while one payout is pending, no second payout may use its id.
CREATE UNIQUE INDEX payouts_one_pending_per_key ON payouts (merchant_id, idempotency_key)
  WHERE state IN ('queued', 'released', 'reconciling');
CREATE INDEX payouts_waiting ON payouts (merchant_id)
  WHERE state = 'released' AND send_begun_at IS NULL OR state = 'queued' AND workflow_started_at IS NULL;
CREATE INDEX payouts_failing ON payouts (workflow_failures) WHERE workflow_failures > 0;
CREATE INDEX payouts_check_due ON payouts (check_due_at)
  WHERE state IN ('queued', 'released', 'reconciling') AND workflow_started_at IS NOT NULL;
CREATE INDEX payouts_unstarted
  ON payouts (merchant_id, (state IN ('queued', 'released', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;
CREATE INDEX payouts_unsent_check_due ON payouts (check_due_at)
  WHERE state = 'released' AND workflow_started_at IS NOT NULL;
CREATE INDEX payouts_recheck_check_due ON payouts (recheck_check_due_at) WHERE recheck_check_due_at IS NOT NULL;
CREATE UNIQUE INDEX payouts_one_per_receipt ON payouts (operator, operator_receipt)
  WHERE operator_receipt IS NOT NULL AND NOT receipt_shared;
-- The payouts whose outcome the operator does not say, for the ledger check.
CREATE INDEX payouts_reconciling ON payouts (updated_at) WHERE state = 'reconciling';
CREATE INDEX payouts_recheck_due ON payouts (operator, (coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('queued', 'released', 'reconciling')
    AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
CREATE INDEX payouts_list_by_amount ON payouts (merchant_id, amount_minor, id);
CREATE INDEX payouts_list_by_person ON payouts (merchant_id, created_by, id DESC);
CREATE INDEX payouts_list_by_api_key ON payouts (merchant_id, api_key_id, id DESC) WHERE api_key_id IS NOT NULL;
CREATE INDEX payouts_list_by_reference ON payouts (merchant_id, lower(reference) text_pattern_ops, id DESC);
-- What an approver is shown of earlier payouts: those that are paid or on their way.
CREATE INDEX payouts_sent_by_phone ON payouts (merchant_id, phone, id DESC)
  WHERE state IN ('released', 'reconciling', 'succeeded', 'reversed');
CREATE INDEX payouts_sent_by_reference ON payouts (merchant_id, reference, id DESC)
  WHERE state IN ('released', 'reconciling', 'succeeded', 'reversed');
CREATE INDEX payouts_unfinished ON payouts (state, updated_at) WHERE state IN ('queued', 'released', 'reconciling');
CREATE INDEX payouts_by_idempotency_key ON payouts USING hash (lower(idempotency_key));

CREATE TRIGGER payouts_kept BEFORE DELETE OR TRUNCATE ON payouts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER payouts_kept ON payouts IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_payout_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'queued' THEN
      RAISE EXCEPTION 'payout % must be created in state queued', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.api_key_id IS NOT NULL
       AND EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.api_key_id AND merchant_id <> NEW.merchant_id) THEN
      RAISE EXCEPTION 'payout % was created with an API key of another merchant', NEW.id
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.idempotency_key, NEW.amount_minor, NEW.currency, NEW.reference, NEW.phone,
      NEW.operator, NEW.operator_reference, NEW.description, NEW.metadata::text, NEW.created_by, NEW.api_key_id,
      NEW.created_at, NEW.expires_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.idempotency_key, OLD.amount_minor, OLD.currency, OLD.reference, OLD.phone,
      OLD.operator, OLD.operator_reference, OLD.description, OLD.metadata::text, OLD.created_by, OLD.api_key_id,
      OLD.created_at, OLD.expires_at) THEN
    RAISE EXCEPTION 'the requested fields of payout % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.send_begun_at IS NOT NULL AND NEW.send_begun_at IS NULL
     OR OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL THEN
    RAISE EXCEPTION 'send_begun_at and accepted_at of payout % cannot be cleared', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION 'payout % cannot need fewer approvals than before', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt, NEW.decided_by, NEW.rejection_reason,
        NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt, OLD.decided_by,
        OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of payout % can change only together with its state', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a new state of payout % must count up version and set previous_state to the old state', OLD.id
      USING ERRCODE = 'restrict_violation';
  ELSIF NEW.state = 'released' AND NEW.approvals_required >
      (SELECT count(*) FROM payout_approvals a
       JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
       WHERE a.payout_id = NEW.id AND a.withdrawn_at IS NULL AND m.removed_at IS NULL AND m.roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'payout % lacks approvals', OLD.id USING ERRCODE = 'restrict_violation', CONSTRAINT = 'releases_approved';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_check_change BEFORE INSERT OR UPDATE ON payouts
  FOR EACH ROW EXECUTE FUNCTION check_payout_change();
COMMENT ON TRIGGER payouts_check_change ON payouts IS
  'Refuses a new payout in a state other than queued or with the API key of another merchant, to change what was requested, to '
  'clear a send or an acceptance, to lower the number of approvals, an outcome without a change of state, and a release that '
  'lacks approvals.';
CREATE TRIGGER payouts_check_created_receipt BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
COMMENT ON TRIGGER payouts_check_created_receipt ON payouts IS 'Refuses a payout that shares its receipt.';
CREATE TRIGGER payouts_check_money_out BEFORE INSERT ON payouts FOR EACH ROW EXECUTE FUNCTION check_money_out();
COMMENT ON TRIGGER payouts_check_money_out ON payouts IS
  'Refuses a payout while a live merchant has fewer than two owners with a second factor.';
CREATE TRIGGER payouts_check_waiting BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.api_key_id IS NULL AND NOT moves_money(NEW.merchant_id, NEW.created_by, NEW.created_at))
  EXECUTE FUNCTION refuse_while_waiting();
COMMENT ON TRIGGER payouts_check_waiting ON payouts IS
  'Refuses a payout of a person who became an approver, or whose account was recovered, too short a time ago.';

-- The servers of the merchant go on with the keys that they had before: nobody learns such a key by a recovery.
CREATE FUNCTION check_key_of_recovered() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM api_keys k JOIN users u ON u.id = NEW.created_by
      WHERE k.id = NEW.api_key_id AND k.created_at >= u.recovered_at
        AND u.recovered_at + waiting_time(NEW.merchant_id) > least(NEW.created_at, clock_timestamp())) THEN
    RAISE EXCEPTION 'a key of a recovered account creates no payouts yet'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_by_recovered_key';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_check_key_of_recovered BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.api_key_id IS NOT NULL) EXECUTE FUNCTION check_key_of_recovered();
COMMENT ON TRIGGER payouts_check_key_of_recovered ON payouts IS
  'Refuses a payout with an API key that its creator made after the recovery of the account, for the waiting time.';
CREATE TRIGGER payouts_check_created_attestation BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.release_attestation IS NOT NULL) EXECUTE FUNCTION refuse_unattested_release();
COMMENT ON TRIGGER payouts_check_created_attestation ON payouts IS 'Refuses a new payout with the attestation of a release.';
CREATE TRIGGER payouts_check_request_attested BEFORE INSERT ON payouts
  FOR EACH ROW WHEN (NEW.request_attestation IS NULL) EXECUTE FUNCTION refuse_unattested_request();
COMMENT ON TRIGGER payouts_check_request_attested ON payouts IS 'Refuses a new payout without the attestation of its request.';
CREATE TRIGGER payouts_check_send_begun BEFORE UPDATE OF send_begun_at ON payouts
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_begun_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
COMMENT ON TRIGGER payouts_check_send_begun ON payouts IS
  'Refuses a send that begins twice, in another state than released, or after the deadline.';
CREATE TRIGGER payouts_check_not_founds BEFORE UPDATE OF not_found_count, not_found_since, not_found_last_at ON payouts
  FOR EACH ROW WHEN ((NEW.not_found_count, NEW.not_found_since, NEW.not_found_last_at)
    IS DISTINCT FROM (OLD.not_found_count, OLD.not_found_since, OLD.not_found_last_at))
  EXECUTE FUNCTION check_not_founds();
COMMENT ON TRIGGER payouts_check_not_founds ON payouts IS
  'Refuses a count of unknown statuses that does not go up by one with a later status, or begin again at zero.';
CREATE TRIGGER payouts_check_failed_by BEFORE UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state = 'failed' AND OLD.state <> 'failed') EXECUTE FUNCTION check_failed_by();
COMMENT ON TRIGGER payouts_check_failed_by ON payouts IS 'Refuses a failure for a cause that the row does not bear out.';
CREATE TRIGGER payouts_check_cause_change BEFORE UPDATE OF failed_by ON payouts
  FOR EACH ROW WHEN (NEW.state = OLD.state AND NEW.failed_by IS DISTINCT FROM OLD.failed_by)
  EXECUTE FUNCTION refuse_cause_change();
COMMENT ON TRIGGER payouts_check_cause_change ON payouts IS 'Refuses to change the cause of a failure without the state.';
CREATE TRIGGER payouts_check_receipt_shared BEFORE UPDATE OF receipt_shared ON payouts
  FOR EACH ROW WHEN (NEW.receipt_shared <> OLD.receipt_shared) EXECUTE FUNCTION refuse_receipt_shared();
COMMENT ON TRIGGER payouts_check_receipt_shared ON payouts IS 'Refuses to change receipt_shared.';
CREATE TRIGGER payouts_check_release BEFORE UPDATE ON payouts
  FOR EACH ROW WHEN (OLD.state = 'queued' AND NEW.state = 'released') EXECUTE FUNCTION check_money_out();
COMMENT ON TRIGGER payouts_check_release ON payouts IS
  'Refuses a release while a live merchant has fewer than two owners with a second factor.';
CREATE TRIGGER payouts_check_release_attested BEFORE UPDATE OF state, release_attestation ON payouts
  FOR EACH ROW WHEN (
    CASE WHEN OLD.state = 'queued' AND NEW.state = 'released' THEN NEW.release_attestation IS NULL
         ELSE NEW.release_attestation IS DISTINCT FROM OLD.release_attestation END)
  EXECUTE FUNCTION refuse_unattested_release();
COMMENT ON TRIGGER payouts_check_release_attested ON payouts IS
  'Refuses a release without attestation, and to change the attestation otherwise.';
CREATE TRIGGER payouts_check_request_attestation BEFORE UPDATE OF request_attestation ON payouts
  FOR EACH ROW WHEN (NEW.request_attestation IS DISTINCT FROM OLD.request_attestation
    AND (NEW.request_attestation IS NULL OR NEW.approvals_required = OLD.approvals_required OR OLD.state <> 'queued'))
  EXECUTE FUNCTION refuse_unattested_request();
COMMENT ON TRIGGER payouts_check_request_attestation ON payouts IS
  'Refuses another attestation of the request, except with another number of approvals while it is queued.';
CREATE TRIGGER payouts_check_send_repeated BEFORE UPDATE OF send_repeated_at ON payouts
  FOR EACH ROW WHEN (NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT (
    OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_repeated_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_repeated();
COMMENT ON TRIGGER payouts_check_send_repeated ON payouts IS
  'Refuses a further send before the first, in another state than released, or after the deadline.';
CREATE TRIGGER payouts_request_stays BEFORE UPDATE OF request_id ON payouts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_request();
COMMENT ON TRIGGER payouts_request_stays ON payouts IS 'Refuses to change the request of a payout.';

CREATE FUNCTION refuse_deadline_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the send deadline of payout % is set by its release', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payouts_check_send_deadline AFTER UPDATE OF send_deadline_at ON payouts
  FOR EACH ROW WHEN (OLD.state <> 'queued' AND NEW.send_deadline_at IS DISTINCT FROM OLD.send_deadline_at)
  EXECUTE FUNCTION refuse_deadline_change();
COMMENT ON TRIGGER payouts_check_send_deadline ON payouts IS
  'Refuses another send deadline after the release. It runs after the other rules, so that an illegal transition is refused as '
  'such.';

CREATE FUNCTION check_payout_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kinds text[];
  wanted text[];
BEGIN
  IF NOT EXISTS (SELECT 1 FROM events
      WHERE payout_id = NEW.id AND resource_version = NEW.version AND type = 'payout.' || NEW.state) THEN
    RAISE EXCEPTION 'payout % became % without an event', NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
  END IF;
  SELECT coalesce(array_agg(kind ORDER BY kind), '{}') INTO kinds FROM ledger_transfers WHERE payout_id = NEW.id;
  SELECT CASE state
      WHEN 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
      WHEN 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
      WHEN 'queued' THEN ARRAY['payout_held']
      WHEN 'released' THEN ARRAY['payout_held']
      WHEN 'reconciling' THEN ARRAY['payout_held']
      ELSE ARRAY['payout_held', 'payout_voided'] END
    INTO wanted FROM payouts WHERE id = NEW.id;
  IF kinds <> wanted THEN
    RAISE EXCEPTION 'payout % is % but has the transfers %', NEW.id, NEW.state, kinds
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payouts_check_created AFTER INSERT ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_payout_recorded();
COMMENT ON TRIGGER payouts_check_created ON payouts IS 'Refuses, at commit, a new payout without its event and its hold.';
CREATE CONSTRAINT TRIGGER payouts_check_recorded AFTER UPDATE OF state ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION check_payout_recorded();
COMMENT ON TRIGGER payouts_check_recorded ON payouts IS
  'Refuses, at commit, a new state without its event, and other transfers than those of the state.';
CREATE TRIGGER payouts_count_changed AFTER UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION count_payment('payout');
COMMENT ON TRIGGER payouts_count_changed ON payouts IS 'Refuses nothing. It adds the change of state to payment_total_changes.';
CREATE TRIGGER payouts_note_changed AFTER UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('payout');
COMMENT ON TRIGGER payouts_note_changed ON payouts IS 'Refuses nothing. It adds a live update.';
CREATE TRIGGER payouts_move_changed AFTER UPDATE OF state ON payouts
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_payment_move('payout');
COMMENT ON TRIGGER payouts_move_changed ON payouts IS 'Refuses nothing. It adds the change of state to payment_moves.';
CREATE TRIGGER payouts_note_created AFTER INSERT ON payouts
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_created_payments('payout');
COMMENT ON TRIGGER payouts_note_created ON payouts IS
  'Refuses nothing. It adds the new rows to payment_total_changes, payment_moves and live_updates.';

CREATE TABLE payout_approvals (
  payout_id text COLLATE "C" NOT NULL REFERENCES payouts,
  user_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  approved_at timestamptz NOT NULL,
  attestation text CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'),
  withdrawn_at timestamptz,
  PRIMARY KEY (payout_id, user_id, approved_at),
  FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
COMMENT ON TABLE payout_approvals IS 'An approval of a payout by one person.';
COMMENT ON COLUMN payout_approvals.attestation IS 'Made by the process that records the approval.';
COMMENT ON COLUMN payout_approvals.withdrawn_at IS 'A withdrawn approval releases nothing, and takes nothing of the daily limit.';

CREATE INDEX payout_approvals_by_person ON payout_approvals (merchant_id, user_id, approved_at);
CREATE UNIQUE INDEX payout_approvals_one_standing ON payout_approvals (payout_id, user_id) WHERE withdrawn_at IS NULL;

CREATE TRIGGER payout_approvals_kept BEFORE DELETE OR TRUNCATE ON payout_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER payout_approvals_kept ON payout_approvals IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_payout_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  payout payouts%ROWTYPE;
BEGIN
  -- The lock keeps approvals out while a decision on the payout is under way.
  SELECT * INTO STRICT payout FROM payouts WHERE id = NEW.payout_id FOR NO KEY UPDATE;
  IF payout.state <> 'queued' OR payout.merchant_id <> NEW.merchant_id OR NEW.approved_at >= payout.expires_at THEN
    RAISE EXCEPTION 'payout % is not queued, has expired or belongs to another merchant than the approval', payout.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_while_queued';
  END IF;
  IF payout.created_by = NEW.user_id THEN
    RAISE EXCEPTION 'payout % cannot be approved by the person who created it', payout.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_another';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'payout % can be approved only by an owner or an approver of its merchant', payout.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_approvers';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payout_approvals_check BEFORE INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_payout_approval();
COMMENT ON TRIGGER payout_approvals_check ON payout_approvals IS
  'Refuses an approval of a payout that is not queued or has expired, by the maker, or by somebody who is no owner or approver.';
CREATE TRIGGER payout_approvals_check_waiting BEFORE INSERT ON payout_approvals
  FOR EACH ROW WHEN (NOT moves_money(NEW.merchant_id, NEW.user_id, NEW.approved_at))
  EXECUTE FUNCTION refuse_while_waiting();
COMMENT ON TRIGGER payout_approvals_check_waiting ON payout_approvals IS
  'Refuses an approval by a person who became an approver, or whose account was recovered, too short a time ago.';

CREATE FUNCTION refuse_unattested_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an approval has an attestation' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER payout_approvals_check_attested BEFORE INSERT ON payout_approvals
  FOR EACH ROW WHEN (NEW.attestation IS NULL) EXECUTE FUNCTION refuse_unattested_approval();
COMMENT ON TRIGGER payout_approvals_check_attested ON payout_approvals IS 'Refuses an approval without attestation.';
CREATE TRIGGER payout_approvals_check_change BEFORE UPDATE ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_approval_change();
COMMENT ON TRIGGER payout_approvals_check_change ON payout_approvals IS
  'Refuses every change but one withdrawal while the payout is queued.';
CREATE TRIGGER payout_approvals_daily_limit AFTER INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION check_daily_limit();
COMMENT ON TRIGGER payout_approvals_daily_limit ON payout_approvals IS 'Refuses an approval beyond the daily limit of the person.';
CREATE TRIGGER payout_approvals_note AFTER INSERT ON payout_approvals
  FOR EACH ROW EXECUTE FUNCTION note_approval('payout');
COMMENT ON TRIGGER payout_approvals_note ON payout_approvals IS
  'Refuses nothing. It adds a live update: an approval that is not the last one changes for whom the payment waits.';
