-- Changes of payments: what may change and when, and what follows from a change.
-- A test holds the columns of payments_check_change equal to all that may change.

CREATE FUNCTION check_payment_change() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  is_release boolean := OLD.state = 'queued' AND NEW.state = 'released';
  is_next boolean := NEW.send_generation <> OLD.send_generation;
BEGIN
  -- Where somebody waits for the operator nothing is decided, so that what it said of a send is kept in any case.
  IF is_next OR NEW.state <> OLD.state AND NEW.state NOT IN ('prompted', 'reconciling') THEN
    PERFORM require_fence();
  END IF;
  -- Sent in the time that is missing, or under a later generation: to give it up would return money that was paid.
  IF NEW.kind <> 'collection' AND NEW.state <> OLD.state AND NEW.state IN ('rejected', 'cancelled', 'expired', 'failed')
     AND EXISTS (SELECT FROM restore_findings f WHERE f.payment_id = NEW.id AND f.said IN ('open', 'paid', 'returned')
       AND (OLD.state = 'queued' OR f.generation > NEW.send_generation)) THEN
    RAISE EXCEPTION 'the operator has % from before the restore, so it is not given up', OLD.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'restore_found';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.failed_by,
        CASE WHEN OLD.operator_receipt IS NOT NULL OR NOT NEW.receipt_follows THEN NEW.operator_receipt END, NEW.decided_by,
        NEW.rejection_reason, NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.failed_by, OLD.operator_receipt, OLD.decided_by,
        OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of % % can change only together with its state', OLD.kind, OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a new state of % % must count up version and set previous_state to the old state', OLD.kind, OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF is_next AND NOT coalesce(
       NEW.send_generation = OLD.send_generation + 1 AND NEW.kind = 'payout' AND OLD.state = 'released' AND NEW.state = 'released'
       AND OLD.send_begun_at IS NOT NULL AND NEW.not_found_count = 0
       AND num_nonnulls(NEW.send_begun_at, NEW.send_repeated_at, NEW.accepted_at, NEW.operator_issued_id) = 0
       AND EXISTS (SELECT FROM send_generations WHERE payment_id = NEW.id AND generation = NEW.send_generation), false) THEN
    RAISE EXCEPTION 'generation % of % begins unsent, after one that was sent, and is recorded first', NEW.send_generation, OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT is_next AND NOT (
       OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state IN ('initiated', 'released')
       AND NEW.send_begun_at < NEW.send_deadline_at
       OR NEW.send_begun_at IS NULL AND NEW.sends_taken_back > OLD.sends_taken_back) THEN
    RAISE EXCEPTION 'a send of % can begin once, while it may be sent and before its deadline', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT is_next AND NOT (
       OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NOT NEW.sends_once AND NEW.state IN ('initiated', 'released')
       AND NEW.send_repeated_at < NEW.send_deadline_at) THEN
    RAISE EXCEPTION 'a send of % is repeated after it began, while it may be sent and before its deadline', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF (NEW.sends_taken_back, NEW.take_back_attestation) IS DISTINCT FROM (OLD.sends_taken_back, OLD.take_back_attestation)
     AND NOT coalesce(NEW.sends_once AND OLD.send_begun_at IS NOT NULL AND NEW.send_begun_at IS NULL
       AND NEW.sends_taken_back = OLD.sends_taken_back + 1
       AND NEW.take_back_attestation IS NOT NULL AND NEW.take_back_attestation IS DISTINCT FROM OLD.take_back_attestation
       AND NEW.state = OLD.state AND NEW.state IN ('initiated', 'released')
       AND num_nonnulls(OLD.accepted_at, NEW.accepted_at, OLD.operator_issued_id, NEW.operator_issued_id) = 0, false) THEN
    RAISE EXCEPTION 'the send of % is taken back only as it began, with an attestation, while nothing more is known of it', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.operator_issued_id IS DISTINCT FROM OLD.operator_issued_id AND NOT is_next
     AND (OLD.operator_issued_id IS NOT NULL OR OLD.send_begun_at IS NULL) THEN
    RAISE EXCEPTION 'the operator issues one id for %, after it was sent', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.sends_once AND NEW.send_begun_at IS NOT NULL AND NEW.state <> OLD.state AND (NEW.failed_by = 'never_accepted'
       OR NEW.kind = 'collection' AND NEW.state = 'expired' AND NEW.failure_code = 'operator_unavailable') THEN
    RAISE EXCEPTION 'no silence of the operator says that it never accepted %, which is sent once', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;

  IF NEW.kind = 'collection' THEN
    -- The operator reported any other expiry.
    IF OLD.state = 'expired' AND NEW.state = 'failed' AND OLD.failure_code <> 'unknown' THEN
      RAISE EXCEPTION 'collection % expired as %, so it cannot fail later', OLD.id, OLD.failure_code
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.failure_code = 'service_unavailable' AND OLD.prompt_expires_at IS NOT NULL THEN
      RAISE EXCEPTION 'collection % was prompted, so it cannot end as never sent', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    -- A prompted collection was sent, at its creation or later. Where no send is recorded, its creation is all that is known.
    IF NEW.state = 'prompted' AND NEW.send_begun_at IS NULL THEN
      NEW.send_begun_at := NEW.created_at;
    END IF;
    RETURN NEW;
  END IF;

  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION '% % cannot need fewer approvals than before', OLD.kind, OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.request_attestation IS DISTINCT FROM OLD.request_attestation
     AND (NEW.request_attestation IS NULL OR NEW.approvals_required = OLD.approvals_required OR OLD.state <> 'queued') THEN
    RAISE EXCEPTION 'the request of % has an attestation, which changes with the approvals that it needs alone', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL AND NOT is_next THEN
    RAISE EXCEPTION 'accepted_at of % cannot be cleared', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF (NEW.not_found_count, NEW.not_found_since, NEW.not_found_last_at)
     IS DISTINCT FROM (OLD.not_found_count, OLD.not_found_since, OLD.not_found_last_at)
     -- A status adds one to the count, or the count begins again.
     AND (NEW.state <> OLD.state OR NOT coalesce(
       NEW.not_found_count = OLD.not_found_count + 1
         AND NEW.not_found_last_at > coalesce(OLD.not_found_last_at, '-infinity')
         AND NEW.not_found_since = coalesce(OLD.not_found_since, NEW.not_found_last_at)
         AND NEW.not_found_since >= NEW.send_deadline_at
         AND NEW.send_begun_at IS NOT NULL AND NEW.accepted_at IS NULL, false)
       AND NOT coalesce(
         NEW.not_found_count = 0 AND NEW.not_found_since IS NULL
           AND NEW.not_found_last_at >= coalesce(OLD.not_found_last_at, '-infinity'), false)) THEN
    RAISE EXCEPTION 'what counts against % is one later status of a payment that was sent and never accepted', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  -- Constraints refuse `never_sent` for a payment that was sent.
  IF NEW.state = 'failed' AND OLD.state <> 'failed' AND NOT coalesce(
       NEW.failed_by = 'never_sent' AND NEW.failure_code IN ('service_unavailable', 'operator_unavailable', 'already_returned')
       OR NEW.failed_by = 'declined' AND coalesce(NEW.failure_code, '') NOT IN ('service_unavailable', 'already_returned')
       OR NEW.failed_by = 'never_accepted' AND NEW.failure_code = 'operator_unavailable' AND NEW.accepted_at IS NULL
         AND NEW.not_found_count >= 2 AND NEW.not_found_last_at > NEW.not_found_since, false) THEN
    RAISE EXCEPTION '% cannot fail with % by %: the row does not say so', OLD.id, NEW.failure_code, NEW.failed_by
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' AND NOT coalesce(
       CASE WHEN NEW.state = 'failed' AND NEW.failed_by IN ('declined', 'never_accepted')
         THEN NEW.status_kind IN ('declined', 'refused', 'not_found') AND NEW.status_queried_at IS NOT NULL
         ELSE NEW.status_kind IS NULL AND NEW.status_queried_at IS NULL END, false) THEN
    RAISE EXCEPTION 'refund % has the status of an operator that made it fail, and no other', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' AND NEW.failure_code = 'already_returned' AND NEW.state <> OLD.state
     AND NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'refund % is still needed: its collection was not returned', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'released' AND OLD.state <> 'released' THEN
    IF NEW.approvals_required >
        (SELECT count(*) FROM approvals a JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
         WHERE a.payment_id = NEW.id AND a.withdrawn_at IS NULL AND m.removed_at IS NULL
           AND m.roles && ARRAY['owner', 'approver']) THEN
      RAISE EXCEPTION '% % lacks approvals', OLD.kind, OLD.id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'releases_approved';
    END IF;
    IF NEW.kind = 'reversal'
       AND NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.collection_id AND state = 'succeeded') THEN
      RAISE EXCEPTION 'reversal % cannot be released: its collection is not paid', OLD.id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'refunds_of_paid';
    END IF;
    PERFORM check_two_owners(NEW.merchant_id);
  END IF;
  IF is_release AND NEW.release_attestation IS NULL
     OR NOT is_release AND NEW.release_attestation IS DISTINCT FROM OLD.release_attestation THEN
    RAISE EXCEPTION 'a release of % has an attestation, which changes with the release alone', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payments_check_change
  BEFORE UPDATE OF state, previous_state, version, operator_receipt, failure_code, failed_by, status_kind, status_queried_at,
    status_attestation, amount_reversed_minor, request_attestation, approvals_required, decided_by, rejection_reason,
    release_attestation, send_deadline_at, send_begun_at, send_repeated_at, send_generation, sends_taken_back, take_back_attestation,
    operator_issued_id, prompt_expires_at, accepted_at, not_found_count, not_found_since, not_found_last_at ON payments
  FOR EACH ROW EXECUTE FUNCTION check_payment_change();
