-- The audit log. The log of each merchant is a hash chain: each entry is linked to the entry before it, soon after its
-- transaction, and the end of the chain is signed once a day with a key that this database does not hold.
-- - Every entry waits for its link from the moment when it is written. A link is in the chain of the merchant of its entry,
--   at the place after the last link.
-- - Triggers write audit_chains and audit_entries_to_link as the owner of the tables. The account of the application cannot
--   write them (`src/db/platform/access.ts`), so nobody keeps an entry without its link, or a chain without its signature, unnoticed.

CREATE TABLE audit_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  merchant_id text COLLATE "C" REFERENCES merchants,
  user_id text COLLATE "C" REFERENCES users,
  api_key_id text COLLATE "C" REFERENCES api_keys,
  staff_id text COLLATE "C",
  staff text,
  action text NOT NULL CHECK (length(action) BETWEEN 1 AND 100),
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  subject_id text COLLATE "C" CHECK (length(subject_id) <= 300),
  before json,
  after json,
  address inet,
  request_id text,
  created_at timestamptz NOT NULL,
  -- No foreign key: the log stays when the owner of the database replaces the staff.
  CONSTRAINT audit_entries_staff_form CHECK ((staff IS NULL) = (staff_id IS NULL)
    AND staff ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$' AND staff_id ~ '^stf_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  CONSTRAINT audit_entries_one_actor CHECK (staff IS NULL OR (user_id IS NULL AND api_key_id IS NULL)),
  -- The code that links, verifies and lists entries cannot read `infinity` as a date.
  CONSTRAINT audit_entries_created_at CHECK (created_at BETWEEN '2000-01-01Z' AND '9999-01-01Z')
);
COMMENT ON TABLE audit_entries IS 'Who did what, or was refused what, and when.';
COMMENT ON COLUMN audit_entries.staff_id IS
  'The person of the staff of the service who acted. Null: a person, an API key or the service by itself.';
COMMENT ON COLUMN audit_entries.staff IS 'The name of that person of the staff.';

