-- How many calls to each operator all processes together were granted in one second.

CREATE TABLE call_grants (
  operator text COLLATE "C" NOT NULL CONSTRAINT call_grants_pkey PRIMARY KEY,
  second timestamptz NOT NULL,
  taken integer NOT NULL,
  CONSTRAINT call_grants_second CHECK (second = date_trunc('second', second)),
  CONSTRAINT call_grants_taken CHECK (taken >= 0)
) WITH (fillfactor = 20);
COMMENT ON TABLE call_grants IS
  'A process takes grants before it calls an operator. Grants that it does not use end with their second. The row is the limit '
  'that all processes share.';
COMMENT ON COLUMN call_grants.second IS 'By the clock of the database, which all processes share.';
COMMENT ON COLUMN call_grants.taken IS 'How many grants were taken in that second.';

CREATE FUNCTION check_call_grants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the calls of % that were granted in a second are not granted again', OLD.operator
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER call_grants_check BEFORE UPDATE ON call_grants
  FOR EACH ROW WHEN (NEW.operator <> OLD.operator OR NEW.second < OLD.second OR NEW.second = OLD.second AND NEW.taken < OLD.taken)
  EXECUTE FUNCTION check_call_grants();
COMMENT ON TRIGGER call_grants_check ON call_grants IS 'Refuses another operator, an earlier second, and fewer grants of one second.';