COMMENT ON TRIGGER payments_check_change ON payments IS
  'Refuses every decision, outcome and generation without a fresh fence, and to give up a payout or refund that the operator was found '
  'to have after a restore. Refuses an outcome without a change of state, except a receipt that follows; a change of state that does not count up the '
  'version; a send that begins or is repeated when it must not, and each repeated send of what is sent once; a '
  'generation that does not count up by one, unsent, of a payout whose last one was sent; a send that is taken '
  'back without an attestation or after the operator had it; another issued id; an end of what is sent once because the operator '
  'does not know it. Of a collection it refuses a failure after the operator said how it expired, and an end as never sent after '
  'the prompt; a prompted collection counts as sent. Of a payout or refund it refuses fewer approvals; another attestation of the '
  'request; a cleared acceptance; a wrong count of unknown statuses; a failure whose cause the row does not show; a refund with '
  'another status than the one that made it fail; a release that lacks approvals, an attestation, two owners or a paid '
  'collection; and another attestation otherwise.';

-- Each try to send writes one of these columns before its call, the third and later ones without a change.
CREATE FUNCTION check_fenced_send() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM require_fence();
  RETURN NEW;
END $$;
CREATE TRIGGER payments_check_fenced BEFORE UPDATE OF send_begun_at, send_repeated_at ON payments
  FOR EACH ROW WHEN (NEW.send_begun_at IS NOT NULL) EXECUTE FUNCTION check_fenced_send();
