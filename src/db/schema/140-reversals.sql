-- Reversals: refunds of whole collections. A maker requests a refund, and approvers release it. The collection becomes
-- `reversed` only when the operator confirms the refund.

CREATE TABLE reversal_transitions (
  from_state text NOT NULL,
  to_state text NOT NULL,
  PRIMARY KEY (from_state, to_state)
);
COMMENT ON TABLE reversal_transitions IS
  'The transitions of src/domain/payments/reversal.ts, for the check of the database. A test holds the two equal.';

INSERT INTO reversal_transitions (from_state, to_state) VALUES
  ('queued', 'released'), ('queued', 'rejected'), ('queued', 'cancelled'), ('queued', 'expired'),
  ('released', 'succeeded'), ('released', 'failed'), ('released', 'reconciling'),
  ('reconciling', 'succeeded'), ('reconciling', 'failed');

CREATE TABLE reversals (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^rev_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
  collection_id text COLLATE "C" NOT NULL REFERENCES collections,
  state text NOT NULL CHECK (state IN (
    'queued', 'released', 'reconciling', 'succeeded', 'failed', 'rejected', 'cancelled', 'expired')),
  operator_reference uuid NOT NULL UNIQUE,
  failure_code text,
  failed_by text,
  requested_by text COLLATE "C" NOT NULL,
  request_id text COLLATE "C",
  approvals_required integer NOT NULL CHECK (approvals_required BETWEEN 1 AND 2),
  decided_by text COLLATE "C",
  rejection_reason text CHECK (length(rejection_reason) BETWEEN 1 AND 200),
  request_attestation text,
  release_attestation text CHECK (release_attestation ~ '^[A-Za-z0-9_-]{43}$'),
  status_kind text,
  status_queried_at timestamptz,
  status_attestation text,
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
  workflow_started_at timestamptz,
  start_due_at timestamptz NOT NULL DEFAULT now(),
  start_failures integer NOT NULL DEFAULT 0,
  workflow_failures integer NOT NULL DEFAULT 0,
  check_due_at timestamptz,
  recheck_check_due_at timestamptz,
  recheck_claimed_until timestamptz,
  FOREIGN KEY (merchant_id, requested_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT reversals_failure CHECK ((state = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT reversals_never_sent CHECK (failure_code <> 'service_unavailable' OR send_begun_at IS NULL),
  CONSTRAINT reversals_failed_by CHECK (
    failed_by IS NULL OR state = 'failed' AND failed_by IN ('declined', 'never_sent', 'never_accepted')),
  CONSTRAINT reversals_not_founds CHECK (
    not_found_count >= 0 AND (not_found_count = 0) = (not_found_since IS NULL)
    AND (not_found_count = 0 OR not_found_last_at >= not_found_since)),
  CONSTRAINT reversals_already_returned CHECK (failure_code <> 'already_returned' OR send_begun_at IS NULL),
  CONSTRAINT reversals_rejection CHECK ((state = 'rejected') = (rejection_reason IS NOT NULL)),
  CONSTRAINT reversals_decided CHECK ((state IN ('rejected', 'cancelled')) = (decided_by IS NOT NULL)),
  CONSTRAINT reversals_cancelled_by_maker CHECK (state <> 'cancelled' OR decided_by = requested_by),
  CONSTRAINT reversals_send_deadline CHECK (
    (state IN ('queued', 'rejected', 'cancelled', 'expired')) = (send_deadline_at IS NULL)),
  FOREIGN KEY (merchant_id, decided_by) REFERENCES members (merchant_id, user_id),
  CONSTRAINT reversals_attested CHECK ((state = 'failed') = (status_attestation IS NOT NULL)),
  CONSTRAINT reversals_status CHECK (
    (status_kind IS NULL) = (status_queried_at IS NULL)
    AND CASE WHEN state = 'failed' AND failed_by IN ('declined', 'never_accepted')
      THEN status_kind IS NOT NULL AND status_kind IN ('declined', 'refused', 'not_found')
      ELSE status_kind IS NULL END)
) WITH (
  autovacuum_analyze_threshold = 10000, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE reversals IS 'A refund of a whole collection.';
COMMENT ON COLUMN reversals.failed_by IS 'As payouts.failed_by.';
COMMENT ON COLUMN reversals.request_id IS 'As collections.request_id.';
COMMENT ON COLUMN reversals.request_attestation IS 'As payouts.request_attestation.';
COMMENT ON COLUMN reversals.release_attestation IS 'As payouts.release_attestation.';
COMMENT ON COLUMN reversals.status_kind IS
  'What the operator said of a refund that failed. A refund that failed no longer reserves its money.';
COMMENT ON COLUMN reversals.status_attestation IS 'Of the failure with the status of the operator.';
COMMENT ON COLUMN reversals.send_deadline_at IS 'As payouts.send_deadline_at.';
COMMENT ON COLUMN reversals.send_begun_at IS 'As collections.send_begun_at.';
COMMENT ON COLUMN reversals.send_repeated_at IS 'As collections.send_repeated_at.';
COMMENT ON COLUMN reversals.accepted_at IS 'When the operator first said that it has the refund.';
COMMENT ON COLUMN reversals.not_found_count IS 'As payouts.not_found_count.';
COMMENT ON COLUMN reversals.not_found_since IS 'As payouts.not_found_since.';
COMMENT ON COLUMN reversals.not_found_last_at IS 'As payouts.not_found_last_at.';
COMMENT ON COLUMN reversals.workflow_started_at IS 'As collections.workflow_started_at.';
COMMENT ON COLUMN reversals.start_due_at IS 'As collections.start_due_at.';
COMMENT ON COLUMN reversals.start_failures IS 'As collections.start_failures.';
COMMENT ON COLUMN reversals.workflow_failures IS 'As collections.workflow_failures.';
COMMENT ON COLUMN reversals.check_due_at IS 'As collections.check_due_at.';
COMMENT ON COLUMN reversals.recheck_check_due_at IS 'As collections.recheck_check_due_at.';
COMMENT ON COLUMN reversals.recheck_claimed_until IS 'As collections.recheck_claimed_until.';

CREATE INDEX reversals_failing ON reversals (workflow_failures) WHERE workflow_failures > 0;
-- The latest reversal of a collection, which every page of a collection shows.
CREATE INDEX reversals_of_a_collection ON reversals (collection_id, id DESC);
CREATE INDEX reversals_recheck_check_due ON reversals (recheck_check_due_at) WHERE recheck_check_due_at IS NOT NULL;
CREATE INDEX reversals_reconciling ON reversals (updated_at) WHERE state = 'reconciling';
CREATE UNIQUE INDEX reversals_one_at_a_time ON reversals (collection_id)
  WHERE state NOT IN ('failed', 'rejected', 'cancelled', 'expired');
CREATE INDEX reversals_pending ON reversals (merchant_id) WHERE state IN ('queued', 'released', 'reconciling');
CREATE INDEX reversals_waiting ON reversals (merchant_id)
  WHERE state = 'released' AND send_begun_at IS NULL OR state = 'queued' AND workflow_started_at IS NULL;
CREATE INDEX reversals_check_due ON reversals (check_due_at)
  WHERE state IN ('queued', 'released', 'reconciling') AND workflow_started_at IS NOT NULL;
CREATE INDEX reversals_unstarted
  ON reversals (merchant_id, (state IN ('queued', 'released', 'reconciling')) DESC, start_due_at)
  WHERE workflow_started_at IS NULL;
CREATE INDEX reversals_unsent_check_due ON reversals (check_due_at)
  WHERE state = 'released' AND workflow_started_at IS NOT NULL;
CREATE INDEX reversals_recheck_due ON reversals ((coalesce(recheck_claimed_until, check_due_at)))
  WHERE state NOT IN ('queued', 'released', 'reconciling') AND coalesce(recheck_claimed_until, check_due_at) IS NOT NULL;
CREATE INDEX reversals_list ON reversals (merchant_id, id DESC);
CREATE INDEX reversals_list_by_state ON reversals (merchant_id, state, id DESC);
CREATE INDEX reversals_unfinished ON reversals (state, updated_at) WHERE state IN ('queued', 'released', 'reconciling');

CREATE TRIGGER reversals_kept BEFORE DELETE OR TRUNCATE ON reversals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER reversals_kept ON reversals IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_reversal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'queued' THEN
      RAISE EXCEPTION 'reversal % must be created in state queued', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.merchant_id, NEW.collection_id, NEW.operator_reference, NEW.requested_by, NEW.created_at, NEW.expires_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.collection_id, OLD.operator_reference, OLD.requested_by, OLD.created_at, OLD.expires_at)
  THEN
    RAISE EXCEPTION 'the requested fields of reversal % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION 'reversal % cannot need fewer approvals than before', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.failure_code, NEW.decided_by, NEW.rejection_reason, NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.failure_code, OLD.decided_by, OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of reversal % can change only together with its state', OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM reversal_transitions WHERE from_state = OLD.state AND to_state = NEW.state) THEN
    RAISE EXCEPTION 'reversal % cannot move from % to %', OLD.id, OLD.state, NEW.state
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state <> 'queued' AND NEW.send_deadline_at IS DISTINCT FROM OLD.send_deadline_at THEN
    RAISE EXCEPTION 'the send deadline of reversal % is set by its release', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'released' AND NEW.approvals_required >
      (SELECT count(*) FROM reversal_approvals a
       JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
       WHERE a.reversal_id = NEW.id AND a.withdrawn_at IS NULL AND m.removed_at IS NULL AND m.roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'reversal % lacks approvals', OLD.id USING ERRCODE = 'restrict_violation', CONSTRAINT = 'releases_approved';
  END IF;
  IF NEW.state = 'released'
     AND NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'succeeded') THEN
    RAISE EXCEPTION 'reversal % cannot be released: its collection is not paid', OLD.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'refunds_of_paid';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversals_check_change BEFORE INSERT OR UPDATE ON reversals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_change();
COMMENT ON TRIGGER reversals_check_change ON reversals IS
  'Refuses a new reversal in a state other than queued, to change what was requested, to lower the number of approvals, an '
  'outcome without a change of state, a transition that is not in the table, another send deadline after the release, and a '
  'release that lacks approvals or whose collection is not paid.';
CREATE TRIGGER reversals_check_money_out BEFORE INSERT ON reversals FOR EACH ROW EXECUTE FUNCTION check_money_out();
COMMENT ON TRIGGER reversals_check_money_out ON reversals IS
  'Refuses a refund while a live merchant has fewer than two owners with a second factor.';
CREATE TRIGGER reversals_check_waiting BEFORE INSERT ON reversals
  FOR EACH ROW WHEN (NOT moves_money(NEW.merchant_id, NEW.requested_by, NEW.created_at))
  EXECUTE FUNCTION refuse_while_waiting();
COMMENT ON TRIGGER reversals_check_waiting ON reversals IS
  'Refuses a refund of a person who became an approver, or whose account was recovered, too short a time ago.';
CREATE TRIGGER reversals_check_created_attestation BEFORE INSERT ON reversals
  FOR EACH ROW WHEN (NEW.release_attestation IS NOT NULL) EXECUTE FUNCTION refuse_unattested_release();
COMMENT ON TRIGGER reversals_check_created_attestation ON reversals IS 'Refuses a new refund with the attestation of a release.';
CREATE TRIGGER reversals_check_request_attested BEFORE INSERT ON reversals
  FOR EACH ROW WHEN (NEW.request_attestation IS NULL) EXECUTE FUNCTION refuse_unattested_request();
COMMENT ON TRIGGER reversals_check_request_attested ON reversals IS 'Refuses a new refund without the attestation of its request.';
CREATE TRIGGER reversals_check_not_founds BEFORE UPDATE OF not_found_count, not_found_since, not_found_last_at ON reversals
  FOR EACH ROW WHEN ((NEW.not_found_count, NEW.not_found_since, NEW.not_found_last_at)
    IS DISTINCT FROM (OLD.not_found_count, OLD.not_found_since, OLD.not_found_last_at))
  EXECUTE FUNCTION check_not_founds();
COMMENT ON TRIGGER reversals_check_not_founds ON reversals IS
  'Refuses a count of unknown statuses that does not go up by one with a later status, or begin again at zero.';
CREATE TRIGGER reversals_check_failed_by BEFORE UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.state = 'failed' AND OLD.state <> 'failed') EXECUTE FUNCTION check_failed_by();
COMMENT ON TRIGGER reversals_check_failed_by ON reversals IS 'Refuses a failure for a cause that the row does not bear out.';
CREATE TRIGGER reversals_check_cause_change BEFORE UPDATE OF failed_by ON reversals
  FOR EACH ROW WHEN (NEW.state = OLD.state AND NEW.failed_by IS DISTINCT FROM OLD.failed_by)
  EXECUTE FUNCTION refuse_cause_change();
COMMENT ON TRIGGER reversals_check_cause_change ON reversals IS 'Refuses to change the cause of a failure without the state.';

CREATE FUNCTION refuse_clearing_acceptance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'accepted_at of % cannot be cleared', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER reversals_check_acceptance BEFORE UPDATE OF accepted_at ON reversals
  FOR EACH ROW WHEN (OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL)
  EXECUTE FUNCTION refuse_clearing_acceptance();
COMMENT ON TRIGGER reversals_check_acceptance ON reversals IS 'Refuses to clear when the operator accepted the refund.';

CREATE FUNCTION check_already_returned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'refund % is still needed: its collection was not returned', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversals_check_already_returned BEFORE UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.failure_code = 'already_returned') EXECUTE FUNCTION check_already_returned();
COMMENT ON TRIGGER reversals_check_already_returned ON reversals IS
  'Refuses to end a refund as needless while its collection is not reversed.';
