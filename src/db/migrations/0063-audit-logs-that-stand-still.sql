-- Nobody keeps audit entries from their link, or chains from their signature, without that being seen. Whoever links or signs locks
-- the row of the chain `service`: an advisory lock could be held by every account of the database, this one by the application's alone.
--
-- Rules that the database itself enforces here:
-- - When an entry began to wait for its link, and since when a chain has entries without a signature, is by the database's own clock,
--   and the application's account cannot change it. When a chain was last signed is what its heads say.
-- - A chain keeps its name and its row.
-- - An entry and a head have a time that every reader can show.

ALTER TABLE audit_entries_to_link ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();

ALTER TABLE audit_chains
  -- When the first of the entries that no head covers was linked; null: there are none.
  ADD COLUMN unsigned_since timestamptz;
UPDATE audit_chains SET unsigned_since = now() WHERE signed_position < position;
ALTER TABLE audit_chains DROP COLUMN signed_position, DROP COLUMN signed_at;
CREATE INDEX audit_chains_unsigned ON audit_chains (unsigned_since) WHERE unsigned_since IS NOT NULL;

CREATE FUNCTION note_unsigned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.unsigned_since := coalesce(OLD.unsigned_since, now());
  RETURN NEW;
END $$;
CREATE TRIGGER audit_chains_note_unsigned BEFORE UPDATE OF position ON audit_chains
  FOR EACH ROW EXECUTE FUNCTION note_unsigned();

CREATE FUNCTION note_signed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE audit_chains SET unsigned_since = NULL WHERE chain = NEW.chain AND position = NEW.position;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_heads_note_signed AFTER INSERT ON audit_heads FOR EACH ROW EXECUTE FUNCTION note_signed();

CREATE TRIGGER audit_chains_keep_name BEFORE UPDATE OF chain ON audit_chains
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_chains_kept BEFORE DELETE OR TRUNCATE ON audit_chains
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
INSERT INTO audit_chains (chain, position, hash) VALUES ('service', 0, decode(repeat('00', 32), 'hex'))
  ON CONFLICT DO NOTHING;

-- `infinity` is no date for those who link, verify and list.
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_created_at CHECK (created_at BETWEEN '2000-01-01Z' AND '9999-01-01Z');
ALTER TABLE audit_heads ADD CONSTRAINT audit_heads_signed_at CHECK (signed_at BETWEEN '2000-01-01Z' AND '9999-01-01Z');