COMMENT ON TRIGGER payments_check_fenced ON payments IS 'Refuses every try to send without a fresh fence, also one that changes nothing.';

CREATE FUNCTION check_new_payments() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wrong_id text;
BEGIN
  PERFORM require_known_database();
  -- Keys are looked up for each row, however many there are: the planner cannot make a scan of it.
  SELECT id INTO wrong_id FROM created
    WHERE api_key_id IS NOT NULL
      AND (SELECT k.merchant_id FROM api_keys k WHERE k.id = created.api_key_id) IS DISTINCT FROM created.merchant_id
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'payment % was created by no API key of its merchant', wrong_id USING ERRCODE = 'restrict_violation';
  END IF;
  SELECT id INTO wrong_id FROM created
    WHERE (SELECT w.kind FROM work w WHERE w.id = created.id AND w.task = 'workflow') IS DISTINCT FROM created.kind
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'nobody would begin with the new payment %: it has no work', wrong_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER payments_check_created AFTER INSERT ON payments
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION check_new_payments();
COMMENT ON TRIGGER payments_check_created ON payments IS
  'Refuses a new payment of an API key of another merchant, and one whose statement inserts no work for it. A foreign key would '
  'lock the row of the API key for each collection. Refuses each in recovery, and before the database is compared with its markers.';

