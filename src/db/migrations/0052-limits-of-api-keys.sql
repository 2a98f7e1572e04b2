-- Until when, and from where, an API key works.
--
-- Rules that the database itself enforces here:
-- - A key that is created with the scope `payouts:write` ends, within 365 days of its creation. That it lives no longer by a
--   later change is a rule since 0006.
-- - A key is restricted to 1 to 20 blocks of addresses, or to none, and this never changes.
-- Keys from before this file keep the end that they have, or none. The server of the version before this one creates keys with
-- `payouts:write` only with a stated end while it still runs.

ALTER TABLE api_keys ADD COLUMN allowed_addresses cidr[],
  ADD CONSTRAINT api_keys_allowed_addresses
    CHECK (cardinality(allowed_addresses) BETWEEN 1 AND 20 AND array_position(allowed_addresses, NULL) IS NULL);

CREATE FUNCTION refuse_other_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the addresses of API key % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER api_keys_check_addresses BEFORE UPDATE ON api_keys
  FOR EACH ROW WHEN (NEW.allowed_addresses IS DISTINCT FROM OLD.allowed_addresses)
  EXECUTE FUNCTION refuse_other_addresses();

CREATE FUNCTION check_payout_key_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- In hours, because a day has 23 or 25 of them where clocks are changed.
  IF NEW.expires_at IS NULL OR NEW.expires_at > NEW.created_at + interval '8760 hours' THEN
    RAISE EXCEPTION 'API key % creates payouts, so it must end within 365 days', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER api_keys_check_payout_key_ends BEFORE INSERT ON api_keys
  FOR EACH ROW WHEN ('payouts:write' = ANY (NEW.scopes)) EXECUTE FUNCTION check_payout_key_ends();