CREATE INDEX audit_entries_list ON audit_entries (merchant_id, id DESC);
-- Counts the workflow runs that were replaced.
CREATE INDEX audit_entries_of_replacements ON audit_entries (id) WHERE action LIKE '%.workflow_replaced';
-- What the people of a merchant are told about recoveries when they log in.
CREATE INDEX audit_entries_recoveries ON audit_entries (merchant_id, id DESC) WHERE action LIKE 'recovery.%';
CREATE INDEX audit_entries_by_time ON audit_entries (merchant_id, created_at, id);
CREATE INDEX audit_entries_of_subject ON audit_entries (merchant_id, subject_id, created_at, id) WHERE subject_id IS NOT NULL;
CREATE INDEX audit_entries_of_person ON audit_entries (merchant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_entries_of_api_key ON audit_entries (merchant_id, api_key_id, created_at, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX audit_entries_of_action ON audit_entries (merchant_id, action, created_at, id);

CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER audit_entries_append_only ON audit_entries IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE FUNCTION queue_audit_link() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit_entries_to_link VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_entries_queue_link AFTER INSERT ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION queue_audit_link();
COMMENT ON TRIGGER audit_entries_queue_link ON audit_entries IS 'Refuses nothing. The entry waits for its link.';

CREATE TABLE audit_entries_to_link (
  entry_id bigint PRIMARY KEY REFERENCES audit_entries,
  queued_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE audit_entries_to_link IS
  'Entries without a link. Their order is that of their ids, and an entry whose transaction commits later is linked later.';
COMMENT ON COLUMN audit_entries_to_link.queued_at IS 'By the clock of the database.';

CREATE TABLE audit_chains (
  chain text COLLATE "C" PRIMARY KEY CHECK (chain = 'service' OR chain ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  position bigint NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  unsigned_since timestamptz
);
COMMENT ON TABLE audit_chains IS
  'The end of each chain. Entries that concern no merchant are in the chain `service`. A process that links or signs locks the '
  'row of `service`: every account of the database could hold an advisory lock, and only that of the application locks this row.';
COMMENT ON COLUMN audit_chains.position IS 'How many entries the chain has.';
COMMENT ON COLUMN audit_chains.hash IS 'The hash of the last entry. Zeros for an empty chain.';
COMMENT ON COLUMN audit_chains.unsigned_since IS
  'When the first of the entries that no head covers was linked, by the clock of the database. Null: there are none.';

CREATE INDEX audit_chains_unsigned ON audit_chains (unsigned_since) WHERE unsigned_since IS NOT NULL;

CREATE TRIGGER audit_chains_kept BEFORE UPDATE OF chain OR DELETE OR TRUNCATE ON audit_chains
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER audit_chains_kept ON audit_chains IS 'Refuses to rename a chain, to delete rows and to truncate.';

CREATE FUNCTION note_unsigned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.unsigned_since := coalesce(OLD.unsigned_since, now());
  RETURN NEW;
END $$;
CREATE TRIGGER audit_chains_note_unsigned BEFORE UPDATE OF position ON audit_chains
  FOR EACH ROW EXECUTE FUNCTION note_unsigned();
COMMENT ON TRIGGER audit_chains_note_unsigned ON audit_chains IS
  'Refuses nothing. It sets unsigned_since at the first entry that no head covers.';

INSERT INTO audit_chains (chain, position, hash) VALUES ('service', 0, decode(repeat('00', 32), 'hex'));

CREATE TABLE audit_links (
  chain text COLLATE "C" NOT NULL REFERENCES audit_chains,
  position bigint NOT NULL CHECK (position > 0),
  entry_id bigint NOT NULL UNIQUE REFERENCES audit_entries,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (chain, position)
);
COMMENT ON TABLE audit_links IS 'The place of an audit entry in its chain.';
COMMENT ON COLUMN audit_links.position IS 'From 1, without gaps.';

CREATE TRIGGER audit_links_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_links
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER audit_links_append_only ON audit_links IS 'Refuses every update, delete and truncate: rows are only added.';

-- The fixed path keeps a caller from substituting tables of its own.
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
COMMENT ON TRIGGER audit_links_append ON audit_links IS
  'Refuses a link in the chain of another merchant, and any place but the next. It moves the end of the chain.';

CREATE TABLE audit_heads (
  chain text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  signed_at timestamptz NOT NULL,
  key_name text NOT NULL,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  signature bytea NOT NULL CHECK (length(signature) = 64),
  PRIMARY KEY (chain, position),
  CONSTRAINT audit_heads_of_a_link FOREIGN KEY (chain, position) REFERENCES audit_links,
  CONSTRAINT audit_heads_signed_at CHECK (signed_at BETWEEN '2000-01-01Z' AND '9999-01-01Z')
);
COMMENT ON TABLE audit_heads IS 'A signature of the end of a chain.';

CREATE TRIGGER audit_heads_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TRIGGER audit_heads_append_only ON audit_heads IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE FUNCTION note_signed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE audit_chains SET unsigned_since = NULL WHERE chain = NEW.chain AND position = NEW.position;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_heads_note_signed AFTER INSERT ON audit_heads FOR EACH ROW EXECUTE FUNCTION note_signed();
COMMENT ON TRIGGER audit_heads_note_signed ON audit_heads IS
  'Refuses nothing. It clears unsigned_since where the head is at the end of the chain.';

CREATE TABLE refusal_counts (
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  action text NOT NULL,
  reason text NOT NULL,
  began_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  times integer NOT NULL,
  CONSTRAINT refusal_counts_pkey PRIMARY KEY (merchant_id, user_id, action, reason),
  CONSTRAINT refusal_counts_times CHECK (times > 0)
);
COMMENT ON TABLE refusal_counts IS
  'How often a person was refused within an hour. The first refusals of a kind have an entry each in the audit log; one later '
  'entry counts the others.';
COMMENT ON COLUMN refusal_counts.action IS 'The method and the route, as in the audit log.';
COMMENT ON COLUMN refusal_counts.times IS 'All refusals of the hour, including those with an entry of their own.';

CREATE INDEX refusal_counts_end ON refusal_counts (ends_at);
