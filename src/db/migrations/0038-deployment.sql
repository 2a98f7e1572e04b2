-- Which environment this database is for. The account that owns it writes it once, at the first migration; a server of another
-- environment does not start on it.
--
-- - There is one row at most, and it never changes.
-- - A database whose keys are all of one environment is of that environment.

CREATE TABLE deployment (
  is_only boolean PRIMARY KEY DEFAULT true CONSTRAINT deployment_one_row CHECK (is_only),
  environment text NOT NULL CONSTRAINT deployment_environment CHECK (environment IN ('test', 'live')),
  stamped_at timestamptz NOT NULL
);
CREATE TRIGGER deployment_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON deployment
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

INSERT INTO deployment (environment, stamped_at)
  SELECT min(environment), now() FROM api_keys HAVING count(DISTINCT environment) = 1;
