-- The time as of which each task of the service is done.

CREATE TABLE housekeeping (
  task text COLLATE "C" NOT NULL CONSTRAINT housekeeping_pkey PRIMARY KEY,
  done_as_of timestamptz NOT NULL,
  faults integer NOT NULL,
  CONSTRAINT housekeeping_faults CHECK (faults >= 0),
  CONSTRAINT housekeeping_task
    CHECK (task IN ('dispatch', 'status_queries', 'purge', 'recent_payments', 'ledger_check', 'whole_ledger_check', 'changed_payments'))
);
COMMENT ON TABLE housekeeping IS
  'Everything that was due at that time is done. The metrics read the row, because nothing else shows that a task no longer runs.';
COMMENT ON COLUMN housekeeping.task IS
  'The metrics show all but changed_payments: how far the ledger check came with payments that agree with their transfers.';
COMMENT ON COLUMN housekeeping.faults IS 'How many faults a check found.';

CREATE TRIGGER housekeeping_kept BEFORE DELETE OR TRUNCATE ON housekeeping
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER housekeeping_kept ON housekeeping IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_housekeeping() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'as of when % is done goes forward alone', OLD.task USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER housekeeping_check BEFORE UPDATE ON housekeeping
  FOR EACH ROW WHEN (NEW.task <> OLD.task OR NEW.done_as_of < OLD.done_as_of)
  EXECUTE FUNCTION check_housekeeping();
COMMENT ON TRIGGER housekeeping_check ON housekeeping IS 'Refuses to move the time of a task back.';
