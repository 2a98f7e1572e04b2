-- Breakers: whether an operator is called at all, for each of its products, by all processes together.

CREATE TABLE breakers (
  operator text COLLATE "C" NOT NULL,
  product text COLLATE "C" NOT NULL CONSTRAINT breakers_product CHECK (product IN ('collection', 'disbursement')),
  state text NOT NULL CONSTRAINT breakers_state CHECK (state IN ('closed', 'open', 'half_open')),
  cause text CONSTRAINT breakers_cause CHECK (cause IN ('account', 'busy', 'no_answer', 'staff')),
  reason text CONSTRAINT breakers_reason CHECK (length(reason) BETWEEN 1 AND 500),
  changed_at timestamptz NOT NULL,
  opened_at timestamptz,
  retry_at timestamptz,
  pauses integer NOT NULL DEFAULT 0 CONSTRAINT breakers_pauses CHECK (pauses >= 0),
  probes bigint NOT NULL DEFAULT 0,
  CONSTRAINT breakers_pkey PRIMARY KEY (operator, product),
  CONSTRAINT breakers_open CHECK (num_nulls(cause, reason, opened_at) = CASE state WHEN 'closed' THEN 3 ELSE 0 END),
  CONSTRAINT breakers_retry CHECK ((retry_at IS NULL) = (state = 'closed' OR cause = 'staff')),
  CONSTRAINT breakers_by_staff CHECK (state <> 'half_open' OR cause <> 'staff')
) WITH (fillfactor = 20);
COMMENT ON TABLE breakers IS
  'While a breaker is not closed, nobody sends a payment to this product of the operator or asks about one, except one call after each '
  'pause. No row: it never opened.';
COMMENT ON COLUMN breakers.state IS
  'open: nobody calls before `retry_at`. half_open: one call is in progress, and its answer closes or opens the breaker.';
COMMENT ON COLUMN breakers.cause IS
  'What the calls that opened it had in common. staff: a person opened it, and a person alone closes it.';
COMMENT ON COLUMN breakers.reason IS 'A status and a code of the operator, or the words of the staff. Merchants do not see it.';
COMMENT ON COLUMN breakers.opened_at IS
  'Since when the operator is not called as usual. The time stays while one pause follows another.';
COMMENT ON COLUMN breakers.retry_at IS
  'Open: the end of the pause. Half-open: when its one call counts as lost, because the process that makes it may have died.';
COMMENT ON COLUMN breakers.pauses IS 'How many pauses there were since the breaker opened: the next one is longer.';
COMMENT ON COLUMN breakers.probes IS
  'Numbers the single calls. Each records its answer under its number, so that one that was given up as lost changes nothing.';

CREATE FUNCTION check_breaker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the breaker of % lets one call through after a pause and no other', OLD.operator
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER breakers_check BEFORE UPDATE ON breakers
  FOR EACH ROW WHEN (NEW.operator <> OLD.operator OR NEW.product <> OLD.product OR NEW.probes < OLD.probes
    OR NEW.state = 'half_open' AND (OLD.state = 'closed' OR OLD.retry_at > clock_timestamp() OR NEW.probes <> OLD.probes + 1))
  EXECUTE FUNCTION check_breaker();
COMMENT ON TRIGGER breakers_check ON breakers IS
  'Refuses another operator or product, a number of calls that falls, and a call before the end of the pause or of the call before it, or '
  'under the number of another.';