CREATE FUNCTION check_payment_recorded() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  kinds text[];
  wanted text[];
BEGIN
  -- Here, and not before the update, so that an illegal transition is refused as such.
  IF TG_OP = 'UPDATE' THEN
    IF OLD.state <> 'queued' AND NEW.send_deadline_at IS DISTINCT FROM OLD.send_deadline_at THEN
      RAISE EXCEPTION 'the send deadline of % % is set by its release', NEW.kind, NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  IF EXISTS (SELECT FROM payments p WHERE p.id = NEW.id
       AND p.state IN ('initiated', 'prompted', 'queued', 'released', 'reconciling')
       AND NOT EXISTS (SELECT FROM work w WHERE w.id = p.id AND w.task = 'workflow')) THEN
    RAISE EXCEPTION 'nobody would carry on with % %: it has no work', NEW.kind, NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF EXISTS (SELECT FROM payments p WHERE p.id = NEW.id AND p.state IN ('prompted', 'reconciling')
       AND NOT EXISTS (SELECT FROM work w WHERE w.id = p.id AND w.task = 'status_query')) THEN
    RAISE EXCEPTION 'nobody would ask the operator about % %: it has no status query', NEW.kind, NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' THEN
    IF NEW.state = 'succeeded'
       AND NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.collection_id AND state = 'reversed') THEN
      RAISE EXCEPTION 'reversal % succeeded but its collection is not reversed', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM events
      WHERE payment_id = NEW.id AND resource_version = NEW.version AND type = NEW.kind || '.' || NEW.state) THEN
    RAISE EXCEPTION '% % became % without an event', NEW.kind, NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'collection' THEN
    IF NEW.state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE payment_id = NEW.id AND kind = 'collection_paid') THEN
      RAISE EXCEPTION 'collection % succeeded without a transfer', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.state = 'reversed' AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE payment_id = NEW.id AND kind = 'collection_reversed') THEN
      RAISE EXCEPTION 'collection % was reversed without a transfer', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END IF;
  SELECT coalesce(array_agg(kind ORDER BY kind), '{}') INTO kinds FROM ledger_transfers WHERE payment_id = NEW.id;
  SELECT CASE state
      WHEN 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
      WHEN 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
      WHEN 'queued' THEN ARRAY['payout_held']
      WHEN 'released' THEN ARRAY['payout_held']
      WHEN 'reconciling' THEN ARRAY['payout_held']
      ELSE ARRAY['payout_held', 'payout_voided'] END
    INTO wanted FROM payments WHERE id = NEW.id;
  IF kinds <> wanted THEN
    RAISE EXCEPTION 'payout % is % but has the transfers %', NEW.id, NEW.state, kinds
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payments_check_recorded AFTER INSERT OR UPDATE OF state ON payments
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.version > 0 OR NEW.kind = 'payout') EXECUTE FUNCTION check_payment_recorded();
COMMENT ON TRIGGER payments_check_recorded ON payments IS
  'Refuses, at commit, a new payout without its event and its hold, a new state without its event, other transfers than those of '
  'the state, another send deadline than that of the release, a refund that succeeded and did not reverse its collection, a '
  'pending payment that changed and has no work, and one that the operator has and for which no status query is recorded.';

CREATE TRIGGER payments_note_created AFTER INSERT ON payments
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_state_change();
COMMENT ON TRIGGER payments_note_created ON payments IS 'Refuses nothing. It adds the new rows to state_changes.';

CREATE TRIGGER payments_note_changed AFTER UPDATE OF state ON payments
  FOR EACH ROW WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_state_change();
COMMENT ON TRIGGER payments_note_changed ON payments IS
  'Refuses nothing. It adds the change to state_changes, and one of the checkout that a collection pays.';
