-- An audit chain holds the entries of its own merchant, and grows at its end alone, whoever writes the links.
--
-- Rules that the database itself enforces here:
-- - A link is in the chain of its entry's merchant, at the place after the last one.
-- - A chain begins and ends with its links, and an entry waits until it has its link: the triggers here write both tables, as the
--   owner, and the application's account has no right to (`src/db/platform/access.ts`).

-- The fixed path keeps a caller from putting tables of its own in the place of these.
CREATE FUNCTION append_audit_link() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM audit_entries WHERE id = NEW.entry_id AND coalesce(merchant_id, 'service') <> NEW.chain) THEN
    RAISE EXCEPTION 'audit entry % is not of the log %', NEW.entry_id, NEW.chain USING ERRCODE = 'restrict_violation';
  END IF;
  INSERT INTO audit_chains (chain, position, hash) VALUES (NEW.chain, 0, decode(repeat('00', 32), 'hex'))
    ON CONFLICT DO NOTHING;
  UPDATE audit_chains SET position = NEW.position, hash = NEW.hash WHERE chain = NEW.chain AND position = NEW.position - 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'place % of the log % is not the next', NEW.position, NEW.chain USING ERRCODE = 'restrict_violation';
  END IF;
  DELETE FROM audit_entries_to_link WHERE entry_id = NEW.entry_id;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_links_append BEFORE INSERT ON audit_links FOR EACH ROW EXECUTE FUNCTION append_audit_link();

ALTER FUNCTION queue_audit_link() SECURITY DEFINER SET search_path = public, pg_temp;
