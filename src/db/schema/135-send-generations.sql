-- Later generations of payouts: the operator refused the generation before for our float, so the payout is sent again under another
-- reference. The row of the payment has the progress of its current generation alone, and begins each generation once.

CREATE TABLE send_generations (
  payment_id text COLLATE "C" NOT NULL REFERENCES payments,
  generation integer NOT NULL CONSTRAINT send_generations_later CHECK (generation >= 2),
  operator_reference uuid NOT NULL UNIQUE,
  failure_code text NOT NULL CONSTRAINT send_generations_failure CHECK (length(failure_code) BETWEEN 1 AND 40),
  recorded_at timestamptz NOT NULL,
  send_after timestamptz NOT NULL,
  attestation text NOT NULL CONSTRAINT send_generations_attestation CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'),
  PRIMARY KEY (payment_id, generation),
  CONSTRAINT send_generations_pause CHECK (send_after >= recorded_at)
);
COMMENT ON TABLE send_generations IS
  'Each generation of a payout after the first, recorded before it is sent. The operator refused the generation before for our float, '
  'with the evidence by which the payout would otherwise have failed.';
COMMENT ON COLUMN send_generations.operator_reference IS
  'Under which the operator gets this generation. It follows from the first reference of the payment and the number.';
COMMENT ON COLUMN send_generations.failure_code IS 'Why the operator refused the generation before.';
COMMENT ON COLUMN send_generations.attestation IS
  'Made by the process that had the refusal. Without it nothing is sent, and no status of the payout frees its money.';

CREATE TRIGGER send_generations_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON send_generations
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER send_generations_kept ON send_generations IS 'Refuses to change, to delete and to truncate.';

CREATE FUNCTION check_send_generation() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM require_fence();
  IF NOT EXISTS (SELECT FROM payments p WHERE p.id = NEW.payment_id AND p.kind = 'payout' AND p.state = 'released'
       AND p.send_begun_at IS NOT NULL AND p.send_generation = NEW.generation - 1 AND NEW.recorded_at < p.send_deadline_at)
     OR EXISTS (SELECT FROM payments p WHERE p.operator_reference = NEW.operator_reference) THEN
    RAISE EXCEPTION 'generation % of % does not follow a send of a payout that may still be sent, or has the reference of a payment',
      NEW.generation, NEW.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER send_generations_check BEFORE INSERT ON send_generations
  FOR EACH ROW EXECUTE FUNCTION check_send_generation();
COMMENT ON TRIGGER send_generations_check ON send_generations IS
  'Refuses a generation but the next one of a released payout whose current generation was sent, before its send deadline, one with '
  'the reference of a payment, and any without a fresh fence.';
