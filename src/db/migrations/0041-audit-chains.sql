-- The audit log of each merchant is a hash chain: each entry is linked to the one before it, soon after its transaction, and
-- the end of the chain is signed once a day with a key that this database does not hold.
--
-- Rules that the database itself enforces here:
-- - Every entry waits for its link from the moment when it is there.
-- - Links and signed heads are append-only, an entry has one link, and a head is the head of a link.

-- The end of each chain. What concerns no merchant is in the chain `service`.
CREATE TABLE audit_chains (
  chain text COLLATE "C" PRIMARY KEY CHECK (chain = 'service' OR chain ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  -- How many entries it has.
  position bigint NOT NULL,
  -- That of the last entry; zeros for an empty chain.
  hash bytea NOT NULL CHECK (length(hash) = 32),
  signed_position bigint NOT NULL DEFAULT 0,
  signed_at timestamptz,
  CONSTRAINT audit_chains_signed_to_its_end CHECK (signed_position BETWEEN 0 AND position)
);
CREATE INDEX audit_chains_unsigned ON audit_chains (signed_at) WHERE signed_position < position;

CREATE TABLE audit_links (
  chain text COLLATE "C" NOT NULL REFERENCES audit_chains,
  -- From 1, without gaps.
  position bigint NOT NULL CHECK (position > 0),
  entry_id bigint NOT NULL UNIQUE REFERENCES audit_entries,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (chain, position)
);
CREATE TRIGGER audit_links_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_links
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE audit_heads (
  chain text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  signed_at timestamptz NOT NULL,
  key_name text NOT NULL,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  signature bytea NOT NULL CHECK (length(signature) = 64),
  PRIMARY KEY (chain, position),
  CONSTRAINT audit_heads_of_a_link FOREIGN KEY (chain, position) REFERENCES audit_links
);
CREATE TRIGGER audit_heads_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Entries without a link. Their order is that of their ids, and an entry whose transaction commits later is linked later.
CREATE TABLE audit_entries_to_link (
  entry_id bigint PRIMARY KEY REFERENCES audit_entries
);
INSERT INTO audit_entries_to_link SELECT id FROM audit_entries;

CREATE FUNCTION queue_audit_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_entries_to_link VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_entries_queue_link AFTER INSERT ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION queue_audit_link();
