-- Merchants. Each has one currency.

CREATE TABLE merchants (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz NOT NULL,
  UNIQUE (id, currency)
);
COMMENT ON TABLE merchants IS 'A business that takes and makes payments.';