CREATE TRIGGER reversals_check_release BEFORE UPDATE ON reversals
  FOR EACH ROW WHEN (OLD.state = 'queued' AND NEW.state = 'released') EXECUTE FUNCTION check_money_out();
COMMENT ON TRIGGER reversals_check_release ON reversals IS
  'Refuses a release while a live merchant has fewer than two owners with a second factor.';
CREATE TRIGGER reversals_check_release_attested BEFORE UPDATE OF state, release_attestation ON reversals
  FOR EACH ROW WHEN (
    CASE WHEN OLD.state = 'queued' AND NEW.state = 'released' THEN NEW.release_attestation IS NULL
         ELSE NEW.release_attestation IS DISTINCT FROM OLD.release_attestation END)
  EXECUTE FUNCTION refuse_unattested_release();
COMMENT ON TRIGGER reversals_check_release_attested ON reversals IS
  'Refuses a release without attestation, and to change the attestation otherwise.';
CREATE TRIGGER reversals_check_send_begun BEFORE UPDATE OF send_begun_at ON reversals
  FOR EACH ROW WHEN (NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT (
    OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_begun_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_begun();
COMMENT ON TRIGGER reversals_check_send_begun ON reversals IS
  'Refuses a send that begins twice, in another state than released, or after the deadline.';
CREATE TRIGGER reversals_check_request_attestation BEFORE UPDATE OF request_attestation ON reversals
  FOR EACH ROW WHEN (NEW.request_attestation IS DISTINCT FROM OLD.request_attestation
    AND (NEW.request_attestation IS NULL OR NEW.approvals_required = OLD.approvals_required OR OLD.state <> 'queued'))
  EXECUTE FUNCTION refuse_unattested_request();
COMMENT ON TRIGGER reversals_check_request_attestation ON reversals IS
  'Refuses another attestation of the request, except with another number of approvals while it is queued.';
CREATE TRIGGER reversals_check_send_repeated BEFORE UPDATE OF send_repeated_at ON reversals
  FOR EACH ROW WHEN (NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT (
    OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NEW.state = 'released'
    AND NEW.send_repeated_at < NEW.send_deadline_at))
  EXECUTE FUNCTION refuse_send_repeated();
COMMENT ON TRIGGER reversals_check_send_repeated ON reversals IS
  'Refuses a further send before the first, in another state than released, or after the deadline.';
CREATE TRIGGER reversals_request_stays BEFORE UPDATE OF request_id ON reversals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_request();
COMMENT ON TRIGGER reversals_request_stays ON reversals IS 'Refuses to change the request of a reversal.';

-- A foreign key over (id, merchant_id) would say the same, at the price of one more index on collections.
CREATE FUNCTION check_reversal_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'reversal % belongs to another merchant than its collection', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER reversals_check_created AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_created();
COMMENT ON TRIGGER reversals_check_created ON reversals IS 'Refuses a reversal of the collection of another merchant.';

CREATE FUNCTION check_reversal_recorded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'reversal % succeeded but its collection is not reversed', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER reversals_check_recorded AFTER UPDATE OF state ON reversals
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'succeeded') EXECUTE FUNCTION check_reversal_recorded();
COMMENT ON TRIGGER reversals_check_recorded ON reversals IS
  'Refuses, at commit, a reversal that succeeded and did not reverse its collection.';
CREATE TRIGGER reversals_note_created AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION note_live_update('reversal');
COMMENT ON TRIGGER reversals_note_created ON reversals IS 'Refuses nothing. It adds a live update.';
CREATE TRIGGER reversals_note_changed AFTER UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_live_update('reversal');
COMMENT ON TRIGGER reversals_note_changed ON reversals IS 'Refuses nothing. It adds a live update.';
CREATE TRIGGER reversals_move_created AFTER INSERT ON reversals
  FOR EACH ROW EXECUTE FUNCTION note_payment_move('reversal');
COMMENT ON TRIGGER reversals_move_created ON reversals IS 'Refuses nothing. It adds the change of state to payment_moves.';
CREATE TRIGGER reversals_move_changed AFTER UPDATE OF state ON reversals
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_payment_move('reversal');
COMMENT ON TRIGGER reversals_move_changed ON reversals IS 'Refuses nothing. It adds the change of state to payment_moves.';

CREATE TABLE reversal_approvals (
  reversal_id text COLLATE "C" NOT NULL REFERENCES reversals,
  user_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  approved_at timestamptz NOT NULL,
  attestation text NOT NULL CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'),
  withdrawn_at timestamptz,
  PRIMARY KEY (reversal_id, user_id, approved_at),
  FOREIGN KEY (merchant_id, user_id) REFERENCES members (merchant_id, user_id)
);
COMMENT ON TABLE reversal_approvals IS 'An approval of a refund by one person.';
COMMENT ON COLUMN reversal_approvals.attestation IS 'Made by the process that records the approval.';
COMMENT ON COLUMN reversal_approvals.withdrawn_at IS 'As payout_approvals.withdrawn_at.';

CREATE INDEX reversal_approvals_by_person ON reversal_approvals (merchant_id, user_id, approved_at);
CREATE UNIQUE INDEX reversal_approvals_one_standing ON reversal_approvals (reversal_id, user_id) WHERE withdrawn_at IS NULL;

CREATE TRIGGER reversal_approvals_kept BEFORE DELETE OR TRUNCATE ON reversal_approvals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER reversal_approvals_kept ON reversal_approvals IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_reversal_approval() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  reversal reversals%ROWTYPE;
BEGIN
  -- The lock keeps approvals out while a decision on the refund is under way.
  SELECT * INTO STRICT reversal FROM reversals WHERE id = NEW.reversal_id FOR NO KEY UPDATE;
  IF reversal.state <> 'queued' OR reversal.merchant_id <> NEW.merchant_id OR NEW.approved_at >= reversal.expires_at THEN
    RAISE EXCEPTION 'refund % is not queued, has expired or belongs to another merchant than the approval', reversal.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_while_queued';
  END IF;
  IF reversal.requested_by = NEW.user_id THEN
    RAISE EXCEPTION 'refund % cannot be approved by the person who requested it', reversal.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_another';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION 'refund % can be approved only by an owner or an approver of its merchant', reversal.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_approvers';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER reversal_approvals_check BEFORE INSERT ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION check_reversal_approval();
COMMENT ON TRIGGER reversal_approvals_check ON reversal_approvals IS
  'Refuses an approval of a refund that is not queued or has expired, by the person who requested it, or by somebody who is no '
  'owner or approver.';
CREATE TRIGGER reversal_approvals_check_waiting BEFORE INSERT ON reversal_approvals
  FOR EACH ROW WHEN (NOT moves_money(NEW.merchant_id, NEW.user_id, NEW.approved_at))
  EXECUTE FUNCTION refuse_while_waiting();
COMMENT ON TRIGGER reversal_approvals_check_waiting ON reversal_approvals IS
  'Refuses an approval by a person who became an approver, or whose account was recovered, too short a time ago.';
CREATE TRIGGER reversal_approvals_check_change BEFORE UPDATE ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION check_approval_change();
COMMENT ON TRIGGER reversal_approvals_check_change ON reversal_approvals IS
  'Refuses every change but one withdrawal while the refund is queued.';
CREATE TRIGGER reversal_approvals_daily_limit AFTER INSERT ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION check_daily_limit();
COMMENT ON TRIGGER reversal_approvals_daily_limit ON reversal_approvals IS
  'Refuses an approval beyond the daily limit of the person.';
CREATE TRIGGER reversal_approvals_note AFTER INSERT ON reversal_approvals
  FOR EACH ROW EXECUTE FUNCTION note_approval('reversal');
COMMENT ON TRIGGER reversal_approvals_note ON reversal_approvals IS
  'Refuses nothing. It adds a live update: an approval that is not the last one changes for whom the payment waits.';
