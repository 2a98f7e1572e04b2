-- What a merchant asked for stays as it was, to the last field, and what tells of it reaches nobody but that merchant.

CREATE OR REPLACE FUNCTION check_collection_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.idempotency_key, NEW.amount_minor, NEW.currency, NEW.reference, NEW.phone,
      NEW.operator, NEW.operator_reference, NEW.description, NEW.metadata::text, NEW.created_at, NEW.prompt_deadline_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.idempotency_key, OLD.amount_minor, OLD.currency, OLD.reference, OLD.phone,
      OLD.operator, OLD.operator_reference, OLD.description, OLD.metadata::text, OLD.created_at, OLD.prompt_deadline_at)
  THEN
    RAISE EXCEPTION 'what was asked for with collection % cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.operator_receipt)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.operator_receipt) THEN
      RAISE EXCEPTION 'collection % can change its outcome only with its state', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'collection % must count its state changes and name the state it left', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- Keys over (id, merchant_id) would say the same at the price of an index on each of the busiest tables.
CREATE FUNCTION check_event_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM collections WHERE id = NEW.collection_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'event % is for another merchant than its collection', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER events_check_made AFTER INSERT ON events
  FOR EACH ROW WHEN (NEW.collection_id IS NOT NULL) EXECUTE FUNCTION check_event_made();

CREATE FUNCTION check_delivery_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM events WHERE id = NEW.event_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'delivery % is for another merchant than its event', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER deliveries_check_made AFTER INSERT ON deliveries
  FOR EACH ROW EXECUTE FUNCTION check_delivery_made();
