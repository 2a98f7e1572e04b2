-- Indexes for two statements that read more with every day of operation.

-- The latest reversal of a collection, which every page of a collection shows.
CREATE INDEX reversals_of_a_collection ON reversals (collection_id, id DESC);
-- The endpoints whose deliveries are being retried, each in one step, to withhold what is owed to the disabled ones.
CREATE INDEX deliveries_retrying ON deliveries (endpoint_id) WHERE state = 'retrying';
