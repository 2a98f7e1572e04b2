-- What is checked of a new collection beyond its own columns, checked once for each statement and not by a call for each row: many
-- collections are accepted by one statement.
--
-- Rules that the database itself enforces here:
-- - As before: a collection is created in state initiated, by a person or with an API key of its own merchant.

CREATE OR REPLACE FUNCTION check_collection_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'collection % must be created in state initiated', NEW.id USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER collections_check_created ON collections;
CREATE TRIGGER collections_check_created BEFORE INSERT ON collections
  FOR EACH ROW WHEN (NEW.state <> 'initiated') EXECUTE FUNCTION check_collection_created();

CREATE FUNCTION check_creators_of_collections() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  wrong_id text;
BEGIN
  -- Members and keys are looked up for each row, however many there are: the planner cannot make a scan of it.
  SELECT id INTO wrong_id FROM created
    WHERE created_by IS NOT NULL
          AND (SELECT m.user_id FROM members m WHERE m.merchant_id = created.merchant_id AND m.user_id = created.created_by) IS NULL
       OR api_key_id IS NOT NULL
          AND (SELECT k.merchant_id FROM api_keys k WHERE k.id = created.api_key_id) IS DISTINCT FROM created.merchant_id
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'collection % was created by nobody of its merchant', wrong_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER collections_check_creator AFTER INSERT ON collections
  REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION check_creators_of_collections();
