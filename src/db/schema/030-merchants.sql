-- Merchants. Each has one currency.

CREATE TABLE currencies (
  code text PRIMARY KEY CONSTRAINT currencies_code CHECK (code ~ '^[A-Z]{3}$'),
  exponent smallint NOT NULL CONSTRAINT currencies_exponent CHECK (exponent BETWEEN 0 AND 4)
);
COMMENT ON TABLE currencies IS 'The currencies of src/domain/money.ts, for the check of the database and for reports. A test holds the two equal.';
COMMENT ON COLUMN currencies.exponent IS
  'An amount in the smallest unit is this power of ten as many as in whole units: 1050 is 10.50 KES, whose exponent is 2.';

INSERT INTO currencies (code, exponent) VALUES
  ('UGX', 0), ('RWF', 0), ('XOF', 0), ('XAF', 0), ('KES', 2), ('GHS', 2), ('ZMW', 2), ('TZS', 2), ('NGN', 2), ('MWK', 2),
  ('CDF', 2), ('USD', 2), ('ETB', 2), ('MZN', 2), ('SZL', 2), ('LRD', 2), ('GNF', 0), ('MGA', 0), ('SCR', 2);

CREATE TABLE merchants (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency text NOT NULL REFERENCES currencies,
  created_at timestamptz NOT NULL,
  UNIQUE (id, currency)
);
COMMENT ON TABLE merchants IS 'A business that takes and makes payments.';
