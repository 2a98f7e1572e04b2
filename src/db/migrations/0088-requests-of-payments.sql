-- The request that made each payment, by which its whole story is found in the log.
--
-- Rules that the database itself enforces here:
-- - The request that made a payment never changes. Of payments of before it is not known.

ALTER TABLE collections ADD COLUMN request_id text COLLATE "C";
ALTER TABLE payouts ADD COLUMN request_id text COLLATE "C";
ALTER TABLE reversals ADD COLUMN request_id text COLLATE "C";
-- That of its payment, so that an attempt to deliver it reads no other table. Null: it is about an endpoint.
ALTER TABLE events ADD COLUMN request_id text COLLATE "C";

CREATE FUNCTION refuse_other_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the request that made a row of % cannot change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
-- The service never writes these columns again, so this costs no change of a payment anything.
CREATE TRIGGER collections_request_stays BEFORE UPDATE OF request_id ON collections
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_request();
CREATE TRIGGER payouts_request_stays BEFORE UPDATE OF request_id ON payouts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_request();
CREATE TRIGGER reversals_request_stays BEFORE UPDATE OF request_id ON reversals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_request();
