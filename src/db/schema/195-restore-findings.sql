-- What operators said in recovery about payments of a restored database: about each generation, and two beyond.

CREATE TABLE restore_findings (
  payment_id text COLLATE "C" NOT NULL CONSTRAINT restore_findings_payment REFERENCES payments,
  generation integer NOT NULL CONSTRAINT restore_findings_generation CHECK (generation >= 1),
  restore_id bigint NOT NULL CONSTRAINT restore_findings_restore REFERENCES restores,
  operator_reference uuid NOT NULL,
  said text NOT NULL CONSTRAINT restore_findings_said
    CHECK (said IN ('open', 'paid', 'returned', 'failed', 'not_found', 'unanswerable')),
  asked_at timestamptz NOT NULL,
  CONSTRAINT restore_findings_pkey PRIMARY KEY (payment_id, generation, restore_id)
);
COMMENT ON TABLE restore_findings IS
  'What an operator has under a reference that follows from a payment, asked before anything else may happen to the payment.';
COMMENT ON COLUMN restore_findings.said IS
  'unanswerable: the operator answers no question about a payment that was not recorded as sent. Nobody knows what it has.';

CREATE TRIGGER restore_findings_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON restore_findings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER restore_findings_kept ON restore_findings IS 'Refuses every update, delete and truncate: rows are only added.';
