-- Smaller indexes by which people find a payment by its idempotency key.
--
-- Merchants choose random keys, so a new payment goes to any place of an index over the keys of all payments ever, and each part of it
-- that is not in memory is read from the disk while somebody waits for the payment. A hash of the key takes 40 bytes of an index in the
-- place of 180, and is all that is compared: there is one payment of a key, or one for each time that it was used again after it had
-- expired, of all merchants that chose it. The hash is of the key in small letters: people search without regard to case, and who means
-- one key compares the key itself as well.
--
-- Rules that the database itself enforces here: none.
CREATE INDEX collections_by_idempotency_key ON collections USING hash (lower(idempotency_key));
CREATE INDEX payouts_by_idempotency_key ON payouts USING hash (lower(idempotency_key));
DROP INDEX collections_list_by_idempotency_key, payouts_list_by_idempotency_key;
