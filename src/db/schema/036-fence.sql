-- The fence: a counter that one process at a time writes every second. What it was is kept outside of the database as well, so that a
-- database which was set back is known: its counter is behind. Nothing is sent and no money moves without a fresh fence, nor in recovery.

CREATE TABLE fence (
  is_only boolean PRIMARY KEY DEFAULT true CONSTRAINT fence_one_row CHECK (is_only),
  counter bigint NOT NULL DEFAULT 0 CONSTRAINT fence_counter CHECK (counter >= 0),
  lasts interval NOT NULL DEFAULT '5 seconds' CONSTRAINT fence_lasts CHECK (lasts > '0 seconds'),
  writer uuid,
  written_at timestamptz,
  lsn pg_lsn,
  server_started_at timestamptz,
  system_identifier bigint,
  timeline integer,
  database_oid oid,
  CONSTRAINT fence_written
    CHECK (num_nulls(writer, written_at, lsn, server_started_at, system_identifier, timeline, database_oid) IN (0, 7))
) WITH (fillfactor = 20);
COMMENT ON TABLE fence IS 'The counter, and which database it was written to. One row.';
COMMENT ON COLUMN fence.counter IS 'Counts up with each write. 0: no process has written it.';
COMMENT ON COLUMN fence.lasts IS 'For so long after a write the fence is fresh. The owner of the database alone changes it.';
COMMENT ON COLUMN fence.writer IS 'The process that wrote it. Another one takes over when it stops.';
COMMENT ON COLUMN fence.lsn IS 'The position in the write-ahead log just before the write.';
COMMENT ON COLUMN fence.server_started_at IS
  'When PostgreSQL started. After another start nothing happens before a process has compared the fence with its markers.';
COMMENT ON COLUMN fence.system_identifier IS 'Which cluster PostgreSQL runs on. A database that was dumped and loaded is on another one.';
COMMENT ON COLUMN fence.timeline IS 'The timeline of the cluster. A restore from an archive begins another one, and so does a fail-over.';

INSERT INTO fence DEFAULT VALUES;

CREATE FUNCTION present_timeline() RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer
$$;

CREATE TRIGGER fence_kept BEFORE DELETE OR TRUNCATE ON fence
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER fence_kept ON fence IS 'Refuses to delete the row and to truncate.';

CREATE FUNCTION check_fence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the fence counts up with each write' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER fence_check BEFORE UPDATE ON fence
  FOR EACH ROW WHEN (NEW.counter <= OLD.counter) EXECUTE FUNCTION check_fence();
COMMENT ON TRIGGER fence_check ON fence IS 'Refuses a write that does not count up.';

CREATE TABLE restores (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  reason text NOT NULL CONSTRAINT restores_reason
    CHECK (reason IN ('behind', 'other_cluster', 'other_database', 'other_timeline', 'no_marker')),
  found_at timestamptz NOT NULL,
  counter bigint NOT NULL,
  written_at timestamptz,
  marker text CONSTRAINT restores_marker CHECK (marker IN ('file', 'memory', 'temporal')),
  marker_counter bigint,
  marker_written_at timestamptz,
  sessions_ended integer NOT NULL,
  opened_at timestamptz,
  proposal_id text COLLATE "C",
  CONSTRAINT restores_of_marker CHECK (num_nulls(marker, marker_counter, marker_written_at) IN (0, 3)),
  CONSTRAINT restores_behind CHECK (reason <> 'behind' OR marker_counter IS NOT NULL AND marker_counter > counter),
  CONSTRAINT restores_opened CHECK ((opened_at IS NULL) = (proposal_id IS NULL))
);
COMMENT ON TABLE restores IS
  'Each time the database was found to be older than a marker of its fence, or another one. The service is in recovery until two of the '
  'staff open it.';
COMMENT ON COLUMN restores.counter IS 'What the fence of the database was.';
COMMENT ON COLUMN restores.written_at IS 'What the database has ends here. Null: its fence was never written.';
COMMENT ON COLUMN restores.marker_written_at IS 'What is missing ends at most a few seconds after this time.';
COMMENT ON COLUMN restores.proposal_id IS
  'The proposal of one of the staff that another one confirmed. It may be gone, where the staff began again.';

CREATE TRIGGER restores_kept BEFORE DELETE OR TRUNCATE ON restores
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER restores_kept ON restores IS 'Refuses to delete rows and to truncate.';

CREATE FUNCTION check_restore() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.opened_at IS NOT NULL THEN
      RAISE EXCEPTION 'a restore that is found is not opened yet' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF to_jsonb(NEW) - '{opened_at,proposal_id}'::text[] IS DISTINCT FROM to_jsonb(OLD) - '{opened_at,proposal_id}'::text[]
     OR OLD.opened_at IS NOT NULL OR NEW.opened_at IS NULL THEN
    RAISE EXCEPTION 'what was found of restore % never changes, and it is opened once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  -- A later one may have been found since they agreed.
  IF NOT is_confirmed_by_staff(NEW.proposal_id, 'recovery_opening', 'restore', (SELECT max(id)::text FROM restores)) THEN
    RAISE EXCEPTION 'two of the staff open the service after restore %', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER restores_check BEFORE INSERT OR UPDATE ON restores
  FOR EACH ROW EXECUTE FUNCTION check_restore();
COMMENT ON TRIGGER restores_check ON restores IS
  'Refuses another change than that the service is opened, once, by two of the staff who agreed on the latest restore.';

-- Called for new payments. Within the second in which a database that was set back starts, nobody knows it.
CREATE FUNCTION require_known_database() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM restores WHERE opened_at IS NULL) THEN
    RAISE EXCEPTION 'in recovery: nothing is requested, sent, decided or posted'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fence_open';
  END IF;
  IF NOT EXISTS (SELECT FROM fence WHERE server_started_at = pg_postmaster_start_time()) THEN
    RAISE EXCEPTION 'nobody has compared the database with its markers since PostgreSQL started'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fence_fresh';
  END IF;
END $$;

-- Called by the triggers through which money moves.
CREATE FUNCTION require_fence() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM require_known_database();
  -- A clock that was set back makes the last write a later one.
  IF NOT EXISTS (SELECT FROM fence
       WHERE clock_timestamp() - written_at BETWEEN -lasts AND lasts AND timeline = present_timeline()) THEN
    RAISE EXCEPTION 'the fence is not fresh: nothing is sent, decided or posted'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fence_fresh';
  END IF;
END $$;
