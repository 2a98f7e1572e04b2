-- Who created a collection, and the indexes by which people list, search and judge payments.
--
-- Rules that the database itself enforces here:
-- - A collection was created by a person or with an API key of its own merchant, and that never changes. Of collections of
--   before, neither is known.

ALTER TABLE collections
  -- The person who requested it in a session.
  ADD COLUMN created_by text COLLATE "C",
  ADD COLUMN api_key_id text COLLATE "C",
  ADD CONSTRAINT collections_created_by_one CHECK (created_by IS NULL OR api_key_id IS NULL);

-- Foreign keys would say the same, at the price of a lock on the one row of a key for each collection that it creates. Members and
-- keys are never deleted.
CREATE OR REPLACE FUNCTION check_collection_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'initiated' THEN
    RAISE EXCEPTION 'collection % must be created in state initiated', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.created_by IS NOT NULL
     AND NOT EXISTS (SELECT FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.created_by)
     OR NEW.api_key_id IS NOT NULL
     AND NOT EXISTS (SELECT FROM api_keys WHERE id = NEW.api_key_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'collection % was created by nobody of its merchant', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION refuse_other_creator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'who created a collection cannot change' USING ERRCODE = 'restrict_violation';
END $$;
-- The service never writes these columns again, so this costs no change of a collection anything.
CREATE TRIGGER collections_creator_stays BEFORE UPDATE OF created_by, api_key_id ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_creator();

CREATE INDEX collections_list_by_idempotency_key ON collections (merchant_id, idempotency_key, id DESC);
CREATE INDEX collections_list_by_amount ON collections (merchant_id, amount_minor, id);
CREATE INDEX collections_list_by_person ON collections (merchant_id, created_by, id DESC) WHERE created_by IS NOT NULL;
CREATE INDEX collections_list_by_api_key ON collections (merchant_id, api_key_id, id DESC) WHERE api_key_id IS NOT NULL;
CREATE INDEX payouts_list_by_idempotency_key ON payouts (merchant_id, idempotency_key, id DESC);
CREATE INDEX payouts_list_by_amount ON payouts (merchant_id, amount_minor, id);
CREATE INDEX payouts_list_by_person ON payouts (merchant_id, created_by, id DESC);
CREATE INDEX payouts_list_by_api_key ON payouts (merchant_id, api_key_id, id DESC) WHERE api_key_id IS NOT NULL;

-- Those of before found a reference only as a whole and as it is written; these find its beginning too, in capitals or not.
DROP INDEX collections_list_by_reference, payouts_list_by_reference;
CREATE INDEX collections_list_by_reference ON collections (merchant_id, lower(reference) text_pattern_ops, id DESC);
CREATE INDEX payouts_list_by_reference ON payouts (merchant_id, lower(reference) text_pattern_ops, id DESC);

-- What an approver is shown of earlier payouts: those that are paid or on their way.
CREATE INDEX payouts_sent_by_phone ON payouts (merchant_id, phone, id DESC)
  WHERE state IN ('released', 'reconciling', 'succeeded', 'reversed');
CREATE INDEX payouts_sent_by_reference ON payouts (merchant_id, reference, id DESC)
  WHERE state IN ('released', 'reconciling', 'succeeded', 'reversed');
