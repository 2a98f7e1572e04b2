-- Access tokens of operators, which all processes share: some operators end the older one when they give a new one.

CREATE TABLE operator_tokens (
  operator text COLLATE "C" NOT NULL,
  product text COLLATE "C" NOT NULL CONSTRAINT operator_tokens_product CHECK (product IN ('collection', 'disbursement')),
  number bigint NOT NULL CONSTRAINT operator_tokens_number CHECK (number >= 0),
  token_sealed text,
  renew_at timestamptz,
  renewing_until timestamptz,
  CONSTRAINT operator_tokens_pkey PRIMARY KEY (operator, product),
  CONSTRAINT operator_tokens_stored CHECK (num_nulls(token_sealed, renew_at) = CASE number WHEN 0 THEN 2 ELSE 0 END)
) WITH (fillfactor = 20);
COMMENT ON TABLE operator_tokens IS
  'The access token of each product of an operator. A process keeps what it read until the token is to be renewed or was refused.';
COMMENT ON COLUMN operator_tokens.number IS
  'Counts the renewals: a process that renews names the number that it replaces, so that it replaces no later token. 0: the first '
  'token is on its way.';
COMMENT ON COLUMN operator_tokens.token_sealed IS
  'Sealed for `operator.product.proposal`, the proposal of the credentials. It is not sealed again when keys change: one that cannot be opened is renewed.';
COMMENT ON COLUMN operator_tokens.renewing_until IS
  'Until this time one process asks the operator for a new token, and no other one does. If that process died, another one asks '
  'then.';

CREATE FUNCTION check_operator_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the token of % is replaced by the next one alone', OLD.operator USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER operator_tokens_check BEFORE UPDATE ON operator_tokens
  FOR EACH ROW WHEN (NEW.operator <> OLD.operator OR NEW.product <> OLD.product
    OR NEW.number <> OLD.number + (NEW.token_sealed IS DISTINCT FROM OLD.token_sealed)::int)
  EXECUTE FUNCTION check_operator_token();
COMMENT ON TRIGGER operator_tokens_check ON operator_tokens IS
  'Refuses another operator or product, and another token under the same number or the same token under another.';
