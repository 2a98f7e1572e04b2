-- Rules that several tables share.
-- The files of this folder are the whole schema, one for each noun, in the order in which they are applied. A rule that money
-- depends on is a constraint or a trigger here, below all code, so that nobody can write a wrong row; `test/db/rules.test.ts`
-- tries to break each rule. The comments of tables, columns and triggers are in the catalogue too. CONTRIBUTING.md says how
-- the schema is changed.

COMMENT ON TABLE schema_migrations IS
  'The files that were applied to this database, each with its checksum. The migration creates the table.';
COMMENT ON COLUMN schema_migrations.oldest_servers IS
  'The oldest servers that may run on the database with the file of this row: those that know the schema up to the named file. '
  'Null: those that know the file of this row.';

-- Refuses every statement for which a trigger runs it: updates, deletes or truncates of tables that keep their rows.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is not allowed on %', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Rows that say who may do what, and checkpoints of the ledger, carry an attestation. The process that writes a row makes the
-- attestation with a key that the database does not have (MALIPO_ATTESTATION_KEYS), and it is empty until then. A row without
-- its attestation lets nobody in and gives nobody a right. An attestation says that a row is genuine, and not that no row is
-- missing: such a row keeps its place.

-- Attestations are numbered, so that nobody can restore an earlier version of a row.
CREATE FUNCTION number_of_attestation(attestation text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(substring(attestation FROM '^([1-9][0-9]{0,17})[.]'), '0')::bigint
$$;

CREATE FUNCTION refuse_older_attestation(relation name, before text, after text) RETURNS void
  LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF after <> before AND number_of_attestation(after) <= number_of_attestation(before) THEN
    RAISE EXCEPTION 'another attestation of a row of % has a greater number', relation USING ERRCODE = 'restrict_violation';
  END IF;
END $$;

-- For an attested table without other rules for its rows. The arguments are the columns that identify a row.
CREATE FUNCTION check_attested_row() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  FOR i IN 0 .. TG_NARGS - 1 LOOP
    IF to_jsonb(NEW) -> TG_ARGV[i] <> to_jsonb(OLD) -> TG_ARGV[i] THEN
      RAISE EXCEPTION 'the % of a row of % never changes', TG_ARGV[i], TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
  END LOOP;
  RETURN NEW;
END $$;
