-- The environment of the database. A server of another environment does not start on it.

CREATE TABLE deployment (
  is_only boolean PRIMARY KEY DEFAULT true CONSTRAINT deployment_one_row CHECK (is_only),
  environment text NOT NULL CONSTRAINT deployment_environment CHECK (environment IN ('test', 'live')),
  stamped_at timestamptz NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid()
);
COMMENT ON TABLE deployment IS
  'The environment of the database. The owner of the database writes the one row at the first migration.';
COMMENT ON COLUMN deployment.id IS 'By which what is kept outside of the database names it: another database has another one.';

CREATE TRIGGER deployment_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON deployment
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER deployment_kept ON deployment IS 'Refuses every update, delete and truncate: rows are only added.';

-- A database that is not stamped with an environment counts as live.
CREATE FUNCTION is_live() RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN coalesce((SELECT environment FROM deployment), 'live') = 'live';
END $$;
