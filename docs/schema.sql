-- Generated from a new database by `npm run docs`; do not edit. The sources are the files of src/db/schema.

CREATE TABLE api_key_uses (
  api_key_id text COLLATE "C" NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (api_key_id),
  CONSTRAINT api_key_uses_api_key_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id)
);
CREATE TRIGGER api_key_uses_check BEFORE UPDATE ON api_key_uses FOR EACH ROW WHEN (new.api_key_id <> old.api_key_id OR old.last_used_at IS NOT NULL AND new.last_used_at IS NULL) EXECUTE FUNCTION check_api_key_use();
CREATE TRIGGER api_key_uses_kept BEFORE DELETE OR TRUNCATE ON api_key_uses FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE api_key_uses IS 'When each API key was last used. The row is separate, so that the row of a key changes with the key alone, and a process that relies on the version of that row need not verify the key again after each use.';
COMMENT ON TRIGGER api_key_uses_check ON api_key_uses IS 'Refuses to clear the last use, and to change the key of the row.';
COMMENT ON TRIGGER api_key_uses_kept ON api_key_uses IS 'Refuses to delete rows and to truncate.';

CREATE TABLE api_keys (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  environment text NOT NULL,
  hint text NOT NULL,
  key_sha256 bytea NOT NULL,
  scopes text[] NOT NULL,
  allowed_addresses cidr[],
  created_by text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  replaced_by text COLLATE "C",
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_key_sha256_key UNIQUE (key_sha256),
  CONSTRAINT api_keys_created_by_member FOREIGN KEY (merchant_id, created_by) REFERENCES members(merchant_id, user_id),
  CONSTRAINT api_keys_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT api_keys_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES api_keys(id),
  CONSTRAINT api_keys_allowed_addresses CHECK (cardinality(allowed_addresses) >= 1 AND cardinality(allowed_addresses) <= 20 AND array_position(allowed_addresses, NULL::cidr) IS NULL),
  CONSTRAINT api_keys_environment_check CHECK (environment = ANY (ARRAY['test'::text, 'live'::text])),
  CONSTRAINT api_keys_hint_check CHECK (length(hint) = 4),
  CONSTRAINT api_keys_id_check CHECK (id ~ '^key_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT api_keys_key_sha256_check CHECK (length(key_sha256) = 32),
  CONSTRAINT api_keys_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  CONSTRAINT api_keys_payouts_have_a_maker CHECK (created_by IS NOT NULL OR NOT ('payouts:write'::text = ANY (scopes))),
  CONSTRAINT api_keys_scopes_check CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['collections:read'::text, 'collections:write'::text, 'payouts:read'::text, 'payouts:write'::text, 'balance:read'::text])
);
CREATE INDEX api_keys_merchant ON api_keys USING btree (merchant_id, id DESC);
CREATE TRIGGER api_keys_add_use AFTER INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION add_api_key_use();
CREATE TRIGGER api_keys_check BEFORE INSERT OR UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION check_api_key();
CREATE TRIGGER api_keys_kept BEFORE DELETE OR TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE api_keys IS 'A secret with which the server of a merchant calls the API. Only its digest is stored.';
COMMENT ON COLUMN api_keys.allowed_addresses IS 'The blocks of addresses from which the key works. Null: all addresses.';
COMMENT ON COLUMN api_keys.created_by IS 'The maker of the payouts that are created with the key.';
COMMENT ON COLUMN api_keys.replaced_by IS 'The key that a rotation created in its place.';
COMMENT ON TRIGGER api_keys_add_use ON api_keys IS 'Refuses nothing. It adds the row of api_key_uses.';
COMMENT ON TRIGGER api_keys_check ON api_keys IS 'Refuses a key that creates payouts and does not end within 365 days, to change what a key was created for or the addresses that it works from, to let it live longer, to replace it twice or by the key of another merchant, and an attestation whose number is not greater than that of the row.';
COMMENT ON TRIGGER api_keys_kept ON api_keys IS 'Refuses to delete rows and to truncate.';

CREATE TABLE api_requests (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" NOT NULL,
  method text NOT NULL,
  route text NOT NULL,
  path text NOT NULL,
  status integer NOT NULL,
  error_code text,
  duration_ms integer NOT NULL,
  address inet,
  idempotency_key text,
  is_repeat boolean NOT NULL,
  object_id text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT api_requests_pkey PRIMARY KEY (id),
  CONSTRAINT api_requests_id_check CHECK (length(id) = 30 AND id ~ '^req_[0-7][0-9a-hjkmnp-tv-z]+$'::text)
);
CREATE INDEX api_requests_age ON api_requests USING btree (created_at);
CREATE INDEX api_requests_list ON api_requests USING btree (merchant_id, id DESC);
CREATE INDEX api_requests_list_by_key ON api_requests USING btree (merchant_id, api_key_id, id DESC);
CREATE INDEX api_requests_list_by_route ON api_requests USING btree (merchant_id, route, method, id DESC);
CREATE INDEX api_requests_list_of_failed ON api_requests USING btree (merchant_id, id DESC) WHERE status >= 400;
CREATE INDEX api_requests_list_of_object ON api_requests USING btree (merchant_id, object_id, id DESC) WHERE object_id IS NOT NULL;
COMMENT ON TABLE api_requests IS 'The request log, without bodies, queries and headers, which hold phone numbers and secrets. Rows are written in batches after the responses. Some may be missing, which the metrics count.';
COMMENT ON COLUMN api_requests.route IS 'The path with names instead of ids.';
COMMENT ON COLUMN api_requests.path IS 'As it was sent, without the query.';
COMMENT ON COLUMN api_requests.is_repeat IS 'The response was the stored response of an earlier request.';
COMMENT ON COLUMN api_requests.object_id IS 'The object that the request concerned or created.';

CREATE TABLE approvals (
  payment_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  approved_at timestamp with time zone NOT NULL,
  attestation text NOT NULL,
  withdrawn_at timestamp with time zone,
  CONSTRAINT approvals_pkey PRIMARY KEY (payment_id, user_id, approved_at),
  CONSTRAINT approvals_merchant_id_user_id_fkey FOREIGN KEY (merchant_id, user_id) REFERENCES members(merchant_id, user_id),
  CONSTRAINT approvals_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT approvals_attestation_check CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'::text)
);
CREATE INDEX approvals_by_person ON approvals USING btree (merchant_id, user_id, approved_at);
CREATE UNIQUE INDEX approvals_one_standing ON approvals USING btree (payment_id, user_id) WHERE withdrawn_at IS NULL;
CREATE TRIGGER approvals_check BEFORE INSERT OR UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION check_approval();
CREATE TRIGGER approvals_check_daily_limit AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION check_daily_limit();
CREATE TRIGGER approvals_kept BEFORE DELETE OR TRUNCATE ON approvals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE approvals IS 'An approval of a payout or refund by one person.';
COMMENT ON COLUMN approvals.attestation IS 'Made by the process that records the approval.';
COMMENT ON COLUMN approvals.withdrawn_at IS 'A withdrawn approval releases nothing, and takes nothing of the daily limit.';
COMMENT ON TRIGGER approvals_check ON approvals IS 'Refuses an approval of a payment that is not queued or has expired, by its maker, by somebody who is no owner or approver, and by a person in their waiting time; and every change but one withdrawal while the payment is queued.';
COMMENT ON TRIGGER approvals_check_daily_limit ON approvals IS 'Refuses an approval beyond the daily limit of the person. It adds a row to state_changes, for pages that show the payment.';
COMMENT ON TRIGGER approvals_kept ON approvals IS 'Refuses to delete rows and to truncate.';

CREATE TABLE attempt_counters (
  subject text COLLATE "C" NOT NULL,
  failures integer NOT NULL,
  window_ends_at timestamp with time zone NOT NULL,
  CONSTRAINT attempt_counters_pkey PRIMARY KEY (subject),
  CONSTRAINT attempt_counters_failures_check CHECK (failures >= 0),
  CONSTRAINT attempt_counters_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 100)
);
CREATE INDEX attempt_counters_age ON attempt_counters USING btree (window_ends_at);
COMMENT ON TABLE attempt_counters IS 'Failed authentication attempts by account and by address. The subject is a digest or an address, so that a password typed into the wrong field is stored nowhere.';

CREATE TABLE audit_chains (
  chain text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  hash bytea NOT NULL,
  unsigned_since timestamp with time zone,
  CONSTRAINT audit_chains_pkey PRIMARY KEY (chain),
  CONSTRAINT audit_chains_chain_check CHECK (chain = 'service'::text OR chain ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT audit_chains_hash_check CHECK (length(hash) = 32)
);
CREATE INDEX audit_chains_unsigned ON audit_chains USING btree (unsigned_since) WHERE unsigned_since IS NOT NULL;
CREATE TRIGGER audit_chains_kept BEFORE DELETE OR UPDATE OF chain OR TRUNCATE ON audit_chains FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_chains_note_unsigned BEFORE UPDATE OF "position" ON audit_chains FOR EACH ROW EXECUTE FUNCTION note_unsigned();
COMMENT ON TABLE audit_chains IS 'The end of each chain. Entries that concern no merchant are in the chain `service`. A process that links or signs locks the row of `service`: every account of the database could hold an advisory lock, and only that of the application locks this row.';
COMMENT ON COLUMN audit_chains."position" IS 'How many entries the chain has.';
COMMENT ON COLUMN audit_chains.hash IS 'The hash of the last entry. Zeros for an empty chain.';
COMMENT ON COLUMN audit_chains.unsigned_since IS 'When the first of the entries that no head covers was linked, by the clock of the database. Null: there are none.';
COMMENT ON TRIGGER audit_chains_kept ON audit_chains IS 'Refuses to rename a chain, to delete rows and to truncate.';
COMMENT ON TRIGGER audit_chains_note_unsigned ON audit_chains IS 'Refuses nothing. It sets unsigned_since at the first entry that no head covers.';

CREATE TABLE audit_entries (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  merchant_id text COLLATE "C",
  user_id text COLLATE "C",
  api_key_id text COLLATE "C",
  staff_id text COLLATE "C",
  staff text,
  action text NOT NULL,
  outcome text NOT NULL,
  subject_id text COLLATE "C",
  before json,
  after json,
  address inet,
  request_id text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (id),
  CONSTRAINT audit_entries_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  CONSTRAINT audit_entries_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT audit_entries_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT audit_entries_action_check CHECK (length(action) >= 1 AND length(action) <= 100),
  CONSTRAINT audit_entries_created_at CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at <= '9999-01-01 00:00:00+00'::timestamp with time zone),
  CONSTRAINT audit_entries_one_actor CHECK (staff IS NULL OR user_id IS NULL AND api_key_id IS NULL),
  CONSTRAINT audit_entries_outcome_check CHECK (outcome = ANY (ARRAY['done'::text, 'refused'::text])),
  CONSTRAINT audit_entries_staff_form CHECK ((staff IS NULL) = (staff_id IS NULL) AND staff ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$'::text AND staff_id ~ '^stf_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT audit_entries_subject_id_check CHECK (length(subject_id) <= 300)
);
CREATE INDEX audit_entries_by_time ON audit_entries USING btree (merchant_id, created_at, id);
CREATE INDEX audit_entries_list ON audit_entries USING btree (merchant_id, id DESC);
CREATE INDEX audit_entries_of_action ON audit_entries USING btree (merchant_id, action, created_at, id);
CREATE INDEX audit_entries_of_api_key ON audit_entries USING btree (merchant_id, api_key_id, created_at, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX audit_entries_of_person ON audit_entries USING btree (merchant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_entries_of_replacements ON audit_entries USING btree (id) WHERE action ~~ '%.workflow_replaced'::text;
CREATE INDEX audit_entries_of_subject ON audit_entries USING btree (merchant_id, subject_id, created_at, id) WHERE subject_id IS NOT NULL;
CREATE INDEX audit_entries_recoveries ON audit_entries USING btree (merchant_id, id DESC) WHERE action ~~ 'recovery.%'::text;
CREATE TRIGGER audit_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_queue_link AFTER INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION queue_audit_link();
COMMENT ON TABLE audit_entries IS 'Who did what, or was refused what, and when.';
COMMENT ON COLUMN audit_entries.staff_id IS 'The person of the staff of the service who acted. Null: a person, an API key or the service by itself.';
COMMENT ON COLUMN audit_entries.staff IS 'The name of that person of the staff.';
COMMENT ON TRIGGER audit_entries_append_only ON audit_entries IS 'Refuses every update, delete and truncate: rows are only added.';
COMMENT ON TRIGGER audit_entries_queue_link ON audit_entries IS 'Refuses nothing. The entry waits for its link.';

CREATE TABLE audit_entries_to_link (
  entry_id bigint NOT NULL,
  queued_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT audit_entries_to_link_pkey PRIMARY KEY (entry_id),
  CONSTRAINT audit_entries_to_link_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES audit_entries(id)
);
COMMENT ON TABLE audit_entries_to_link IS 'Entries without a link. Their order is that of their ids, and an entry whose transaction commits later is linked later.';
COMMENT ON COLUMN audit_entries_to_link.queued_at IS 'By the clock of the database.';

CREATE TABLE audit_heads (
  chain text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  hash bytea NOT NULL,
  signed_at timestamp with time zone NOT NULL,
  key_name text NOT NULL,
  public_key bytea NOT NULL,
  signature bytea NOT NULL,
  CONSTRAINT audit_heads_pkey PRIMARY KEY (chain, "position"),
  CONSTRAINT audit_heads_of_a_link FOREIGN KEY (chain, "position") REFERENCES audit_links(chain, "position"),
  CONSTRAINT audit_heads_hash_check CHECK (length(hash) = 32),
  CONSTRAINT audit_heads_public_key_check CHECK (length(public_key) = 32),
  CONSTRAINT audit_heads_signature_check CHECK (length(signature) = 64),
  CONSTRAINT audit_heads_signed_at CHECK (signed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND signed_at <= '9999-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE TRIGGER audit_heads_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_heads FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_heads_note_signed AFTER INSERT ON audit_heads FOR EACH ROW EXECUTE FUNCTION note_signed();
COMMENT ON TABLE audit_heads IS 'A signature of the end of a chain.';
COMMENT ON TRIGGER audit_heads_append_only ON audit_heads IS 'Refuses every update, delete and truncate: rows are only added.';
COMMENT ON TRIGGER audit_heads_note_signed ON audit_heads IS 'Refuses nothing. It clears unsigned_since where the head is at the end of the chain.';

CREATE TABLE audit_links (
  chain text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  entry_id bigint NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT audit_links_pkey PRIMARY KEY (chain, "position"),
  CONSTRAINT audit_links_entry_id_key UNIQUE (entry_id),
  CONSTRAINT audit_links_chain_fkey FOREIGN KEY (chain) REFERENCES audit_chains(chain),
  CONSTRAINT audit_links_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES audit_entries(id),
  CONSTRAINT audit_links_hash_check CHECK (length(hash) = 32),
  CONSTRAINT audit_links_position_check CHECK ("position" > 0)
);
CREATE TRIGGER audit_links_append BEFORE INSERT ON audit_links FOR EACH ROW EXECUTE FUNCTION append_audit_link();
CREATE TRIGGER audit_links_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_links FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE audit_links IS 'The place of an audit entry in its chain.';
COMMENT ON COLUMN audit_links."position" IS 'From 1, without gaps.';
COMMENT ON TRIGGER audit_links_append ON audit_links IS 'Refuses a link in the chain of another merchant, and any place but the next. It moves the end of the chain.';
COMMENT ON TRIGGER audit_links_append_only ON audit_links IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE TABLE breakers (
  operator text COLLATE "C" NOT NULL,
  product text COLLATE "C" NOT NULL,
  state text NOT NULL,
  cause text,
  reason text,
  changed_at timestamp with time zone NOT NULL,
  opened_at timestamp with time zone,
  retry_at timestamp with time zone,
  pauses integer DEFAULT 0 NOT NULL,
  probes bigint DEFAULT 0 NOT NULL,
  CONSTRAINT breakers_pkey PRIMARY KEY (operator, product),
  CONSTRAINT breakers_by_staff CHECK (state <> 'half_open'::text OR cause <> 'staff'::text),
  CONSTRAINT breakers_cause CHECK (cause = ANY (ARRAY['account'::text, 'busy'::text, 'no_answer'::text, 'staff'::text])),
  CONSTRAINT breakers_open CHECK (num_nulls(cause, reason, opened_at) =
CASE state
    WHEN 'closed'::text THEN 3
    ELSE 0
END),
  CONSTRAINT breakers_pauses CHECK (pauses >= 0),
  CONSTRAINT breakers_product CHECK (product = ANY (ARRAY['collection'::text, 'disbursement'::text])),
  CONSTRAINT breakers_reason CHECK (length(reason) >= 1 AND length(reason) <= 500),
  CONSTRAINT breakers_retry CHECK ((retry_at IS NULL) = (state = 'closed'::text OR cause = 'staff'::text)),
  CONSTRAINT breakers_state CHECK (state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text]))
) WITH (fillfactor=20);
CREATE TRIGGER breakers_check BEFORE UPDATE ON breakers FOR EACH ROW WHEN (new.operator <> old.operator OR new.product <> old.product OR new.probes < old.probes OR new.state = 'half_open'::text AND (old.state = 'closed'::text OR old.retry_at > clock_timestamp() OR new.probes <> (old.probes + 1))) EXECUTE FUNCTION check_breaker();
COMMENT ON TABLE breakers IS 'While a breaker is not closed, nobody sends a payment to this product of the operator or asks about one, except one call after each pause. No row: it never opened.';
COMMENT ON COLUMN breakers.state IS 'open: nobody calls before `retry_at`. half_open: one call is in progress, and its answer closes or opens the breaker.';
COMMENT ON COLUMN breakers.cause IS 'What the calls that opened it had in common. staff: a person opened it, and a person alone closes it.';
COMMENT ON COLUMN breakers.reason IS 'A status and a code of the operator, or the words of the staff. Merchants do not see it.';
COMMENT ON COLUMN breakers.opened_at IS 'Since when the operator is not called as usual. The time stays while one pause follows another.';
COMMENT ON COLUMN breakers.retry_at IS 'Open: the end of the pause. Half-open: when its one call counts as lost, because the process that makes it may have died.';
COMMENT ON COLUMN breakers.pauses IS 'How many pauses there were since the breaker opened: the next one is longer.';
COMMENT ON COLUMN breakers.probes IS 'Numbers the single calls. Each records its answer under its number, so that one that was given up as lost changes nothing.';
COMMENT ON TRIGGER breakers_check ON breakers IS 'Refuses another operator or product, a number of calls that falls, and a call before the end of the pause or of the call before it, or under the number of another.';

CREATE TABLE call_grants (
  operator text COLLATE "C" NOT NULL,
  second timestamp with time zone NOT NULL,
  taken integer NOT NULL,
  CONSTRAINT call_grants_pkey PRIMARY KEY (operator),
  CONSTRAINT call_grants_second CHECK (second = date_trunc('second'::text, second)),
  CONSTRAINT call_grants_taken CHECK (taken >= 0)
) WITH (fillfactor=20);
CREATE TRIGGER call_grants_check BEFORE UPDATE ON call_grants FOR EACH ROW WHEN (new.operator <> old.operator OR new.second < old.second OR new.second = old.second AND new.taken < old.taken) EXECUTE FUNCTION check_call_grants();
COMMENT ON TABLE call_grants IS 'A process takes grants before it calls an operator. Grants that it does not use end with their second. The row is the limit that all processes share.';
COMMENT ON COLUMN call_grants.second IS 'By the clock of the database, which all processes share.';
COMMENT ON COLUMN call_grants.taken IS 'How many grants were taken in that second.';
COMMENT ON TRIGGER call_grants_check ON call_grants IS 'Refuses another operator, an earlier second, and fewer grants of one second.';

CREATE TABLE checkout_attempts (
  code_sha256 bytea NOT NULL,
  checkout_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT checkout_attempts_pkey PRIMARY KEY (code_sha256),
  CONSTRAINT checkout_attempts_collection_id_key UNIQUE (collection_id),
  CONSTRAINT checkout_attempts_checkout_id_fkey FOREIGN KEY (checkout_id) REFERENCES checkouts(id),
  CONSTRAINT checkout_attempts_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES payments(id),
  CONSTRAINT checkout_attempts_code_sha256_check CHECK (length(code_sha256) = 32)
);
CREATE INDEX checkout_attempts_list ON checkout_attempts USING btree (checkout_id, collection_id DESC);
CREATE TRIGGER checkout_attempts_check BEFORE INSERT ON checkout_attempts FOR EACH ROW EXECUTE FUNCTION check_checkout_attempt();
CREATE TRIGGER checkout_attempts_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON checkout_attempts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE checkout_attempts IS 'One new collection by which a payer tries to pay a checkout.';
COMMENT ON COLUMN checkout_attempts.code_sha256 IS 'The digest of the code in the address of the page of the attempt. Only the payer has that code.';
COMMENT ON TRIGGER checkout_attempts_check ON checkout_attempts IS 'Refuses an attempt whose collection is not as the checkout asks for, at a checkout that is cancelled or expired, at a one-time checkout that was or can be paid, and a second live attempt of a phone.';
COMMENT ON TRIGGER checkout_attempts_kept ON checkout_attempts IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE TABLE checkouts (
  id text COLLATE "C" NOT NULL,
  code text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  reference text NOT NULL,
  description text,
  metadata json NOT NULL,
  use text NOT NULL,
  return_url text,
  expires_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  created_by text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT checkouts_pkey PRIMARY KEY (id),
  CONSTRAINT checkouts_code_key UNIQUE (code),
  CONSTRAINT checkouts_creator FOREIGN KEY (merchant_id, created_by) REFERENCES members(merchant_id, user_id),
  CONSTRAINT checkouts_merchant_currency FOREIGN KEY (merchant_id, currency) REFERENCES merchants(id, currency),
  CONSTRAINT checkouts_amount_minor_check CHECK (amount_minor >= 1 AND amount_minor <= '9007199254740991'::bigint),
  CONSTRAINT checkouts_code_check CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{32}$'::text),
  CONSTRAINT checkouts_description_check CHECK (length(description) >= 1 AND length(description) <= 120),
  CONSTRAINT checkouts_expiry CHECK (expires_at > created_at AND (use = 'reusable'::text OR expires_at IS NOT NULL)),
  CONSTRAINT checkouts_id_check CHECK (id ~ '^chk_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT checkouts_metadata_check CHECK (json_typeof(metadata) = 'object'::text),
  CONSTRAINT checkouts_reference_check CHECK (length(reference) >= 1 AND length(reference) <= 100),
  CONSTRAINT checkouts_return_url_check CHECK (return_url ~ '^https?://'::text AND length(return_url) <= 1000),
  CONSTRAINT checkouts_use_check CHECK (use = ANY (ARRAY['one_time'::text, 'reusable'::text]))
);
CREATE INDEX checkouts_list ON checkouts USING btree (merchant_id, id DESC);
CREATE INDEX checkouts_list_by_reference ON checkouts USING btree (merchant_id, lower(reference) text_pattern_ops, id DESC);
CREATE INDEX checkouts_of_person ON checkouts USING btree (created_by, id);
CREATE TRIGGER checkouts_check BEFORE INSERT OR UPDATE ON checkouts FOR EACH ROW EXECUTE FUNCTION check_checkout();
CREATE TRIGGER checkouts_kept BEFORE DELETE OR TRUNCATE ON checkouts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER checkouts_note AFTER INSERT OR UPDATE ON checkouts FOR EACH ROW EXECUTE FUNCTION note_state_change();
COMMENT ON TABLE checkouts IS 'What a merchant asks payers for on a page.';
COMMENT ON COLUMN checkouts.code IS '160 random bits, in the address of its page.';
COMMENT ON TRIGGER checkouts_check ON checkouts IS 'Refuses a new checkout that is cancelled, a live one that sends payers back without https, and every change except one cancellation.';
COMMENT ON TRIGGER checkouts_kept ON checkouts IS 'Refuses to delete rows and to truncate.';
COMMENT ON TRIGGER checkouts_note ON checkouts IS 'Refuses nothing. It adds a row to state_changes.';

CREATE TABLE currencies (
  code text NOT NULL,
  exponent smallint NOT NULL,
  CONSTRAINT currencies_pkey PRIMARY KEY (code),
  CONSTRAINT currencies_code CHECK (code ~ '^[A-Z]{3}$'::text),
  CONSTRAINT currencies_exponent CHECK (exponent >= 0 AND exponent <= 4)
);
COMMENT ON TABLE currencies IS 'The currencies of src/domain/money.ts, for the check of the database and for reports. A test holds the two equal.';
COMMENT ON COLUMN currencies.exponent IS 'An amount in the smallest unit is this power of ten as many as in whole units: 1050 is 10.50 KES, whose exponent is 2.';

CREATE TABLE deliveries (
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  attempt_count integer DEFAULT 0 NOT NULL,
  replay_count integer DEFAULT 0 NOT NULL,
  attempts_before_replay integer DEFAULT 0 NOT NULL,
  leased_until timestamp with time zone,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT deliveries_event_id_endpoint_id_key UNIQUE (event_id, endpoint_id),
  CONSTRAINT deliveries_endpoint_id_merchant_id_fkey FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints(id, merchant_id),
  CONSTRAINT deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id),
  CONSTRAINT deliveries_attempt_count_check CHECK (attempt_count >= 0),
  CONSTRAINT deliveries_attempts_before_replay CHECK (attempts_before_replay >= 0 AND attempts_before_replay <= attempt_count),
  CONSTRAINT deliveries_ended_after_an_attempt CHECK ((state <> ALL (ARRAY['delivered'::text, 'dead_lettered'::text])) OR attempt_count > 0),
  CONSTRAINT deliveries_id_check CHECK (length(id) = 30 AND id ~ '^dlv_[0-7][0-9a-hjkmnp-tv-z]+$'::text),
  CONSTRAINT deliveries_next_attempt CHECK ((state = ANY (ARRAY['delivered'::text, 'dead_lettered'::text, 'withheld'::text])) = (next_attempt_at IS NULL)),
  CONSTRAINT deliveries_replay_count_check CHECK (replay_count >= 0),
  CONSTRAINT deliveries_state_check CHECK (state = ANY (ARRAY['pending'::text, 'retrying'::text, 'delivered'::text, 'dead_lettered'::text, 'withheld'::text]))
) WITH (autovacuum_analyze_threshold=10000, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_threshold=10000);
CREATE INDEX deliveries_endpoint ON deliveries USING btree (endpoint_id, state, id DESC);
CREATE INDEX deliveries_list ON deliveries USING btree (merchant_id, id DESC);
CREATE INDEX deliveries_pending ON deliveries USING btree (endpoint_id, id) WHERE state = 'pending'::text;
CREATE INDEX deliveries_retrying ON deliveries USING btree (endpoint_id) WHERE state = 'retrying'::text;
CREATE TRIGGER deliveries_check_created AFTER INSERT ON deliveries FOR EACH ROW EXECUTE FUNCTION check_delivery_created();
CREATE CONSTRAINT TRIGGER deliveries_check_work AFTER UPDATE OF state ON deliveries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.state = 'retrying'::text) EXECUTE FUNCTION check_delivery_work();
CREATE TRIGGER deliveries_note AFTER UPDATE OF state ON deliveries FOR EACH ROW WHEN (new.state <> old.state) EXECUTE FUNCTION note_state_change('delivery');
COMMENT ON TABLE deliveries IS 'One event that is sent to one endpoint.';
COMMENT ON COLUMN deliveries.state IS 'pending: the dispatcher owes the first attempt. retrying: a workflow owns the further attempts. withheld: the endpoint is disabled, and nothing more is sent until somebody replays the delivery.';
COMMENT ON COLUMN deliveries.attempts_before_replay IS 'Each replay starts the schedule again; the numbers of the attempts go on.';
COMMENT ON COLUMN deliveries.leased_until IS 'Set while a dispatcher holds it. When the lease has run out, any dispatcher may claim it, and the event is sent again.';
COMMENT ON TRIGGER deliveries_check_created ON deliveries IS 'Refuses a delivery of another merchant than that of its event.';
COMMENT ON TRIGGER deliveries_check_work ON deliveries IS 'Refuses, at commit, a delivery that is retried and has no work.';
COMMENT ON TRIGGER deliveries_note ON deliveries IS 'Refuses nothing. It adds a row to state_changes. A new delivery adds none: the change that its event reports is there.';

CREATE TABLE delivery_attempts (
  delivery_id text COLLATE "C" NOT NULL,
  attempt_number integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status_code integer,
  error text,
  response_headers json,
  response_body bytea,
  CONSTRAINT delivery_attempts_pkey PRIMARY KEY (delivery_id, attempt_number),
  CONSTRAINT delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES deliveries(id),
  CONSTRAINT delivery_attempts_answer_or_error CHECK ((status_code IS NULL) = (error IS NOT NULL) AND (status_code IS NULL) = (response_headers IS NULL) AND (status_code IS NULL) = (response_body IS NULL)),
  CONSTRAINT delivery_attempts_attempt_number_check CHECK (attempt_number > 0),
  CONSTRAINT delivery_attempts_duration_ms_check CHECK (duration_ms >= 0),
  CONSTRAINT delivery_attempts_response_body_check CHECK (length(response_body) <= 16384),
  CONSTRAINT delivery_attempts_status_code_check CHECK (status_code >= 100 AND status_code <= 999)
);
CREATE TRIGGER delivery_attempts_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON delivery_attempts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE delivery_attempts IS 'One request to an endpoint, and its response or error.';
COMMENT ON TRIGGER delivery_attempts_append_only ON delivery_attempts IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE TABLE deployment (
  is_only boolean DEFAULT true NOT NULL,
  environment text NOT NULL,
  stamped_at timestamp with time zone NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  CONSTRAINT deployment_pkey PRIMARY KEY (is_only),
  CONSTRAINT deployment_environment CHECK (environment = ANY (ARRAY['test'::text, 'live'::text])),
  CONSTRAINT deployment_one_row CHECK (is_only)
);
CREATE TRIGGER deployment_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON deployment FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE deployment IS 'The environment of the database. The owner of the database writes the one row at the first migration.';
COMMENT ON COLUMN deployment.id IS 'By which what is kept outside of the database names it: another database has another one.';
COMMENT ON TRIGGER deployment_kept ON deployment IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE TABLE discrepancies (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  operator_receipt text,
  reported_amount text,
  reported_currency text,
  found_at timestamp with time zone NOT NULL,
  settled_at timestamp with time zone,
  settled_how text,
  CONSTRAINT discrepancies_pkey PRIMARY KEY (id),
  CONSTRAINT discrepancies_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT discrepancies_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT discrepancies_kind_check CHECK (kind = ANY (ARRAY['paid_after_failed'::text, 'declined_after_paid'::text, 'refunded_twice'::text, 'receipt_reused'::text, 'paid_otherwise'::text, 'other_payment'::text, 'release_unattested'::text, 'credit_unattested'::text])),
  CONSTRAINT discrepancies_operator_receipt_check CHECK (length(operator_receipt) >= 1 AND length(operator_receipt) <= 200),
  CONSTRAINT discrepancies_reported CHECK ((reported_amount IS NULL) = (reported_currency IS NULL) AND (kind = 'paid_otherwise'::text OR reported_amount IS NULL)),
  CONSTRAINT discrepancies_reported_amount_check CHECK (reported_amount ~ '^[0-9]{1,16}([.][0-9]{1,6})?$'::text),
  CONSTRAINT discrepancies_reported_currency_check CHECK (reported_currency ~ '^[A-Z]{3}$'::text),
  CONSTRAINT discrepancies_settled CHECK ((settled_at IS NULL) = (settled_how IS NULL)),
  CONSTRAINT discrepancies_settled_how_check CHECK (length(settled_how) >= 1 AND length(settled_how) <= 500)
);
CREATE INDEX discrepancies_of_payment ON discrepancies USING btree (payment_id, kind);
CREATE UNIQUE INDEX discrepancies_once_per_payment ON discrepancies USING btree (payment_id, kind) WHERE settled_at IS NULL;
CREATE INDEX discrepancies_open ON discrepancies USING btree (id) WHERE settled_at IS NULL;
CREATE TRIGGER discrepancies_check_change BEFORE UPDATE ON discrepancies FOR EACH ROW EXECUTE FUNCTION check_discrepancy_change();
CREATE TRIGGER discrepancies_kept BEFORE DELETE OR TRUNCATE ON discrepancies FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE discrepancies IS 'A status of an operator that contradicts the recorded outcome of a payment. It leads to no posting by itself: the ledger check reports it every day until a person records how it was settled. Another one of its kind may follow.';
COMMENT ON COLUMN discrepancies.payment_id IS 'A payer whose money was taken for a collection that is recorded as failed is owed a settlement too.';
COMMENT ON COLUMN discrepancies.operator_receipt IS 'The operator''s receipt, where it says that it made the payment.';
COMMENT ON COLUMN discrepancies.reported_amount IS 'As the operator reports it: a decimal number in whole units. Null if nobody can read what the operator reports.';
COMMENT ON TRIGGER discrepancies_check_change ON discrepancies IS 'Refuses every change but one settlement.';
COMMENT ON TRIGGER discrepancies_kept ON discrepancies IS 'Refuses to delete rows and to truncate.';

CREATE TABLE endpoints (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  description text,
  event_types text[],
  state text NOT NULL,
  disabled_reason text,
  disabled_at timestamp with time zone,
  secret_sealed text,
  previous_secret_sealed text,
  previous_secret_until timestamp with time zone,
  failing_since timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT endpoints_id_merchant_id_key UNIQUE (id, merchant_id),
  CONSTRAINT endpoints_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT endpoints_deleted CHECK ((deleted_at IS NOT NULL) = (secret_sealed IS NULL) AND (deleted_at IS NOT NULL) = (NOT disabled_reason IS DISTINCT FROM 'deleted'::text) AND (deleted_at IS NULL OR previous_secret_sealed IS NULL)),
  CONSTRAINT endpoints_description_check CHECK (length(description) <= 200),
  CONSTRAINT endpoints_disabled_at CHECK ((state = 'disabled'::text) = (disabled_at IS NOT NULL)),
  CONSTRAINT endpoints_disabled_for_a_reason CHECK ((state = 'disabled'::text) = (disabled_reason IS NOT NULL)),
  CONSTRAINT endpoints_disabled_reason CHECK (disabled_reason = ANY (ARRAY['by_person'::text, 'answered_gone'::text, 'failing'::text, 'deleted'::text])),
  CONSTRAINT endpoints_event_types_check CHECK (cardinality(event_types) > 0),
  CONSTRAINT endpoints_id_check CHECK (id ~ '^whe_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT endpoints_previous_secret CHECK ((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL)),
  CONSTRAINT endpoints_state_check CHECK (state = ANY (ARRAY['enabled'::text, 'disabled'::text])),
  CONSTRAINT endpoints_url_check CHECK (length(url) <= 2048)
);
CREATE INDEX endpoints_disabled ON endpoints USING btree (disabled_reason) WHERE state = 'disabled'::text AND deleted_at IS NULL;
CREATE INDEX endpoints_merchant ON endpoints USING btree (merchant_id, id DESC);
CREATE TRIGGER endpoints_note AFTER INSERT OR UPDATE ON endpoints FOR EACH ROW EXECUTE FUNCTION note_state_change('endpoint');
COMMENT ON TABLE endpoints IS 'An address of a merchant to which events are sent.';
COMMENT ON COLUMN endpoints.event_types IS 'Null: all types.';
COMMENT ON COLUMN endpoints.previous_secret_sealed IS 'Signs too until previous_secret_until, so that receivers have time to change over to the present secret.';
COMMENT ON COLUMN endpoints.failing_since IS 'When the attempt failed after which no attempt succeeded. While it is set, the next event goes straight to a workflow, so that a failing endpoint does not take the time of the dispatcher. An endpoint that fails for days is disabled.';
COMMENT ON COLUMN endpoints.deleted_at IS 'The row of a deleted endpoint stays, since deliveries refer to it; its secrets are erased.';
COMMENT ON TRIGGER endpoints_note ON endpoints IS 'Refuses nothing. It adds a row to state_changes.';

CREATE TABLE events (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  payment_id text COLLATE "C",
  endpoint_id text COLLATE "C",
  resource_version integer,
  body text NOT NULL,
  request_id text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_one_per_change UNIQUE (payment_id, resource_version),
  CONSTRAINT events_endpoint_fkey FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints(id, merchant_id),
  CONSTRAINT events_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT events_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT events_body_check CHECK (octet_length(body) <= 262144),
  CONSTRAINT events_id_check CHECK (length(id) = 30 AND id ~ '^evt_[0-7][0-9a-hjkmnp-tv-z]+$'::text),
  CONSTRAINT events_of_a_payment CHECK (NOT "left"(payment_id, 4) IS DISTINCT FROM
CASE
    WHEN type ~~ 'collection.%'::text THEN 'col_'::text
    WHEN type ~~ 'payout.%'::text THEN 'pay_'::text
    ELSE NULL::text
END AND (payment_id IS NULL) = (resource_version IS NULL)),
  CONSTRAINT events_of_an_endpoint CHECK ((type ~~ 'endpoint.%'::text) = (endpoint_id IS NOT NULL))
) WITH (autovacuum_analyze_threshold=10000, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_threshold=10000);
CREATE INDEX events_list ON events USING btree (merchant_id, id DESC);
CREATE INDEX events_list_of_type ON events USING btree (merchant_id, type, id DESC);
CREATE INDEX events_of_endpoint ON events USING btree (endpoint_id, id DESC) WHERE endpoint_id IS NOT NULL;
CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_check_created AFTER INSERT ON events FOR EACH ROW WHEN (new.payment_id IS NOT NULL) EXECUTE FUNCTION check_event_created();
COMMENT ON TABLE events IS 'What is sent about a change of a payment, or as a test of an endpoint.';
COMMENT ON COLUMN events.endpoint_id IS 'Set for a test event, which is about the endpoint itself.';
COMMENT ON COLUMN events.body IS 'The bytes that are signed and sent (UTF-8), composed once. The limit has room for the approvals and the rejection reason of a payout besides all that a merchant may send along.';
COMMENT ON COLUMN events.request_id IS 'The request that created the payment, so that an attempt to deliver the event reads no other table. Null for an event about an endpoint.';
COMMENT ON TRIGGER events_append_only ON events IS 'Refuses every update, delete and truncate: rows are only added.';
COMMENT ON TRIGGER events_check_created ON events IS 'Refuses an event of another merchant than that of its payment.';

CREATE TABLE fence (
  is_only boolean DEFAULT true NOT NULL,
  counter bigint DEFAULT 0 NOT NULL,
  lasts interval DEFAULT '00:00:05'::interval NOT NULL,
  writer uuid,
  written_at timestamp with time zone,
  lsn pg_lsn,
  server_started_at timestamp with time zone,
  system_identifier bigint,
  timeline integer,
  database_oid oid,
  CONSTRAINT fence_pkey PRIMARY KEY (is_only),
  CONSTRAINT fence_counter CHECK (counter >= 0),
  CONSTRAINT fence_lasts CHECK (lasts > '00:00:00'::interval),
  CONSTRAINT fence_one_row CHECK (is_only),
  CONSTRAINT fence_written CHECK (num_nulls(writer, written_at, lsn, server_started_at, system_identifier, timeline, database_oid) = ANY (ARRAY[0, 7]))
) WITH (fillfactor=20);
CREATE TRIGGER fence_check BEFORE UPDATE ON fence FOR EACH ROW WHEN (new.counter <= old.counter) EXECUTE FUNCTION check_fence();
CREATE TRIGGER fence_kept BEFORE DELETE OR TRUNCATE ON fence FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE fence IS 'The counter, and which database it was written to. One row.';
COMMENT ON COLUMN fence.counter IS 'Counts up with each write. 0: no process has written it.';
COMMENT ON COLUMN fence.lasts IS 'For so long after a write the fence is fresh. The owner of the database alone changes it.';
COMMENT ON COLUMN fence.writer IS 'The process that wrote it. Another one takes over when it stops.';
COMMENT ON COLUMN fence.lsn IS 'The position in the write-ahead log just before the write.';
COMMENT ON COLUMN fence.server_started_at IS 'When PostgreSQL started. After another start nothing happens before a process has compared the fence with its markers.';
COMMENT ON COLUMN fence.system_identifier IS 'Which cluster PostgreSQL runs on. A database that was dumped and loaded is on another one.';
COMMENT ON COLUMN fence.timeline IS 'The timeline of the cluster. A restore from an archive begins another one, and so does a fail-over.';
COMMENT ON TRIGGER fence_check ON fence IS 'Refuses a write that does not count up.';
COMMENT ON TRIGGER fence_kept ON fence IS 'Refuses to delete the row and to truncate.';

CREATE TABLE fold_position (
  is_only boolean DEFAULT true NOT NULL,
  xid xid8 NOT NULL,
  last_id bigint NOT NULL,
  CONSTRAINT fold_position_pkey PRIMARY KEY (is_only),
  CONSTRAINT fold_position_only CHECK (is_only)
);
COMMENT ON TABLE fold_position IS 'The position up to which payment_totals and payment_figures include state_changes. One row.';
COMMENT ON COLUMN fold_position.xid IS 'All changes of this transaction and of those before it are folded, and no other.';
COMMENT ON COLUMN fold_position.last_id IS 'The greatest id that is folded.';

CREATE TABLE housekeeping (
  task text COLLATE "C" NOT NULL,
  done_as_of timestamp with time zone NOT NULL,
  faults integer NOT NULL,
  CONSTRAINT housekeeping_pkey PRIMARY KEY (task),
  CONSTRAINT housekeeping_faults CHECK (faults >= 0),
  CONSTRAINT housekeeping_task CHECK (task = ANY (ARRAY['dispatch'::text, 'status_queries'::text, 'purge'::text, 'recent_payments'::text, 'ledger_check'::text, 'whole_ledger_check'::text, 'changed_payments'::text]))
);
CREATE TRIGGER housekeeping_check BEFORE UPDATE ON housekeeping FOR EACH ROW WHEN (new.task <> old.task OR new.done_as_of < old.done_as_of) EXECUTE FUNCTION check_housekeeping();
CREATE TRIGGER housekeeping_kept BEFORE DELETE OR TRUNCATE ON housekeeping FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE housekeeping IS 'Everything that was due at that time is done. The metrics read the row, because nothing else shows that a task no longer runs.';
COMMENT ON COLUMN housekeeping.task IS 'The metrics show all but changed_payments: how far the ledger check came with payments that agree with their transfers.';
COMMENT ON COLUMN housekeeping.faults IS 'How many faults a check found.';
COMMENT ON TRIGGER housekeeping_check ON housekeeping IS 'Refuses to move the time of a task back.';
COMMENT ON TRIGGER housekeeping_kept ON housekeeping IS 'Refuses to delete rows and to truncate.';

CREATE TABLE idempotency_keys (
  merchant_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  request_sha256 bytea NOT NULL,
  response_status integer NOT NULL,
  response_body text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (merchant_id, key),
  CONSTRAINT idempotency_keys_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT idempotency_keys_key_check CHECK (length(key) <= 255 AND key ~ '^[\x21-\x7e]+$'::text),
  CONSTRAINT idempotency_keys_request_sha256_check CHECK (length(request_sha256) = 32),
  CONSTRAINT idempotency_keys_response_status_check CHECK (response_status = ANY (ARRAY[200, 201, 202, 402]))
);
CREATE INDEX idempotency_keys_age ON idempotency_keys USING btree (created_at);
COMMENT ON TABLE idempotency_keys IS 'The stored response of a request that moves money: a repeat of the request gets the same response and acts once.';

CREATE TABLE ledger_accounts (
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  merchant_id text COLLATE "C",
  operator text,
  currency text NOT NULL,
  balance_minor bigint,
  entry_count bigint,
  last_posted_at timestamp with time zone,
  CONSTRAINT ledger_accounts_pkey PRIMARY KEY (id),
  CONSTRAINT ledger_accounts_id_currency_key UNIQUE (id, currency),
  CONSTRAINT ledger_accounts_currency_fkey FOREIGN KEY (currency) REFERENCES currencies(code),
  CONSTRAINT ledger_accounts_merchant_id_currency_fkey FOREIGN KEY (merchant_id, currency) REFERENCES merchants(id, currency),
  CONSTRAINT ledger_accounts_balance CHECK ((kind = 'operator'::text) = (balance_minor IS NULL)),
  CONSTRAINT ledger_accounts_balance_range CHECK (balance_minor >= '-9007199254740991'::bigint AND balance_minor <= '9007199254740991'::bigint),
  CONSTRAINT ledger_accounts_entry_count CHECK ((kind = 'operator'::text) = (entry_count IS NULL)),
  CONSTRAINT ledger_accounts_held_not_negative CHECK (kind <> 'held'::text OR balance_minor >= 0),
  CONSTRAINT ledger_accounts_kind_check CHECK (kind = ANY (ARRAY['available'::text, 'held'::text, 'operator'::text])),
  CONSTRAINT ledger_accounts_named_for_owner CHECK (id =
CASE kind
    WHEN 'operator'::text THEN (('operator/'::text || operator) || '/'::text) || currency
    ELSE (merchant_id || '/'::text) || kind
END),
  CONSTRAINT ledger_accounts_one_owner CHECK ((kind = 'operator'::text) = (merchant_id IS NULL) AND (kind = 'operator'::text) = (operator IS NOT NULL))
);
CREATE TRIGGER ledger_accounts_check_change BEFORE INSERT OR UPDATE ON ledger_accounts FOR EACH ROW EXECUTE FUNCTION check_account_change();
CREATE CONSTRAINT TRIGGER ledger_accounts_check_posted AFTER UPDATE ON ledger_accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_account_posted();
CREATE TRIGGER ledger_accounts_kept BEFORE DELETE OR TRUNCATE ON ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE ledger_accounts IS 'An account of a merchant (available or held), or of an operator in one currency.';
COMMENT ON COLUMN ledger_accounts.balance_minor IS 'Kept for the accounts of merchants, which every payment reads and guards. The account of an operator would be one hot row for all merchants: its balance is summed when it is read.';
COMMENT ON COLUMN ledger_accounts.entry_count IS 'How many entries the account has. Null for an operator.';
COMMENT ON COLUMN ledger_accounts.last_posted_at IS 'The time of the newest entry.';
COMMENT ON TRIGGER ledger_accounts_check_change ON ledger_accounts IS 'Refuses a new account with a balance, and every change that does not count up the entries.';
COMMENT ON TRIGGER ledger_accounts_check_posted ON ledger_accounts IS 'Refuses, at commit, a balance that changed without the transfer that has the number of the change.';
COMMENT ON TRIGGER ledger_accounts_kept ON ledger_accounts IS 'Refuses to delete rows and to truncate.';

CREATE TABLE ledger_checkpoints (
  account_id text COLLATE "C" NOT NULL,
  entry bigint NOT NULL,
  balance_minor bigint NOT NULL,
  unattested_minor bigint DEFAULT 0 NOT NULL,
  checked_at timestamp with time zone DEFAULT now() NOT NULL,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY (account_id),
  CONSTRAINT ledger_checkpoints_unattested CHECK (unattested_minor >= 0)
);
CREATE TRIGGER ledger_checkpoints_check BEFORE INSERT OR UPDATE ON ledger_checkpoints FOR EACH ROW EXECUTE FUNCTION check_ledger_checkpoint();
CREATE TRIGGER ledger_checkpoints_kept BEFORE DELETE OR TRUNCATE ON ledger_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE ledger_checkpoints IS 'How far the ledger was checked. Up to this entry, and with this balance, the entries of the account add up, and their payments agree with them.';
COMMENT ON COLUMN ledger_checkpoints.unattested_minor IS 'The part of the balance that came by transfers without attestation. Nobody can spend it.';
COMMENT ON TRIGGER ledger_checkpoints_check ON ledger_checkpoints IS 'Refuses a checkpoint that goes back, one whose balance no entry leaves, and an attestation whose number is not greater than that of the row. A checkpoint is attested again as it is when the keys are replaced.';
COMMENT ON TRIGGER ledger_checkpoints_kept ON ledger_checkpoints IS 'Refuses to delete rows and to truncate.';

CREATE TABLE ledger_transfers (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  kind text NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  debit_account_id text COLLATE "C" NOT NULL,
  credit_account_id text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  posted_at timestamp with time zone DEFAULT now() NOT NULL,
  debit_entry bigint,
  credit_entry bigint,
  debit_balance_minor bigint,
  credit_balance_minor bigint,
  status_kind text,
  status_queried_at timestamp with time zone,
  status_attestation text,
  CONSTRAINT ledger_transfers_pkey PRIMARY KEY (id),
  CONSTRAINT ledger_transfers_once_per_payment UNIQUE (payment_id, kind),
  CONSTRAINT ledger_transfers_one_per_credit_entry UNIQUE (credit_account_id, credit_entry),
  CONSTRAINT ledger_transfers_one_per_debit_entry UNIQUE (debit_account_id, debit_entry),
  CONSTRAINT ledger_transfers_credit_account_id_currency_fkey FOREIGN KEY (credit_account_id, currency) REFERENCES ledger_accounts(id, currency),
  CONSTRAINT ledger_transfers_debit_account_id_currency_fkey FOREIGN KEY (debit_account_id, currency) REFERENCES ledger_accounts(id, currency),
  CONSTRAINT ledger_transfers_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT ledger_transfers_amount_minor_check CHECK (amount_minor > 0),
  CONSTRAINT ledger_transfers_attested CHECK ((kind = ANY (ARRAY['collection_paid'::text, 'payout_voided'::text, 'payout_returned'::text])) = (status_attestation IS NOT NULL)),
  CONSTRAINT ledger_transfers_check CHECK (debit_account_id <> credit_account_id),
  CONSTRAINT ledger_transfers_credit_entry_counted CHECK ((credit_account_id ~~ 'operator/%'::text) = (credit_entry IS NULL)),
  CONSTRAINT ledger_transfers_debit_entry_counted CHECK ((debit_account_id ~~ 'operator/%'::text) = (debit_entry IS NULL)),
  CONSTRAINT ledger_transfers_entry_balances CHECK ((debit_entry IS NULL) = (debit_balance_minor IS NULL) AND (credit_entry IS NULL) = (credit_balance_minor IS NULL)),
  CONSTRAINT ledger_transfers_kind_check CHECK (kind = ANY (ARRAY['collection_paid'::text, 'collection_reversed'::text, 'payout_held'::text, 'payout_voided'::text, 'payout_paid'::text, 'payout_returned'::text])),
  CONSTRAINT ledger_transfers_of_kind CHECK ("left"(payment_id, 4) =
CASE
    WHEN kind ~~ 'collection\_%'::text THEN 'col_'::text
    WHEN kind ~~ 'payout\_%'::text THEN 'pay_'::text
    ELSE NULL::text
END),
  CONSTRAINT ledger_transfers_status CHECK ((status_kind IS NULL) = (status_queried_at IS NULL) AND
CASE kind
    WHEN 'collection_paid'::text THEN status_kind IS NOT NULL AND (status_kind = ANY (ARRAY['paid'::text, 'returned'::text]))
    WHEN 'payout_returned'::text THEN status_kind IS NOT NULL AND status_kind = 'returned'::text
    WHEN 'payout_voided'::text THEN status_kind IS NULL OR (status_kind = ANY (ARRAY['declined'::text, 'refused'::text, 'not_found'::text]))
    ELSE status_kind IS NULL
END)
);
CREATE INDEX ledger_transfers_credit_statement ON ledger_transfers USING btree (credit_account_id, kind, posted_at) WHERE credit_entry IS NOT NULL;
CREATE INDEX ledger_transfers_debit_statement ON ledger_transfers USING btree (debit_account_id, kind, posted_at) WHERE debit_entry IS NOT NULL;
CREATE TRIGGER ledger_transfers_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfers_check BEFORE INSERT ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION check_transfer();
CREATE TRIGGER ledger_transfers_post BEFORE INSERT ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION post_transfer();
COMMENT ON TABLE ledger_transfers IS 'One amount that moved from one account to another because of a payment.';
COMMENT ON COLUMN ledger_transfers.posted_at IS 'By the clock of the database, in the order of the entries. created_at is the time of the process that recorded the payment.';
COMMENT ON COLUMN ledger_transfers.debit_entry IS 'The number of the transfer among the entries of the debited account. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.credit_entry IS 'The number of the transfer among the entries of the credited account. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.debit_balance_minor IS 'The balance of the debited account after the transfer. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.credit_balance_minor IS 'The balance of the credited account after the transfer. Null for an operator.';
COMMENT ON COLUMN ledger_transfers.status_kind IS 'What the operator said. Null if no status decided: a person did, or nothing was ever sent.';
COMMENT ON COLUMN ledger_transfers.status_queried_at IS 'When the operator was asked.';
COMMENT ON COLUMN ledger_transfers.status_attestation IS 'Attests the transfer with its status. Null for a transfer that makes nothing available.';
COMMENT ON TRIGGER ledger_transfers_append_only ON ledger_transfers IS 'Refuses every update, delete and truncate: rows are only added.';
COMMENT ON TRIGGER ledger_transfers_check ON ledger_transfers IS 'Refuses a transfer that does not match the state, amount, currency or accounts of its payment, to void a hold by another status than that of the payout, and every transfer without a fresh fence.';
COMMENT ON TRIGGER ledger_transfers_post ON ledger_transfers IS 'Refuses a payout that exceeds the available balance. It posts the transfer, as the owner of the tables, because the account of the application cannot change a balance. Its name sorts after ledger_transfers_check, so it runs after the check.';

CREATE TABLE members (
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  roles text[] NOT NULL,
  created_at timestamp with time zone NOT NULL,
  removed_at timestamp with time zone,
  approver_since timestamp with time zone,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT members_pkey PRIMARY KEY (merchant_id, user_id),
  CONSTRAINT members_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT members_roles_check CHECK (cardinality(roles) > 0 AND roles <@ ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'maker'::text, 'approver'::text, 'viewer'::text])
);
CREATE INDEX members_user ON members USING btree (user_id);
CREATE TRIGGER members_check BEFORE INSERT OR UPDATE ON members FOR EACH ROW EXECUTE FUNCTION check_member();
CREATE TRIGGER members_check_owner_left AFTER UPDATE ON members FOR EACH ROW WHEN (old.removed_at IS NULL AND ('owner'::text = ANY (old.roles)) AND (new.removed_at IS NOT NULL OR NOT ('owner'::text = ANY (new.roles)))) EXECUTE FUNCTION check_owner_left();
CREATE TRIGGER members_kept BEFORE DELETE OR TRUNCATE ON members FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE members IS 'A person who acts for a merchant, with their roles.';
COMMENT ON COLUMN members.removed_at IS 'The row of a removed member stays: payouts, approvals and audit entries refer to it.';
COMMENT ON COLUMN members.approver_since IS 'Since when the member may approve without interruption. The database alone sets it.';
COMMENT ON TRIGGER members_check ON members IS 'Refuses another merchant or user, and an attestation whose number is not greater than that of the row. It sets approver_since.';
COMMENT ON TRIGGER members_check_owner_left ON members IS 'Refuses to leave a merchant without an owner.';
COMMENT ON TRIGGER members_kept ON members IS 'Refuses to delete rows and to truncate.';

CREATE TABLE merchants (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  currency text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT merchants_pkey PRIMARY KEY (id),
  CONSTRAINT merchants_id_currency_key UNIQUE (id, currency),
  CONSTRAINT merchants_currency_fkey FOREIGN KEY (currency) REFERENCES currencies(code),
  CONSTRAINT merchants_id_check CHECK (id ~ '^mer_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT merchants_name_check CHECK (length(name) >= 1 AND length(name) <= 200)
);
COMMENT ON TABLE merchants IS 'A business that takes and makes payments.';

CREATE TABLE operator_accounts (
  id text COLLATE "C" NOT NULL,
  operator text COLLATE "C" NOT NULL,
  country text COLLATE "C",
  currency text COLLATE "C",
  base_url text NOT NULL,
  calls_per_second integer NOT NULL,
  identifiers json NOT NULL,
  credentials_sealed text NOT NULL,
  state text NOT NULL,
  proposed_by text COLLATE "C" NOT NULL,
  confirmed_by text COLLATE "C" NOT NULL,
  proposal_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT operator_accounts_pkey PRIMARY KEY (id),
  CONSTRAINT operator_accounts_one_of_an_operator UNIQUE (operator),
  CONSTRAINT operator_accounts_proposal_id_key UNIQUE (proposal_id),
  CONSTRAINT operator_accounts_confirmed_by_fkey FOREIGN KEY (confirmed_by) REFERENCES staff_members(id),
  CONSTRAINT operator_accounts_currency_fkey FOREIGN KEY (currency) REFERENCES currencies(code),
  CONSTRAINT operator_accounts_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES staff_proposals(id),
  CONSTRAINT operator_accounts_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES staff_members(id),
  CONSTRAINT operator_accounts_base_url_check CHECK (base_url ~ '^https?://'::text AND length(base_url) <= 500),
  CONSTRAINT operator_accounts_calls_per_second_check CHECK (calls_per_second >= 1 AND calls_per_second <= 10000),
  CONSTRAINT operator_accounts_country_check CHECK (country ~ '^[A-Z]{2}$'::text),
  CONSTRAINT operator_accounts_credentials_sealed_check CHECK (credentials_sealed <> ''::text),
  CONSTRAINT operator_accounts_id_check CHECK (id ~ '^opa_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT operator_accounts_identifiers_check CHECK (json_typeof(identifiers) = 'object'::text),
  CONSTRAINT operator_accounts_market CHECK (num_nulls(country, currency) = ANY (ARRAY[0, 2])),
  CONSTRAINT operator_accounts_operator_check CHECK (operator ~ '^[a-z][a-z-]{1,29}$'::text),
  CONSTRAINT operator_accounts_state_check CHECK (state = ANY (ARRAY['active'::text, 'closed'::text]))
);
CREATE TRIGGER operator_accounts_check BEFORE INSERT OR UPDATE ON operator_accounts FOR EACH ROW EXECUTE FUNCTION check_operator_account();
COMMENT ON TABLE operator_accounts IS 'The account with an operator: payments are sent with its credentials. It is never removed, because ended payments are asked about.';
COMMENT ON COLUMN operator_accounts.country IS 'The market. Null: every market of the operator, as at a test system.';
COMMENT ON COLUMN operator_accounts.identifiers IS 'The credentials that are no secret, for people who decide.';
COMMENT ON COLUMN operator_accounts.credentials_sealed IS 'The secret credentials, sealed for the id of the account. They are not sealed again when keys change: the next ones are sealed with the first key.';
COMMENT ON COLUMN operator_accounts.state IS 'No payment is accepted for a closed account. What was accepted before is still sent, and asked about.';
COMMENT ON COLUMN operator_accounts.proposed_by IS 'Who proposed the last change.';
COMMENT ON COLUMN operator_accounts.confirmed_by IS 'The other person of the staff, who confirmed it.';
COMMENT ON COLUMN operator_accounts.proposal_id IS 'The last confirmed proposal about the account.';
COMMENT ON TRIGGER operator_accounts_check ON operator_accounts IS 'Refuses an account on which no two of the staff agreed or that is not as they agreed, a change by an earlier proposal, another id, operator or market, and an attestation whose number is not greater than that of the row.';

CREATE TABLE operator_callbacks (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  operator text NOT NULL,
  payment_id text COLLATE "C",
  operator_reference uuid,
  body text NOT NULL,
  content_type text NOT NULL,
  source_address inet NOT NULL,
  received_at timestamp with time zone NOT NULL,
  purpose text,
  query_id uuid,
  attestation text,
  read_at timestamp with time zone,
  CONSTRAINT operator_callbacks_pkey PRIMARY KEY (id),
  CONSTRAINT operator_callbacks_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT operator_callbacks_about CHECK ((payment_id IS NULL) = (operator_reference IS NOT NULL)),
  CONSTRAINT operator_callbacks_body_check CHECK (octet_length(body) <= 65536),
  CONSTRAINT operator_callbacks_content_type_check CHECK (length(content_type) <= 200),
  CONSTRAINT operator_callbacks_message CHECK ((purpose IS NULL) = (attestation IS NULL) AND COALESCE(purpose = 'query'::text, false) = (query_id IS NOT NULL) AND (read_at IS NULL OR purpose IS NOT NULL AND payment_id IS NOT NULL)),
  CONSTRAINT operator_callbacks_purpose CHECK (purpose = ANY (ARRAY['result'::text, 'timeout'::text, 'query'::text]))
);
CREATE INDEX operator_callbacks_age ON operator_callbacks USING btree (received_at);
CREATE INDEX operator_callbacks_of_payment ON operator_callbacks USING btree (payment_id, id);
CREATE INDEX operator_callbacks_unmatched ON operator_callbacks USING btree (operator_reference) WHERE operator_reference IS NOT NULL;
CREATE TRIGGER operator_callbacks_check_change BEFORE UPDATE ON operator_callbacks FOR EACH ROW EXECUTE FUNCTION check_operator_callback_change();
COMMENT ON TABLE operator_callbacks IS 'Callbacks as they came: hints and evidence, never results. One with a purpose is a message: it came to an address that the operator got for one payment or query.';
COMMENT ON COLUMN operator_callbacks.operator_reference IS 'Set for a callback to an address of the service whose payment was not on record: after a loss it may be the only trace of the payment.';
COMMENT ON COLUMN operator_callbacks.query_id IS 'The query to whose own address the callback came.';
COMMENT ON COLUMN operator_callbacks.attestation IS 'Made by the process that received the message and proved its address. Without it nothing follows from the message.';
COMMENT ON COLUMN operator_callbacks.read_at IS 'When a worker recorded what follows from the message.';
COMMENT ON TRIGGER operator_callbacks_check_change ON operator_callbacks IS 'Refuses every change except that a worker has read a message.';

CREATE TABLE operator_exchanges (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  outcome text NOT NULL,
  failure_code text,
  CONSTRAINT operator_exchanges_pkey PRIMARY KEY (id),
  CONSTRAINT operator_exchanges_duration CHECK (duration_ms >= 0),
  CONSTRAINT operator_exchanges_failure CHECK ((outcome = ANY (ARRAY['refused'::text, 'failed'::text])) = (failure_code IS NOT NULL) AND length(failure_code) <= 40),
  CONSTRAINT operator_exchanges_kind CHECK (kind = ANY (ARRAY['send'::text, 'status_query'::text, 'name_query'::text])),
  CONSTRAINT operator_exchanges_outcome CHECK (
CASE kind
    WHEN 'send'::text THEN outcome = ANY (ARRAY['accepted'::text, 'refused'::text, 'unknown'::text])
    WHEN 'name_query'::text THEN outcome = ANY (ARRAY['named'::text, 'unnamed'::text, 'unknown'::text])
    ELSE outcome = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'returned'::text, 'paid_unreadable'::text, 'unreadable'::text, 'not_found'::text, 'asked'::text, 'unknown'::text])
END)
);
CREATE INDEX operator_exchanges_age ON operator_exchanges USING btree (started_at);
CREATE INDEX operator_exchanges_payment ON operator_exchanges USING btree (payment_id, id);
CREATE TRIGGER operator_exchanges_check BEFORE INSERT OR UPDATE ON operator_exchanges FOR EACH ROW EXECUTE FUNCTION check_operator_exchange();
CREATE TRIGGER operator_exchanges_stay BEFORE TRUNCATE ON operator_exchanges FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE operator_exchanges IS 'Each send to an operator and each query of a status or a name, with its outcome in a term of the service. Nothing that was sent or received is kept here, and no receipt.';
COMMENT ON COLUMN operator_exchanges.payment_id IS 'A foreign key would lock the row of the payment for each exchange.';
COMMENT ON COLUMN operator_exchanges.failure_code IS 'Why the operator refuses or failed it.';
COMMENT ON TRIGGER operator_exchanges_check ON operator_exchanges IS 'Refuses every update, and an exchange about another payment than one of its merchant.';
COMMENT ON TRIGGER operator_exchanges_stay ON operator_exchanges IS 'Refuses to truncate.';

CREATE TABLE operator_queries (
  id uuid NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  seen_callback_id bigint NOT NULL,
  answered_at timestamp with time zone,
  attestation text NOT NULL,
  CONSTRAINT operator_queries_pkey PRIMARY KEY (id),
  CONSTRAINT operator_queries_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT operator_queries_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id)
);
CREATE INDEX operator_queries_age ON operator_queries USING btree (asked_at);
CREATE INDEX operator_queries_of_payment ON operator_queries USING btree (payment_id, asked_at);
CREATE TRIGGER operator_queries_check BEFORE INSERT OR UPDATE ON operator_queries FOR EACH ROW EXECUTE FUNCTION check_operator_query();
CREATE TRIGGER operator_queries_stay BEFORE TRUNCATE ON operator_queries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE operator_queries IS 'Status queries that the operator answers by a message to the address of the query. Each is recorded before it is sent.';
COMMENT ON COLUMN operator_queries.seen_callback_id IS 'The last message about the payment that had come when the query began, 0 for none: the answer confirms no later one.';
COMMENT ON COLUMN operator_queries.answered_at IS 'When the first message came to its address. No other one counts.';
COMMENT ON COLUMN operator_queries.attestation IS 'Made by the process that asked. Without it an answer to the query counts for nothing.';
COMMENT ON TRIGGER operator_queries_check ON operator_queries IS 'Refuses a query about another payment than one of its merchant, a query that is answered before it is sent, and every change except its first answer.';
COMMENT ON TRIGGER operator_queries_stay ON operator_queries IS 'Refuses to truncate.';

CREATE TABLE operator_tokens (
  operator text COLLATE "C" NOT NULL,
  product text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  token_sealed text,
  renew_at timestamp with time zone,
  renewing_until timestamp with time zone,
  CONSTRAINT operator_tokens_pkey PRIMARY KEY (operator, product),
  CONSTRAINT operator_tokens_number CHECK (number >= 0),
  CONSTRAINT operator_tokens_product CHECK (product = ANY (ARRAY['collection'::text, 'disbursement'::text])),
  CONSTRAINT operator_tokens_stored CHECK (num_nulls(token_sealed, renew_at) =
CASE number
    WHEN 0 THEN 2
    ELSE 0
END)
) WITH (fillfactor=20);
CREATE TRIGGER operator_tokens_check BEFORE UPDATE ON operator_tokens FOR EACH ROW WHEN (new.operator <> old.operator OR new.product <> old.product OR new.number <> (old.number + (new.token_sealed IS DISTINCT FROM old.token_sealed)::integer)) EXECUTE FUNCTION check_operator_token();
COMMENT ON TABLE operator_tokens IS 'The access token of each product of an operator. A process keeps what it read until the token is to be renewed or was refused.';
COMMENT ON COLUMN operator_tokens.number IS 'Counts the renewals: a process that renews names the number that it replaces, so that it replaces no later token. 0: the first token is on its way.';
COMMENT ON COLUMN operator_tokens.token_sealed IS 'Sealed for `operator.product.proposal`, the proposal of the credentials. It is not sealed again when keys change: one that cannot be opened is renewed.';
COMMENT ON COLUMN operator_tokens.renewing_until IS 'Until this time one process asks the operator for a new token, and no other one does. If that process died, another one asks then.';
COMMENT ON TRIGGER operator_tokens_check ON operator_tokens IS 'Refuses another operator or product, and another token under the same number or the same token under another.';

CREATE TABLE passkey_challenges (
  challenge_sha256 bytea NOT NULL,
  purpose text NOT NULL,
  subject text COLLATE "C" NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge_sha256),
  CONSTRAINT passkey_challenges_challenge_sha256_check CHECK (length(challenge_sha256) = 32),
  CONSTRAINT passkey_challenges_purpose_check CHECK (purpose = ANY (ARRAY['register'::text, 'log_in'::text, 'step_up'::text])),
  CONSTRAINT passkey_challenges_subject_check CHECK (length(subject) >= 1 AND length(subject) <= 100)
);
CREATE INDEX passkey_challenges_age ON passkey_challenges USING btree (expires_at);
COMMENT ON TABLE passkey_challenges IS 'What a passkey signs. It is valid for one purpose, one subject and some minutes.';
COMMENT ON COLUMN passkey_challenges.subject IS 'The id of a person. At a log-in: the digest of the e-mail address as typed, whether an account has it or not.';

CREATE TABLE passkeys (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  credential_id bytea NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT passkeys_counter_check CHECK (counter >= 0),
  CONSTRAINT passkeys_credential_id_check CHECK (length(credential_id) >= 1 AND length(credential_id) <= 1023),
  CONSTRAINT passkeys_id_check CHECK (id ~ '^psk_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT passkeys_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  CONSTRAINT passkeys_public_key_check CHECK (length(public_key) >= 1 AND length(public_key) <= 8192)
);
CREATE INDEX passkeys_user ON passkeys USING btree (user_id);
CREATE TRIGGER passkeys_check BEFORE INSERT OR UPDATE ON passkeys FOR EACH ROW EXECUTE FUNCTION check_passkey();
COMMENT ON TABLE passkeys IS 'A WebAuthn credential: a second factor, as an authenticator app is.';
COMMENT ON COLUMN passkeys.counter IS 'The last count that the authenticator reported; 0 if it does not count.';
COMMENT ON TRIGGER passkeys_check ON passkeys IS 'Refuses another id, person, credential or public key, a counter that falls, and an attestation whose number is not greater than that of the row. A new row locks its person.';

CREATE TABLE payee_names (
  payment_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  name text,
  asked_at timestamp with time zone NOT NULL,
  CONSTRAINT payee_names_pkey PRIMARY KEY (payment_id),
  CONSTRAINT payee_names_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT payee_names_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT payee_names_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  CONSTRAINT payee_names_payment_id_check CHECK ("left"(payment_id, 4) = 'pay_'::text)
);
CREATE INDEX payee_names_age ON payee_names USING btree (asked_at);
CREATE TRIGGER payee_names_stay BEFORE UPDATE OR TRUNCATE ON payee_names FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE payee_names IS 'The name that the operator has for the payee of a payout, shown to the person who releases it. It decides nothing, and is removed by its age.';
COMMENT ON COLUMN payee_names.name IS 'Null: the operator says that it has none.';
COMMENT ON TRIGGER payee_names_stay ON payee_names IS 'Refuses to change or truncate: the first answer stays.';

CREATE TABLE payment_figures (
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  at_most_seconds double precision,
  entered bigint NOT NULL,
  exited bigint NOT NULL,
  seconds double precision NOT NULL,
  CONSTRAINT payment_figures_key UNIQUE NULLS NOT DISTINCT (kind, operator, state, at_most_seconds)
);
COMMENT ON TABLE payment_figures IS 'How many payments of the whole service came into each state and left it, by how long they took to their outcome. Reading costs the same however many payments there are. No row has an id or an amount.';
COMMENT ON COLUMN payment_figures.at_most_seconds IS 'The payments took at most so long, and longer than the next smaller bound. Null: the state was not the first outcome; this row also counts all payments that left the state.';
COMMENT ON COLUMN payment_figures.seconds IS 'How long the payments took together.';

CREATE TABLE payment_totals (
  merchant_id text COLLATE "C" NOT NULL,
  quarter_at timestamp with time zone NOT NULL,
  kind text NOT NULL,
  operator text NOT NULL,
  state text NOT NULL,
  count bigint NOT NULL,
  amount_minor numeric NOT NULL,
  CONSTRAINT payment_totals_pkey PRIMARY KEY (merchant_id, quarter_at, kind, operator, state),
  CONSTRAINT payment_totals_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT payment_totals_kind CHECK (kind = ANY (ARRAY['collection'::text, 'payout'::text]))
);
COMMENT ON TABLE payment_totals IS 'How many payments and how much money, by merchant, kind, operator, quarter of an hour of creation, and state. A quarter of an hour, because the days of every time zone begin at one. Refunds have no totals: the collection counts.';

CREATE TABLE payment_transitions (
  kind text NOT NULL,
  from_state text NOT NULL,
  to_state text NOT NULL,
  CONSTRAINT payment_transitions_pkey PRIMARY KEY (kind, from_state, to_state),
  CONSTRAINT payment_transitions_known_state CHECK (
CASE kind
    WHEN 'collection'::text THEN to_state = ANY (ARRAY['prompted'::text, 'reconciling'::text, 'succeeded'::text, 'failed'::text, 'expired'::text, 'reversed'::text])
    WHEN 'payout'::text THEN to_state = ANY (ARRAY['released'::text, 'reconciling'::text, 'succeeded'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text, 'reversed'::text])
    WHEN 'reversal'::text THEN to_state = ANY (ARRAY['released'::text, 'reconciling'::text, 'succeeded'::text, 'failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text])
    ELSE false
END)
);
COMMENT ON TABLE payment_transitions IS 'The transitions of src/domain/payments, for the check of the database. A test holds the two equal.';

CREATE TABLE payments (
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C",
  idempotency_key text COLLATE "C",
  state text NOT NULL,
  previous_state text,
  version integer DEFAULT 0 NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  reference text NOT NULL,
  phone text NOT NULL,
  operator text NOT NULL,
  operator_reference uuid NOT NULL,
  operator_receipt text,
  receipt_follows boolean DEFAULT false NOT NULL,
  operator_issued_id text,
  description text,
  metadata json,
  payee_name text,
  failure_code text,
  failed_by text,
  status_kind text,
  status_queried_at timestamp with time zone,
  status_attestation text,
  amount_reversed_minor bigint DEFAULT 0 NOT NULL,
  created_by text COLLATE "C",
  api_key_id text COLLATE "C",
  request_id text COLLATE "C",
  request_attestation text,
  approvals_required integer,
  decided_by text COLLATE "C",
  rejection_reason text,
  release_attestation text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  send_deadline_at timestamp with time zone,
  send_begun_at timestamp with time zone,
  send_repeated_at timestamp with time zone,
  send_generation integer DEFAULT 1 NOT NULL,
  sends_once boolean DEFAULT false NOT NULL,
  sends_taken_back integer DEFAULT 0 NOT NULL,
  take_back_attestation text,
  prompt_expires_at timestamp with time zone,
  accepted_at timestamp with time zone,
  not_found_count integer DEFAULT 0 NOT NULL,
  not_found_since timestamp with time zone,
  not_found_last_at timestamp with time zone,
  CONSTRAINT payments_pkey PRIMARY KEY (id),
  CONSTRAINT payments_operator_reference_key UNIQUE (operator_reference),
  CONSTRAINT payments_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES payments(id),
  CONSTRAINT payments_merchant_id_created_by_fkey FOREIGN KEY (merchant_id, created_by) REFERENCES members(merchant_id, user_id),
  CONSTRAINT payments_merchant_id_currency_fkey FOREIGN KEY (merchant_id, currency) REFERENCES merchants(id, currency),
  CONSTRAINT payments_merchant_id_decided_by_fkey FOREIGN KEY (merchant_id, decided_by) REFERENCES members(merchant_id, user_id),
  CONSTRAINT payments_transition FOREIGN KEY (kind, previous_state, state) REFERENCES payment_transitions(kind, from_state, to_state),
  CONSTRAINT payments_already_returned CHECK (failure_code <> 'already_returned'::text OR kind = 'reversal'::text AND send_begun_at IS NULL),
  CONSTRAINT payments_amount_minor_check CHECK (amount_minor >= 1 AND amount_minor <= '9007199254740991'::bigint),
  CONSTRAINT payments_approvals_required_check CHECK (approvals_required >= 1 AND approvals_required <= 2),
  CONSTRAINT payments_attested CHECK ((kind = 'reversal'::text AND state = 'failed'::text) = (status_attestation IS NOT NULL)),
  CONSTRAINT payments_cancelled_by_maker CHECK (state <> 'cancelled'::text OR decided_by = created_by),
  CONSTRAINT payments_cancelled_unsent CHECK (state <> 'cancelled'::text OR send_begun_at IS NULL),
  CONSTRAINT payments_columns_of_collections CHECK (kind <> 'collection'::text OR num_nulls(idempotency_key, metadata, send_deadline_at) = 0 AND not_found_count = 0 AND num_nonnulls(collection_id, payee_name, approvals_required, request_attestation, release_attestation, expires_at, accepted_at, not_found_last_at, status_kind, status_queried_at) = 0),
  CONSTRAINT payments_columns_of_payouts CHECK (kind <> 'payout'::text OR num_nulls(idempotency_key, metadata, created_by, approvals_required, expires_at) = 0 AND num_nonnulls(collection_id, prompt_expires_at, status_kind, status_queried_at) = 0),
  CONSTRAINT payments_columns_of_refunds CHECK (kind <> 'reversal'::text OR num_nulls(collection_id, created_by, approvals_required, expires_at) = 0 AND num_nonnulls(idempotency_key, api_key_id, description, metadata, payee_name, prompt_expires_at) = 0),
  CONSTRAINT payments_created_by_one CHECK (kind <> 'collection'::text OR created_by IS NULL OR api_key_id IS NULL),
  CONSTRAINT payments_created_in_first_state CHECK ((state =
CASE kind
    WHEN 'collection'::text THEN 'initiated'::text
    ELSE 'queued'::text
END) = (version = 0) AND (version = 0) = (previous_state IS NULL)),
  CONSTRAINT payments_decided CHECK ((state = ANY (ARRAY['rejected'::text, 'cancelled'::text])) = (decided_by IS NOT NULL)),
  CONSTRAINT payments_description_check CHECK (length(description) >= 1 AND length(description) <= 120),
  CONSTRAINT payments_failed_by CHECK (failed_by IS NULL OR kind <> 'collection'::text AND state = 'failed'::text),
  CONSTRAINT payments_failure CHECK ((state = 'failed'::text OR kind = 'collection'::text AND state = 'expired'::text) = (failure_code IS NOT NULL)),
  CONSTRAINT payments_id_check CHECK (length(id) = 30 AND id ~ '^(col|pay|rev)_[0-7][0-9a-hjkmnp-tv-z]+$'::text),
  CONSTRAINT payments_id_of_kind CHECK ("left"(id, 3) = "left"(kind, 3)),
  CONSTRAINT payments_idempotency_key_check CHECK (length(idempotency_key) >= 1 AND length(idempotency_key) <= 255),
  CONSTRAINT payments_kind_check CHECK (kind = ANY (ARRAY['collection'::text, 'payout'::text, 'reversal'::text])),
  CONSTRAINT payments_metadata_check CHECK (json_typeof(metadata) = 'object'::text),
  CONSTRAINT payments_never_sent CHECK (send_begun_at IS NULL OR COALESCE(failure_code, ''::text) <> 'service_unavailable'::text AND COALESCE(failed_by, ''::text) <> 'never_sent'::text),
  CONSTRAINT payments_operator_issued_id_check CHECK (length(operator_issued_id) >= 1 AND length(operator_issued_id) <= 200),
  CONSTRAINT payments_operator_receipt_check CHECK (length(operator_receipt) >= 1 AND length(operator_receipt) <= 200),
  CONSTRAINT payments_payee_name_check CHECK (length(payee_name) >= 1 AND length(payee_name) <= 100),
  CONSTRAINT payments_phone_check CHECK (length(phone) >= 8 AND length(phone) <= 15 AND phone ~ '^[1-9][0-9]+$'::text),
  CONSTRAINT payments_prompt_expiry CHECK (state <> 'prompted'::text OR prompt_expires_at IS NOT NULL),
  CONSTRAINT payments_receipt CHECK (
CASE
    WHEN kind <> 'reversal'::text AND (state = ANY (ARRAY['succeeded'::text, 'reversed'::text])) THEN operator_receipt IS NOT NULL OR receipt_follows
    ELSE operator_receipt IS NULL
END),
  CONSTRAINT payments_reference_check CHECK (length(reference) >= 1 AND length(reference) <= 100),
  CONSTRAINT payments_rejection CHECK ((state = 'rejected'::text) = (rejection_reason IS NOT NULL)),
  CONSTRAINT payments_rejection_reason_check CHECK (length(rejection_reason) >= 1 AND length(rejection_reason) <= 200),
  CONSTRAINT payments_release_attestation_check CHECK (release_attestation ~ '^[A-Za-z0-9_-]{43}$'::text),
  CONSTRAINT payments_reversed_amount CHECK (amount_reversed_minor =
CASE state
    WHEN 'reversed'::text THEN amount_minor
    ELSE 0::bigint
END),
  CONSTRAINT payments_send_deadline CHECK (kind = 'collection'::text OR ((state = ANY (ARRAY['queued'::text, 'rejected'::text, 'expired'::text])) OR state = 'cancelled'::text AND previous_state <> 'released'::text) = (send_deadline_at IS NULL))
) WITH (autovacuum_analyze_threshold=10000, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_threshold=10000);
CREATE INDEX payments_by_idempotency_key ON payments USING hash (lower(idempotency_key));
CREATE INDEX payments_list ON payments USING btree (merchant_id, kind, id DESC);
CREATE INDEX payments_list_by_amount ON payments USING btree (merchant_id, kind, amount_minor, id);
CREATE INDEX payments_list_by_api_key ON payments USING btree (merchant_id, kind, api_key_id, id DESC) WHERE api_key_id IS NOT NULL;
CREATE INDEX payments_list_by_person ON payments USING btree (merchant_id, kind, created_by, id DESC) WHERE created_by IS NOT NULL;
CREATE INDEX payments_list_by_phone ON payments USING btree (merchant_id, kind, phone, id DESC);
CREATE INDEX payments_list_by_reference ON payments USING btree (merchant_id, kind, lower(reference) text_pattern_ops, id DESC);
CREATE INDEX payments_list_by_state ON payments USING btree (merchant_id, kind, state, id DESC);
CREATE UNIQUE INDEX payments_one_payout_pending_per_key ON payments USING btree (merchant_id, idempotency_key) WHERE kind = 'payout'::text AND (state = ANY (ARRAY['queued'::text, 'released'::text, 'reconciling'::text]));
CREATE UNIQUE INDEX payments_one_per_issued_id ON payments USING btree (operator, operator_issued_id) WHERE operator_issued_id IS NOT NULL;
CREATE UNIQUE INDEX payments_one_per_receipt ON payments USING btree (operator, kind, operator_receipt) WHERE operator_receipt IS NOT NULL;
CREATE UNIQUE INDEX payments_one_per_short_reference ON payments USING btree (operator, "left"(operator_reference::text, 13)) WHERE sends_once AND kind = 'collection'::text;
CREATE UNIQUE INDEX payments_one_refund_at_a_time ON payments USING btree (collection_id) WHERE collection_id IS NOT NULL AND (state <> ALL (ARRAY['failed'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text]));
CREATE INDEX payments_payouts_sent_by_phone ON payments USING btree (merchant_id, phone, id DESC) WHERE kind = 'payout'::text AND (state = ANY (ARRAY['released'::text, 'reconciling'::text, 'succeeded'::text, 'reversed'::text]));
CREATE INDEX payments_payouts_sent_by_reference ON payments USING btree (merchant_id, reference, id DESC) WHERE kind = 'payout'::text AND (state = ANY (ARRAY['released'::text, 'reconciling'::text, 'succeeded'::text, 'reversed'::text]));
CREATE INDEX payments_refunds_of_collection ON payments USING btree (collection_id, id DESC) WHERE collection_id IS NOT NULL;
CREATE INDEX payments_refunds_pending ON payments USING btree (merchant_id) WHERE kind = 'reversal'::text AND (state = ANY (ARRAY['queued'::text, 'released'::text, 'reconciling'::text]));
CREATE INDEX payments_unfinished ON payments USING btree (kind, state, updated_at) WHERE state = ANY (ARRAY['initiated'::text, 'prompted'::text, 'queued'::text, 'released'::text, 'reconciling'::text]);
CREATE TRIGGER payments_check_change BEFORE UPDATE OF state, previous_state, version, operator_receipt, failure_code, failed_by, status_kind, status_queried_at, status_attestation, amount_reversed_minor, request_attestation, approvals_required, decided_by, rejection_reason, release_attestation, send_deadline_at, send_begun_at, send_repeated_at, send_generation, sends_taken_back, take_back_attestation, operator_issued_id, prompt_expires_at, accepted_at, not_found_count, not_found_since, not_found_last_at ON payments FOR EACH ROW EXECUTE FUNCTION check_payment_change();
CREATE TRIGGER payments_check_created AFTER INSERT ON payments REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION check_new_payments();
CREATE TRIGGER payments_check_fenced BEFORE UPDATE OF send_begun_at, send_repeated_at ON payments FOR EACH ROW WHEN (new.send_begun_at IS NOT NULL) EXECUTE FUNCTION check_fenced_send();
CREATE TRIGGER payments_check_new BEFORE INSERT ON payments FOR EACH ROW WHEN (new.kind <> 'collection'::text OR new.state <> 'initiated'::text) EXECUTE FUNCTION check_new_payment();
CREATE CONSTRAINT TRIGGER payments_check_recorded AFTER INSERT OR UPDATE OF state ON payments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.version > 0 OR new.kind = 'payout'::text) EXECUTE FUNCTION check_payment_recorded();
CREATE TRIGGER payments_kept BEFORE DELETE OR TRUNCATE ON payments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payments_note_changed AFTER UPDATE OF state ON payments FOR EACH ROW WHEN (new.state IS DISTINCT FROM old.state) EXECUTE FUNCTION note_state_change();
CREATE TRIGGER payments_note_created AFTER INSERT ON payments REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION note_state_change();
CREATE TRIGGER payments_requested_kept BEFORE UPDATE OF id, kind, merchant_id, collection_id, idempotency_key, amount_minor, currency, reference, phone, operator, operator_reference, description, metadata, payee_name, created_by, api_key_id, request_id, created_at, expires_at, sends_once, receipt_follows ON payments FOR EACH STATEMENT EXECUTE FUNCTION refuse_requested_change();
COMMENT ON TABLE payments IS 'A collection, a payout, or the refund of a whole collection. Each statement that writes a row reads all its checks first, so they are short; what needs lists of values is a trigger.';
COMMENT ON COLUMN payments.kind IS '`reversal`: the refund of a collection.';
COMMENT ON COLUMN payments.collection_id IS 'The collection that a refund gives back. Merchant, amount, currency, operator, phone and reference of the refund are those of the collection, so that a query about the refund reads no second row.';
COMMENT ON COLUMN payments.idempotency_key IS 'Null for a refund: the collection itself allows one at a time.';
COMMENT ON COLUMN payments.receipt_follows IS 'Whether the statuses of the operator name no receipt, so that it is recorded, once, after the payment. It never changes.';
COMMENT ON COLUMN payments.operator_issued_id IS 'The id that the operator issued when it accepted the payment. Some operators find a payment by it alone.';
COMMENT ON COLUMN payments.payee_name IS 'The name of the payee of a payout as its maker typed it.';
COMMENT ON COLUMN payments.failed_by IS 'What made a payout or refund fail.';
COMMENT ON COLUMN payments.status_kind IS 'What the operator said of a refund that failed. A refund that failed no longer reserves its money.';
COMMENT ON COLUMN payments.status_attestation IS 'Attests the failure of a refund with the status of the operator.';
COMMENT ON COLUMN payments.created_by IS 'The person who requested the payment in a session. A payout always has its maker here: if an API key requested it, the person who created the key.';
COMMENT ON COLUMN payments.api_key_id IS 'The API key that requested it. A foreign key would lock the row of the key for each collection, so a trigger checks it; keys are never deleted.';
COMMENT ON COLUMN payments.request_id IS 'The request that created the payment.';
COMMENT ON COLUMN payments.request_attestation IS 'Made by the process that records the request. Nobody approves a payout or refund whose row is not as it was requested.';
COMMENT ON COLUMN payments.release_attestation IS 'Made by the process that records the release. It changes with the release alone.';
COMMENT ON COLUMN payments.expires_at IS 'A payout or refund that is not released by then expires.';
COMMENT ON COLUMN payments.send_deadline_at IS 'Nothing is sent to the operator after this time. A collection has it from its creation, a payout or refund from its release.';
COMMENT ON COLUMN payments.send_begun_at IS 'When the first try to send it began, whatever the try led to.';
COMMENT ON COLUMN payments.send_repeated_at IS 'When the second try to send it began.';
COMMENT ON COLUMN payments.send_generation IS 'Which generation the columns about the send, the acceptance and the issued id are of. It counts up when the operator refused a payout for our float: see `send_generations`.';
COMMENT ON COLUMN payments.sends_once IS 'Whether a repeated send might pay twice, as the catalogue says of the product (`Capabilities`). It never changes.';
COMMENT ON COLUMN payments.sends_taken_back IS 'How many sends were taken back, because the operator answered that it did nothing with them. None of them is the send that began.';
COMMENT ON COLUMN payments.take_back_attestation IS 'Attests the last send that was taken back, with its number. Nothing is sent again without it.';
COMMENT ON COLUMN payments.prompt_expires_at IS 'When the prompt on the phone of the payer ends.';
COMMENT ON COLUMN payments.accepted_at IS 'When the operator first said that it has the payout or refund.';
COMMENT ON COLUMN payments.not_found_count IS 'How many statuses in a row said that the operator does not know the payment. Those count that came after the send deadline.';
COMMENT ON COLUMN payments.not_found_since IS 'The time of the first status that was counted.';
COMMENT ON COLUMN payments.not_found_last_at IS 'The time of the last status that was counted, or that made the count begin again.';
COMMENT ON TRIGGER payments_check_change ON payments IS 'Refuses every decision, outcome and generation without a fresh fence, and to give up a payout or refund that the operator was found to have after a restore. Refuses an outcome without a change of state, except a receipt that follows; a change of state that does not count up the version; a send that begins or is repeated when it must not, and each repeated send of what is sent once; a generation that does not count up by one, unsent, of a payout whose last one was sent; a send that is taken back without an attestation or after the operator had it; another issued id; an end of what is sent once because the operator does not know it. Of a collection it refuses a failure after the operator said how it expired, and an end as never sent after the prompt; a prompted collection counts as sent. Of a payout or refund it refuses fewer approvals; another attestation of the request; a cleared acceptance; a wrong count of unknown statuses; a failure whose cause the row does not show; a refund with another status than the one that made it fail; a release that lacks approvals, an attestation, two owners or a paid collection; and another attestation otherwise.';
COMMENT ON TRIGGER payments_check_created ON payments IS 'Refuses a new payment of an API key of another merchant, and one whose statement inserts no work for it. A foreign key would lock the row of the API key for each collection. Refuses each in recovery, and before the database is compared with its markers.';
COMMENT ON TRIGGER payments_check_fenced ON payments IS 'Refuses every try to send without a fresh fence, also one that changes nothing.';
COMMENT ON TRIGGER payments_check_new ON payments IS 'Refuses a new payment in another state than the first of its kind. Refuses a payout or refund that has no attestation of its request, has one of a release or a status of the operator, a refund that is not of a whole collection of its merchant, and money out while a live merchant has fewer than two owners with a second factor, of a person or a key in their waiting time, or without a fresh fence.';
COMMENT ON TRIGGER payments_check_recorded ON payments IS 'Refuses, at commit, a new payout without its event and its hold, a new state without its event, other transfers than those of the state, another send deadline than that of the release, a refund that succeeded and did not reverse its collection, a pending payment that changed and has no work, and one that the operator has and for which no status query is recorded.';
COMMENT ON TRIGGER payments_kept ON payments IS 'Refuses to delete rows and to truncate.';
COMMENT ON TRIGGER payments_note_changed ON payments IS 'Refuses nothing. It adds the change to state_changes, and one of the checkout that a collection pays.';
COMMENT ON TRIGGER payments_note_created ON payments IS 'Refuses nothing. It adds the new rows to state_changes.';
COMMENT ON TRIGGER payments_requested_kept ON payments IS 'Refuses to change what was requested. It runs once a statement, and no statement of the service updates these columns.';

CREATE TABLE policies (
  merchant_id text COLLATE "C" NOT NULL,
  second_factor_required boolean DEFAULT false NOT NULL,
  two_approvers_above_minor bigint,
  approver_daily_limit_minor bigint,
  approver_wait_ms bigint,
  key_held_limit_minor bigint,
  payout_expires_after_ms bigint,
  updated_at timestamp with time zone NOT NULL,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT policies_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT policies_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT policies_approver_daily_limit_minor_check CHECK (approver_daily_limit_minor >= 1 AND approver_daily_limit_minor <= '9007199254740991'::bigint),
  CONSTRAINT policies_approver_wait_ms_check CHECK (approver_wait_ms >= 1000 AND approver_wait_ms <= '2592000000'::bigint),
  CONSTRAINT policies_key_held_limit_minor_check CHECK (key_held_limit_minor >= 0 AND key_held_limit_minor <= '9007199254740991'::bigint),
  CONSTRAINT policies_payout_expires_after_ms_check CHECK (payout_expires_after_ms >= 1000 AND payout_expires_after_ms <= '2592000000'::bigint),
  CONSTRAINT policies_two_approvers_above_minor_check CHECK (two_approvers_above_minor >= 0 AND two_approvers_above_minor <= '9007199254740991'::bigint)
);
CREATE TRIGGER policies_check BEFORE UPDATE ON policies FOR EACH ROW WHEN (new.merchant_id <> old.merchant_id OR new.attestation <> old.attestation) EXECUTE FUNCTION check_attested_row('merchant_id');
COMMENT ON TABLE policies IS 'What a merchant demands beyond the second person. A merchant that never changed its policy has no row: the defaults apply.';
COMMENT ON COLUMN policies.two_approvers_above_minor IS 'A payout above this amount needs two approvers. Null: one approver is enough for any amount.';
COMMENT ON COLUMN policies.approver_daily_limit_minor IS 'The most that one person approves in 24 hours, payouts and refunds together. Null: no limit.';
COMMENT ON COLUMN policies.approver_wait_ms IS 'How long a new approver waits. Null: the least that the environment demands.';
COMMENT ON COLUMN policies.key_held_limit_minor IS 'The most that the queued payouts of one API key may hold together. Null: no limit.';
COMMENT ON TRIGGER policies_check ON policies IS 'Refuses another merchant, and an attestation whose number is not greater than that of the row.';

CREATE TABLE proposals (
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  user_id text COLLATE "C",
  email text,
  roles_before text[],
  roles text[],
  changes json,
  token_sha256 bytea,
  approval_sha256 bytea,
  proposed_by text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  decided_by text COLLATE "C",
  decided_at timestamp with time zone,
  ended_at timestamp with time zone,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT proposals_pkey PRIMARY KEY (id),
  CONSTRAINT proposals_token_sha256_key UNIQUE (token_sha256),
  CONSTRAINT proposals_about_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members(merchant_id, user_id),
  CONSTRAINT proposals_by_a_member FOREIGN KEY (merchant_id, proposed_by) REFERENCES members(merchant_id, user_id),
  CONSTRAINT proposals_decided_by_a_member FOREIGN KEY (merchant_id, decided_by) REFERENCES members(merchant_id, user_id),
  CONSTRAINT proposals_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT proposals_about_another CHECK (kind <> 'member_change'::text OR user_id <> proposed_by),
  CONSTRAINT proposals_accepted CHECK (kind <> 'invitation'::text OR (user_id IS NOT NULL) = (state = 'accepted'::text)),
  CONSTRAINT proposals_approval_sha256_check CHECK (length(approval_sha256) = 32),
  CONSTRAINT proposals_approved CHECK ((approval_sha256 IS NOT NULL) = (kind = 'invitation'::text AND state <> 'rejected'::text AND decided_at IS NOT NULL)),
  CONSTRAINT proposals_by_two CHECK (
CASE
    WHEN decided_at IS NULL THEN decided_by IS NULL
    WHEN decided_by IS NULL THEN state <> 'rejected'::text AND kind <> 'policy_change'::text
    ELSE decided_by <> proposed_by
END),
  CONSTRAINT proposals_changes_check CHECK (json_typeof(changes) = 'object'::text),
  CONSTRAINT proposals_decided CHECK (
CASE
    WHEN state = ANY (ARRAY['approved'::text, 'rejected'::text]) THEN decided_at IS NOT NULL
    WHEN state = 'pending'::text OR kind <> 'invitation'::text THEN decided_at IS NULL
    ELSE true
END),
  CONSTRAINT proposals_email_check CHECK (length(email) >= 3 AND length(email) <= 254 AND email = lower(email)),
  CONSTRAINT proposals_ended CHECK ((ended_at IS NOT NULL) = (state = ANY (ARRAY['withdrawn'::text, 'replaced'::text, 'accepted'::text]))),
  CONSTRAINT proposals_id CHECK (id ~ '^(inv|mch|pch)_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text AND kind =
CASE "left"(id, 3)
    WHEN 'inv'::text THEN 'invitation'::text
    WHEN 'mch'::text THEN 'member_change'::text
    ELSE 'policy_change'::text
END),
  CONSTRAINT proposals_of_kind CHECK (
CASE kind
    WHEN 'invitation'::text THEN num_nulls(email, roles, token_sha256) = 0 AND num_nonnulls(roles_before, changes) = 0
    WHEN 'member_change'::text THEN num_nulls(user_id, roles_before, proposed_by) = 0 AND num_nonnulls(email, changes, token_sha256) = 0
    ELSE num_nulls(changes, proposed_by) = 0 AND num_nonnulls(user_id, email, roles_before, roles, token_sha256) = 0
END),
  CONSTRAINT proposals_roles_before_check CHECK (cardinality(roles_before) > 0 AND roles_before <@ ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'maker'::text, 'approver'::text, 'viewer'::text]),
  CONSTRAINT proposals_roles_check CHECK (cardinality(roles) > 0 AND roles <@ ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'maker'::text, 'approver'::text, 'viewer'::text]),
  CONSTRAINT proposals_state CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'withdrawn'::text])) OR state =
CASE kind
    WHEN 'invitation'::text THEN 'accepted'::text
    ELSE 'replaced'::text
END),
  CONSTRAINT proposals_token_sha256_check CHECK (length(token_sha256) = 32)
);
CREATE INDEX proposals_merchant ON proposals USING btree (merchant_id, kind, id DESC);
CREATE UNIQUE INDEX proposals_one_pending ON proposals USING btree (merchant_id, proposed_by, user_id) NULLS NOT DISTINCT WHERE state = 'pending'::text AND kind <> 'invitation'::text;
CREATE TRIGGER proposals_check BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION check_proposal();
COMMENT ON TABLE proposals IS 'What one person proposed for another person to decide: an invitation to become a member, a change of the roles of a member or their removal, or a change of the policy. An invitation that needs no second person stays pending until it is accepted.';
COMMENT ON COLUMN proposals.user_id IS 'The member whom the change is about; of an invitation, the person who accepted it.';
COMMENT ON COLUMN proposals.roles_before IS 'The roles of the member at the proposal. A change of roles applies to no other ones.';
COMMENT ON COLUMN proposals.roles IS 'The roles to give. Null for a change of a member: the member is to be removed.';
COMMENT ON COLUMN proposals.changes IS 'Only the fields of the policy to change, under the names that the API gives them.';
COMMENT ON COLUMN proposals.token_sha256 IS 'The digest of the token that the sender of an invitation passes on.';
COMMENT ON COLUMN proposals.approval_sha256 IS 'The approver of an invitation passes on a token of their own, so that neither of the two people can accept it alone.';
COMMENT ON COLUMN proposals.proposed_by IS 'Null: the staff of the service invited the first owner of the merchant.';
COMMENT ON COLUMN proposals.decided_by IS 'Null although decided_at is set: the staff of the service approved the proposal.';
COMMENT ON COLUMN proposals.decided_at IS 'When a second person approved or rejected the proposal.';
COMMENT ON COLUMN proposals.ended_at IS 'When the proposal was withdrawn or replaced, or the invitation accepted.';
COMMENT ON TRIGGER proposals_check ON proposals IS 'Refuses another id, kind or merchant, to decide a proposal again or to change how it ended, and an attestation whose number is not greater than that of the row.';

CREATE TABLE recoveries (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  proposal_id text COLLATE "C" NOT NULL,
  token_sha256 bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT recoveries_pkey PRIMARY KEY (id),
  CONSTRAINT recoveries_token_sha256_key UNIQUE (token_sha256),
  CONSTRAINT recoveries_user_id_key UNIQUE (user_id),
  CONSTRAINT recoveries_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES staff_proposals(id),
  CONSTRAINT recoveries_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT recoveries_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT recoveries_id_check CHECK (id ~ '^rcv_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT recoveries_token_sha256_check CHECK (length(token_sha256) = 32)
);
CREATE INDEX recoveries_age ON recoveries USING btree (expires_at);
CREATE TRIGGER recoveries_check BEFORE INSERT OR UPDATE ON recoveries FOR EACH ROW EXECUTE FUNCTION check_recovery();
COMMENT ON TABLE recoveries IS 'A way for a person to regain access. Two of the staff of the service agreed on it.';
COMMENT ON COLUMN recoveries.user_id IS 'A person has one recovery at most: a new one replaces the old one.';
COMMENT ON COLUMN recoveries.proposal_id IS 'The confirmed proposal of the staff, which names both of them and the reason.';
COMMENT ON COLUMN recoveries.token_sha256 IS 'The digest of the token, with which the person sets a new password. The row is deleted when it is used.';
COMMENT ON TRIGGER recoveries_check ON recoveries IS 'Refuses a recovery without a confirmed proposal of the staff about this person, every change, and an attestation whose number is not greater than that of the row.';

CREATE TABLE recovery_codes (
  user_id text COLLATE "C" NOT NULL,
  code_sha256 bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_sha256),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  CONSTRAINT recovery_codes_code_sha256_check CHECK (length(code_sha256) = 32)
);
CREATE TRIGGER recovery_codes_check BEFORE UPDATE ON recovery_codes FOR EACH ROW EXECUTE FUNCTION check_recovery_code();
COMMENT ON TABLE recovery_codes IS 'A code in place of a lost second factor, stored as its digest.';
COMMENT ON TRIGGER recovery_codes_check ON recovery_codes IS 'Refuses to use a code twice, and any other change.';

CREATE TABLE refusal_counts (
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  action text NOT NULL,
  reason text NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  times integer NOT NULL,
  CONSTRAINT refusal_counts_pkey PRIMARY KEY (merchant_id, user_id, action, reason),
  CONSTRAINT refusal_counts_times CHECK (times > 0)
);
CREATE INDEX refusal_counts_end ON refusal_counts USING btree (ends_at);
COMMENT ON TABLE refusal_counts IS 'How often a person was refused within an hour. The first refusals of a kind have an entry each in the audit log; one later entry counts the others.';
COMMENT ON COLUMN refusal_counts.action IS 'The method and the route, as in the audit log.';
COMMENT ON COLUMN refusal_counts.times IS 'All refusals of the hour, including those with an entry of their own.';

CREATE TABLE replays (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C",
  states text[] NOT NULL,
  created_from timestamp with time zone,
  created_before timestamp with time zone NOT NULL,
  state text NOT NULL,
  total integer NOT NULL,
  replayed integer DEFAULT 0 NOT NULL,
  skipped integer DEFAULT 0 NOT NULL,
  last_delivery_id text COLLATE "C",
  requested_by text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone,
  CONSTRAINT replays_pkey PRIMARY KEY (id),
  CONSTRAINT replays_endpoint_id_merchant_id_fkey FOREIGN KEY (endpoint_id, merchant_id) REFERENCES endpoints(id, merchant_id),
  CONSTRAINT replays_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT replays_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES users(id),
  CONSTRAINT replays_completed CHECK ((state = 'completed'::text) = (completed_at IS NOT NULL)),
  CONSTRAINT replays_id_check CHECK (id ~ '^rpl_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT replays_replayed_check CHECK (replayed >= 0),
  CONSTRAINT replays_skipped_check CHECK (skipped >= 0),
  CONSTRAINT replays_state_check CHECK (state = ANY (ARRAY['running'::text, 'completed'::text])),
  CONSTRAINT replays_states_check CHECK (cardinality(states) > 0 AND states <@ ARRAY['delivered'::text, 'dead_lettered'::text, 'withheld'::text]),
  CONSTRAINT replays_total_check CHECK (total >= 0)
);
CREATE INDEX replays_list ON replays USING btree (merchant_id, id DESC);
CREATE INDEX replays_running ON replays USING btree (updated_at) WHERE state = 'running'::text;
CREATE TRIGGER replays_note AFTER INSERT OR UPDATE ON replays FOR EACH ROW EXECUTE FUNCTION note_state_change('replay');
COMMENT ON TABLE replays IS 'A replay of many deliveries, carried out in batches in the background. The row of a completed replay says what it did.';
COMMENT ON COLUMN replays.endpoint_id IS 'Null: the deliveries of all endpoints, created from created_from on and before created_before.';
COMMENT ON COLUMN replays.total IS 'How many deliveries matched when the replay began.';
COMMENT ON COLUMN replays.skipped IS 'Deliveries that matched and stay as they are, because their endpoint is disabled or deleted.';
COMMENT ON COLUMN replays.last_delivery_id IS 'The position: deliveries after this one remain.';
COMMENT ON TRIGGER replays_note ON replays IS 'Refuses nothing. It adds a row to state_changes.';

CREATE TABLE restore_findings (
  payment_id text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  restore_id bigint NOT NULL,
  operator_reference uuid NOT NULL,
  said text NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  CONSTRAINT restore_findings_pkey PRIMARY KEY (payment_id, generation, restore_id),
  CONSTRAINT restore_findings_payment FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT restore_findings_restore FOREIGN KEY (restore_id) REFERENCES restores(id),
  CONSTRAINT restore_findings_generation CHECK (generation >= 1),
  CONSTRAINT restore_findings_said CHECK (said = ANY (ARRAY['open'::text, 'paid'::text, 'returned'::text, 'failed'::text, 'not_found'::text, 'unanswerable'::text]))
);
CREATE TRIGGER restore_findings_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON restore_findings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE restore_findings IS 'What an operator has under a reference that follows from a payment, asked before anything else may happen to the payment.';
COMMENT ON COLUMN restore_findings.said IS 'unanswerable: the operator answers no question about a payment that was not recorded as sent. Nobody knows what it has.';
COMMENT ON TRIGGER restore_findings_kept ON restore_findings IS 'Refuses every update, delete and truncate: rows are only added.';

CREATE TABLE restores (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  reason text NOT NULL,
  found_at timestamp with time zone NOT NULL,
  counter bigint NOT NULL,
  written_at timestamp with time zone,
  marker text,
  marker_counter bigint,
  marker_written_at timestamp with time zone,
  sessions_ended integer NOT NULL,
  opened_at timestamp with time zone,
  proposal_id text COLLATE "C",
  CONSTRAINT restores_pkey PRIMARY KEY (id),
  CONSTRAINT restores_behind CHECK (reason <> 'behind'::text OR marker_counter IS NOT NULL AND marker_counter > counter),
  CONSTRAINT restores_marker CHECK (marker = ANY (ARRAY['file'::text, 'memory'::text, 'temporal'::text])),
  CONSTRAINT restores_of_marker CHECK (num_nulls(marker, marker_counter, marker_written_at) = ANY (ARRAY[0, 3])),
  CONSTRAINT restores_opened CHECK ((opened_at IS NULL) = (proposal_id IS NULL)),
  CONSTRAINT restores_reason CHECK (reason = ANY (ARRAY['behind'::text, 'other_cluster'::text, 'other_database'::text, 'other_timeline'::text, 'no_marker'::text]))
);
CREATE TRIGGER restores_check BEFORE INSERT OR UPDATE ON restores FOR EACH ROW EXECUTE FUNCTION check_restore();
CREATE TRIGGER restores_kept BEFORE DELETE OR TRUNCATE ON restores FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE restores IS 'Each time the database was found to be older than a marker of its fence, or another one. The service is in recovery until two of the staff open it.';
COMMENT ON COLUMN restores.counter IS 'What the fence of the database was.';
COMMENT ON COLUMN restores.written_at IS 'What the database has ends here. Null: its fence was never written.';
COMMENT ON COLUMN restores.marker_written_at IS 'What is missing ends at most a few seconds after this time.';
COMMENT ON COLUMN restores.proposal_id IS 'The proposal of one of the staff that another one confirmed. It may be gone, where the staff began again.';
COMMENT ON TRIGGER restores_check ON restores IS 'Refuses another change than that the service is opened, once, by two of the staff who agreed on the latest restore.';
COMMENT ON TRIGGER restores_kept ON restores IS 'Refuses to delete rows and to truncate.';

CREATE TABLE schema_migrations (
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamp with time zone NOT NULL,
  oldest_servers text,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE schema_migrations IS 'The files that were applied to this database, each with its checksum. The migration creates the table.';
COMMENT ON COLUMN schema_migrations.oldest_servers IS 'The oldest servers that may run on the database with the file of this row: those that know the schema up to the named file. Null: those that know the file of this row.';

CREATE TABLE send_generations (
  payment_id text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  operator_reference uuid NOT NULL,
  failure_code text NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  send_after timestamp with time zone NOT NULL,
  attestation text NOT NULL,
  CONSTRAINT send_generations_pkey PRIMARY KEY (payment_id, generation),
  CONSTRAINT send_generations_operator_reference_key UNIQUE (operator_reference),
  CONSTRAINT send_generations_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id),
  CONSTRAINT send_generations_attestation CHECK (attestation ~ '^[A-Za-z0-9_-]{43}$'::text),
  CONSTRAINT send_generations_failure CHECK (length(failure_code) >= 1 AND length(failure_code) <= 40),
  CONSTRAINT send_generations_later CHECK (generation >= 2),
  CONSTRAINT send_generations_pause CHECK (send_after >= recorded_at)
);
CREATE TRIGGER send_generations_check BEFORE INSERT ON send_generations FOR EACH ROW EXECUTE FUNCTION check_send_generation();
CREATE TRIGGER send_generations_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON send_generations FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
COMMENT ON TABLE send_generations IS 'Each generation of a payout after the first, recorded before it is sent. The operator refused the generation before for our float, with the evidence by which the payout would otherwise have failed.';
COMMENT ON COLUMN send_generations.operator_reference IS 'Under which the operator gets this generation. It follows from the first reference of the payment and the number.';
COMMENT ON COLUMN send_generations.failure_code IS 'Why the operator refused the generation before.';
COMMENT ON COLUMN send_generations.attestation IS 'Made by the process that had the refusal. Without it nothing is sent, and no status of the payout frees its money.';
COMMENT ON TRIGGER send_generations_check ON send_generations IS 'Refuses a generation but the next one of a released payout whose current generation was sent, before its send deadline, one with the reference of a payment, and any without a fresh fence.';
COMMENT ON TRIGGER send_generations_kept ON send_generations IS 'Refuses to change, to delete and to truncate.';

CREATE TABLE sessions (
  id text COLLATE "C" NOT NULL,
  token_sha256 bytea NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  verified_at timestamp with time zone NOT NULL,
  second_factor_at timestamp with time zone,
  address inet,
  user_agent text,
  failed_log_ins integer DEFAULT 0 NOT NULL,
  last_failed_at timestamp with time zone,
  last_failed_address inet,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (token_sha256),
  CONSTRAINT sessions_named_once UNIQUE (id),
  CONSTRAINT sessions_of_a_member FOREIGN KEY (merchant_id, user_id) REFERENCES members(merchant_id, user_id),
  CONSTRAINT sessions_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT sessions_failed_log_ins_check CHECK (failed_log_ins >= 0),
  CONSTRAINT sessions_id_check CHECK (id ~ '^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT sessions_token_sha256_check CHECK (length(token_sha256) = 32),
  CONSTRAINT sessions_user_agent_check CHECK (length(user_agent) >= 1 AND length(user_agent) <= 200)
);
CREATE INDEX sessions_age ON sessions USING btree (expires_at);
CREATE INDEX sessions_user ON sessions USING btree (user_id);
CREATE TRIGGER sessions_check BEFORE UPDATE ON sessions FOR EACH ROW WHEN (new.id <> old.id OR new.attestation <> old.attestation) EXECUTE FUNCTION check_attested_row('id');
COMMENT ON TABLE sessions IS 'A log-in of a member in one browser.';
COMMENT ON COLUMN sessions.id IS 'The name of the session for its person and for administrators.';
COMMENT ON COLUMN sessions.token_sha256 IS 'The digest of the token. Only the person has the token.';
COMMENT ON COLUMN sessions.expires_at IS 'The session ends then, however much it is used.';
COMMENT ON COLUMN sessions.verified_at IS 'The last verification of any kind, by password or second factor. The log-in is the first.';
COMMENT ON COLUMN sessions.failed_log_ins IS 'What users.failed_log_ins was when the session was opened.';
COMMENT ON TRIGGER sessions_check ON sessions IS 'Refuses another id, and an attestation whose number is not greater than that of the row.';

CREATE TABLE staff_members (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  state text NOT NULL,
  founder smallint,
  added_by text COLLATE "C",
  confirmed_by text COLLATE "C",
  proposal_id text COLLATE "C",
  password_hash text,
  totp_secret_sealed text,
  totp_last_step bigint,
  created_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT staff_members_pkey PRIMARY KEY (id),
  CONSTRAINT staff_members_founder_key UNIQUE (founder),
  CONSTRAINT staff_members_name_key UNIQUE (name),
  CONSTRAINT staff_members_proposal_id_key UNIQUE (proposal_id),
  CONSTRAINT staff_members_added_by_fkey FOREIGN KEY (added_by) REFERENCES staff_members(id),
  CONSTRAINT staff_members_confirmed_by_fkey FOREIGN KEY (confirmed_by) REFERENCES staff_members(id),
  CONSTRAINT staff_members_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES staff_proposals(id),
  CONSTRAINT staff_members_added CHECK (
CASE
    WHEN founder IS NULL THEN num_nulls(added_by, confirmed_by, proposal_id) = 0
    ELSE num_nonnulls(added_by, confirmed_by) = 0
END),
  CONSTRAINT staff_members_by_two CHECK (confirmed_by <> added_by),
  CONSTRAINT staff_members_ended CHECK ((ended_at IS NOT NULL) = (state = 'ended'::text) AND (state = 'active'::text OR password_hash IS NULL)),
  CONSTRAINT staff_members_enrolled CHECK (num_nulls(password_hash, totp_secret_sealed, totp_last_step) = ANY (ARRAY[0, 3])),
  CONSTRAINT staff_members_founder_check CHECK (founder = ANY (ARRAY[1, 2])),
  CONSTRAINT staff_members_id_check CHECK (id ~ '^stf_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT staff_members_name_check CHECK (name ~ '^[a-z0-9][a-z0-9._@+-]{1,99}$'::text),
  CONSTRAINT staff_members_password_hash_check CHECK (password_hash ~~ '$argon2id$%'::text),
  CONSTRAINT staff_members_state_check CHECK (state = ANY (ARRAY['active'::text, 'ended'::text]))
);
CREATE TRIGGER staff_members_check BEFORE INSERT OR UPDATE ON staff_members FOR EACH ROW EXECUTE FUNCTION check_staff_member();
CREATE CONSTRAINT TRIGGER staff_members_first_two AFTER INSERT ON staff_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.founder IS NOT NULL) EXECUTE FUNCTION check_founders();
COMMENT ON TABLE staff_members IS 'A person of the staff of the service, who logs in for each command that changes something. A name is never given to another person.';
COMMENT ON COLUMN staff_members.founder IS 'The two founders have 1 and 2, so that everybody else is added by a proposal. Null: two of the staff added this person.';
COMMENT ON COLUMN staff_members.added_by IS 'The person who proposed to add this one. Null for a founder.';
COMMENT ON COLUMN staff_members.confirmed_by IS 'The other person, who confirmed that proposal. Null for a founder.';
COMMENT ON COLUMN staff_members.proposal_id IS 'The last confirmed proposal about this one: to add, to reset or to end. The secret of codes is sealed for it, or for the id while there is none, so that no earlier secret is put back.';
COMMENT ON COLUMN staff_members.password_hash IS 'Null: not enrolled. Such a person cannot log in.';
COMMENT ON COLUMN staff_members.totp_last_step IS 'The last time step that was used, so that a code works once.';
COMMENT ON TRIGGER staff_members_check ON staff_members IS 'Refuses a person whom no two of the staff added, another id, name or origin, an end or reset on which no two agreed, a used code as unused, and an attestation whose number is not greater than that of the row.';
COMMENT ON TRIGGER staff_members_first_two ON staff_members IS 'Refuses one founder without the other.';

CREATE TABLE staff_proposals (
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  payload json NOT NULL,
  state text NOT NULL,
  proposed_by text COLLATE "C" NOT NULL,
  token_sha256 bytea,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  decided_by text COLLATE "C",
  decided_at timestamp with time zone,
  confirmation_sha256 bytea,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT staff_proposals_pkey PRIMARY KEY (id),
  CONSTRAINT staff_proposals_confirmation_sha256_key UNIQUE (confirmation_sha256),
  CONSTRAINT staff_proposals_token_sha256_key UNIQUE (token_sha256),
  CONSTRAINT staff_proposals_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES staff_members(id),
  CONSTRAINT staff_proposals_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES staff_members(id),
  CONSTRAINT staff_proposals_by_two CHECK (state <> 'confirmed'::text OR decided_by <> proposed_by),
  CONSTRAINT staff_proposals_confirmation CHECK (confirmation_sha256 IS NULL OR state = 'confirmed'::text),
  CONSTRAINT staff_proposals_confirmation_sha256_check CHECK (length(confirmation_sha256) = 32),
  CONSTRAINT staff_proposals_decided CHECK (num_nulls(decided_by, decided_at) =
CASE state
    WHEN 'pending'::text THEN 2
    ELSE 0
END),
  CONSTRAINT staff_proposals_end_after_they_begin CHECK (expires_at > created_at),
  CONSTRAINT staff_proposals_id_check CHECK (id ~ '^spr_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT staff_proposals_kind_check CHECK (kind ~ '^[a-z][a-z_]{2,49}$'::text),
  CONSTRAINT staff_proposals_payload_check CHECK (json_typeof(payload) = 'object'::text),
  CONSTRAINT staff_proposals_state_check CHECK (state = ANY (ARRAY['pending'::text, 'confirmed'::text, 'rejected'::text])),
  CONSTRAINT staff_proposals_token_sha256_check CHECK (length(token_sha256) = 32)
);
CREATE TRIGGER staff_proposals_check BEFORE INSERT OR UPDATE ON staff_proposals FOR EACH ROW EXECUTE FUNCTION check_staff_proposal();
COMMENT ON TABLE staff_proposals IS 'What one of the staff proposed. Until its end another one of them may confirm it, and each of them may reject it.';
COMMENT ON COLUMN staff_proposals.kind IS 'What is proposed, which says what the payload holds.';
COMMENT ON COLUMN staff_proposals.token_sha256 IS 'The digest of the token of the proposer, where the person whom the proposal is about enrols with one token from each of the two. Null: none.';
COMMENT ON COLUMN staff_proposals.decided_by IS 'The person who confirmed or rejected the proposal.';
COMMENT ON COLUMN staff_proposals.confirmation_sha256 IS 'The digest of the token of the person who confirmed the proposal. Null: none.';
COMMENT ON TRIGGER staff_proposals_check ON staff_proposals IS 'Refuses a new proposal that is already decided, a change of what is proposed, a second decision, a confirmation from the end of the proposal on, a proposer or decider who is not of the enrolled staff, and an attestation whose number is not greater than that of the row.';

CREATE TABLE state_changes (
  xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  from_state text,
  to_state text NOT NULL,
  operator text,
  amount_minor bigint,
  payment_created_at timestamp with time zone,
  seconds double precision,
  changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT state_changes_pkey PRIMARY KEY (xid, id),
  CONSTRAINT state_changes_kind CHECK (kind = ANY (ARRAY['collection'::text, 'payout'::text, 'reversal'::text, 'delivery'::text, 'endpoint'::text, 'replay'::text, 'checkout'::text])),
  CONSTRAINT state_changes_of_a_payment CHECK (num_nulls(operator, amount_minor, payment_created_at) = ANY (ARRAY[0, 3]))
);
CREATE INDEX state_changes_of_merchant ON state_changes USING btree (merchant_id, xid, id);
COMMENT ON TABLE state_changes IS 'Which object came into which state, written once for each change and kept for a day.';
COMMENT ON COLUMN state_changes.xid IS 'The number of the transaction that wrote the row.';
COMMENT ON COLUMN state_changes.from_state IS 'Null: the payment was created, or the object is no payment.';
COMMENT ON COLUMN state_changes.operator IS 'Null: the row is for pages alone, because the object is no payment, or because something else than the state of a payment changed.';
COMMENT ON COLUMN state_changes.seconds IS 'Set with the outcome. Of a collection: the seconds since its creation. Of a payout or refund: those since the first try to send it.';

CREATE TABLE users (
  id text COLLATE "C" NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text NOT NULL,
  totp_secret_sealed text,
  totp_last_step bigint,
  totp_pending_sealed text,
  created_at timestamp with time zone NOT NULL,
  failed_log_ins integer DEFAULT 0 NOT NULL,
  last_failed_at timestamp with time zone,
  last_failed_address inet,
  recovered_at timestamp with time zone,
  lost_second_factor boolean DEFAULT false NOT NULL,
  attestation text DEFAULT ''::text NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_email_check CHECK (length(email) >= 3 AND length(email) <= 254 AND email = lower(email)),
  CONSTRAINT users_failed_log_ins_check CHECK (failed_log_ins >= 0),
  CONSTRAINT users_id_check CHECK (id ~ '^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$'::text),
  CONSTRAINT users_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  CONSTRAINT users_password_hash_check CHECK (password_hash ~~ '$argon2id$%'::text),
  CONSTRAINT users_step_of_a_secret CHECK (totp_last_step IS NULL OR totp_secret_sealed IS NOT NULL)
);
CREATE TRIGGER users_check BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION check_user();
COMMENT ON TABLE users IS 'A person who logs in. One e-mail address is one person.';
COMMENT ON COLUMN users.email IS 'In lower case.';
COMMENT ON COLUMN users.totp_secret_sealed IS 'Sealed with the key ring. Null: no authenticator app.';
COMMENT ON COLUMN users.totp_last_step IS 'The last time step that was used, so that a code works once.';
COMMENT ON COLUMN users.totp_pending_sealed IS 'Shown to the person and not yet confirmed by a code.';
COMMENT ON COLUMN users.failed_log_ins IS 'Since the last log-in that succeeded.';
COMMENT ON COLUMN users.recovered_at IS 'When the account was last recovered.';
COMMENT ON COLUMN users.lost_second_factor IS 'A recovery removed the second factor, and the person has not enrolled another one. Nothing else is possible before.';
COMMENT ON COLUMN users.attestation IS 'It covers the name and the list of the passkeys of the person, too.';
COMMENT ON TRIGGER users_check ON users IS 'Refuses another id, a recovery time that is cleared or moves back, and an attestation whose number is not greater than that of the row.';

CREATE TABLE work (
  id text COLLATE "C" NOT NULL,
  task text NOT NULL,
  kind text NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  operator text,
  priority smallint NOT NULL,
  is_started boolean,
  due_at timestamp with time zone,
  claimed_until timestamp with time zone,
  queried_at timestamp with time zone,
  queries integer DEFAULT 0 NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  start_failures integer DEFAULT 0 NOT NULL,
  CONSTRAINT work_pkey PRIMARY KEY (id, task),
  CONSTRAINT work_due CHECK (num_nonnulls(due_at, claimed_until) > 0),
  CONSTRAINT work_kind_check CHECK (kind = ANY (ARRAY['collection'::text, 'payout'::text, 'reversal'::text, 'delivery'::text])),
  CONSTRAINT work_of_workflow CHECK ((task = 'workflow'::text) = (is_started IS NOT NULL)),
  CONSTRAINT work_priority_check CHECK (priority >= 0 AND priority <= 2),
  CONSTRAINT work_task_check CHECK (task = ANY (ARRAY['workflow'::text, 'status_query'::text]))
) WITH (autovacuum_analyze_threshold=10000, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_threshold=10000);
CREATE INDEX work_check_due ON work USING btree (kind, priority, due_at) WHERE is_started;
CREATE INDEX work_failing ON work USING btree (failures) WHERE failures > 0;
CREATE INDEX work_query_due ON work USING btree (operator, priority, merchant_id, COALESCE(claimed_until, due_at)) WHERE is_started IS NULL;
CREATE INDEX work_unstarted ON work USING btree (kind, merchant_id, priority, due_at) WHERE NOT is_started;
COMMENT ON TABLE work IS 'What the service must still do for a payment or a delivery. No row: nothing.';
COMMENT ON COLUMN work.id IS 'The id of the payment or delivery.';
COMMENT ON COLUMN work.task IS 'workflow: a workflow is to be started, told of a change, or checked. status_query: the operator is asked about the payment, pending or final: the money of a final one may be returned while the callback about that is lost. A payment may have both.';
COMMENT ON COLUMN work.operator IS 'Null for a delivery.';
COMMENT ON COLUMN work.priority IS 'Of a workflow, 0: the payment must still be sent to the operator. 1: something else is awaited. 2: the payment is final. Of a status query, 0: it is due at a deadline of the payment. 1: by the schedule. 2: the payment is final.';
COMMENT ON COLUMN work.is_started IS 'Whether a workflow is known to run and to know of the last change. Null for a status query, which has no workflow.';
COMMENT ON COLUMN work.due_at IS 'Nobody claims it before this time: the start of its workflow, or the next check of the workflow, or the status query. A claim moves it ahead by its lease, a failed start by the backoff. Null while a query is claimed, so that a callback that comes in between has the payment queried once more.';
COMMENT ON COLUMN work.claimed_until IS 'Until this time one process queries the payment, and no other one does by schedule.';
COMMENT ON COLUMN work.queried_at IS 'When the last query began, by schedule or after a callback. It is written before the operator is asked.';
COMMENT ON COLUMN work.queries IS 'How many queries have begun since the payment came into its state.';
COMMENT ON COLUMN work.failures IS 'How often in a row the workflow could not be started, or did not progress. The next change that the workflow records sets it to 0. From QUARANTINE_AFTER (src/domain/work.ts) on the work is quarantined.';
COMMENT ON COLUMN work.start_failures IS 'The part of failures that are failed starts. A start that succeeds ends them.';

CREATE VIEW ledger_entries AS
 SELECT ledger_transfers.id AS transfer_id,
    ledger_transfers.debit_account_id AS account_id,
    - ledger_transfers.amount_minor AS amount_minor,
    ledger_transfers.currency,
    ledger_transfers.created_at
   FROM ledger_transfers
UNION ALL
 SELECT ledger_transfers.id AS transfer_id,
    ledger_transfers.credit_account_id AS account_id,
    ledger_transfers.amount_minor,
    ledger_transfers.currency,
    ledger_transfers.created_at
   FROM ledger_transfers;
COMMENT ON VIEW ledger_entries IS 'Both sides of each transfer, with the amount that it adds to the account.';

CREATE OR REPLACE FUNCTION public.add_api_key_use()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO api_key_uses (api_key_id) VALUES (NEW.id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.append_audit_link()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF EXISTS (SELECT FROM audit_entries WHERE id = NEW.entry_id AND coalesce(merchant_id, 'service') <> NEW.chain) THEN
    RAISE EXCEPTION 'audit entry % is not of the log %', NEW.entry_id, NEW.chain USING ERRCODE = 'restrict_violation';
  END IF;
  INSERT INTO audit_chains (chain, position, hash) VALUES (NEW.chain, 0, decode(repeat('00', 32), 'hex'))
    ON CONFLICT DO NOTHING;
  UPDATE audit_chains SET position = NEW.position, hash = NEW.hash WHERE chain = NEW.chain AND position = NEW.position - 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'place % of the log % is not the next', NEW.position, NEW.chain USING ERRCODE = 'restrict_violation';
  END IF;
  DELETE FROM audit_entries_to_link WHERE entry_id = NEW.entry_id;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_account_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.balance_minor IS DISTINCT FROM (CASE NEW.kind WHEN 'operator' THEN NULL ELSE 0 END) THEN
      RAISE EXCEPTION 'a new account of a merchant starts at zero, and an account of an operator has no stored balance'
        USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.entry_count := NEW.balance_minor;
    NEW.last_posted_at := NULL;
    RETURN NEW;
  END IF;
  IF OLD.entry_count IS NULL OR NEW.entry_count IS DISTINCT FROM OLD.entry_count + 1
     OR (NEW.id, NEW.kind, NEW.merchant_id, NEW.operator, NEW.currency)
        IS DISTINCT FROM (OLD.id, OLD.kind, OLD.merchant_id, OLD.operator, OLD.currency) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_account_posted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (
       SELECT FROM (
         SELECT * FROM ledger_transfers WHERE credit_account_id = NEW.id AND credit_entry >= NEW.entry_count
         ORDER BY credit_entry LIMIT 1) AS first
       WHERE credit_entry = NEW.entry_count
         AND amount_minor = NEW.balance_minor - OLD.balance_minor AND credit_balance_minor = NEW.balance_minor)
     AND NOT EXISTS (
       SELECT FROM (
         SELECT * FROM ledger_transfers WHERE debit_account_id = NEW.id AND debit_entry >= NEW.entry_count
         ORDER BY debit_entry LIMIT 1) AS first
       WHERE debit_entry = NEW.entry_count
         AND amount_minor = OLD.balance_minor - NEW.balance_minor AND debit_balance_minor = NEW.balance_minor) THEN
    RAISE EXCEPTION 'a ledger account changes only when a transfer is posted, and % changed without one', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_api_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- In hours, because a day has 23 or 25 of them where clocks are changed.
    IF 'payouts:write' = ANY (NEW.scopes)
       AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.created_at + interval '8760 hours') THEN
      RAISE EXCEPTION 'API key % creates payouts, so it must end within 365 days', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.merchant_id, NEW.name, NEW.environment, NEW.hint, NEW.key_sha256, NEW.scopes, NEW.allowed_addresses,
      NEW.created_by, NEW.created_at)
     IS DISTINCT FROM
     (OLD.id, OLD.merchant_id, OLD.name, OLD.environment, OLD.hint, OLD.key_sha256, OLD.scopes, OLD.allowed_addresses,
      OLD.created_by, OLD.created_at) THEN
    RAISE EXCEPTION 'what API key % was created for cannot change', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.expires_at IS NOT NULL AND (NEW.expires_at IS NULL OR NEW.expires_at > OLD.expires_at)
     OR OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN
    RAISE EXCEPTION 'API key % can only end sooner', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.replaced_by IS NOT NULL AND NEW.replaced_by IS DISTINCT FROM OLD.replaced_by THEN
    RAISE EXCEPTION 'API key % can be replaced only once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.replaced_by IS DISTINCT FROM OLD.replaced_by AND (NEW.replaced_by = NEW.id
       OR EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.replaced_by AND merchant_id <> NEW.merchant_id)) THEN
    RAISE EXCEPTION 'API key % can only be replaced by a key of its own merchant', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_api_key_use()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the last use of API key % cannot be cleared', OLD.api_key_id USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.check_approval()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  payment payments%ROWTYPE;
BEGIN
  -- The lock keeps approvals and withdrawals out while a decision on the payment is in progress.
  SELECT * INTO STRICT payment FROM payments WHERE id = NEW.payment_id FOR NO KEY UPDATE;
  IF TG_OP = 'UPDATE' THEN
    IF OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL
       OR to_jsonb(NEW) - 'withdrawn_at' IS DISTINCT FROM to_jsonb(OLD) - 'withdrawn_at' THEN
      RAISE EXCEPTION 'an approval is withdrawn once, and does not change otherwise' USING ERRCODE = 'restrict_violation';
    END IF;
    IF payment.state <> 'queued' THEN
      RAISE EXCEPTION 'an approval of what is decided stays' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF payment.state <> 'queued' OR payment.merchant_id <> NEW.merchant_id OR NEW.approved_at >= payment.expires_at THEN
    RAISE EXCEPTION '% % is not queued, has expired or belongs to another merchant than the approval', payment.kind, payment.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_while_queued';
  END IF;
  IF payment.created_by = NEW.user_id THEN
    RAISE EXCEPTION '% % cannot be approved by the person who created it', payment.kind, payment.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_another';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id
      AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']) THEN
    RAISE EXCEPTION '% % can be approved only by an owner or an approver of its merchant', payment.kind, payment.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approvals_by_approvers';
  END IF;
  PERFORM check_waited(NEW.merchant_id, NEW.user_id, NEW.approved_at);
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_attested_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  FOR i IN 0 .. TG_NARGS - 1 LOOP
    IF to_jsonb(NEW) -> TG_ARGV[i] <> to_jsonb(OLD) -> TG_ARGV[i] THEN
      RAISE EXCEPTION 'the % of a row of % never changes', TG_ARGV[i], TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
  END LOOP;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_breaker()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the breaker of % lets one call through after a pause and no other', OLD.operator
    USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.check_call_grants()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the calls of % that were granted in a second are not granted again', OLD.operator
    USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.check_checkout()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.cancelled_at IS NOT NULL THEN
      RAISE EXCEPTION 'checkout % must be created open', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF is_live() AND NEW.return_url !~ '^https://' THEN
      RAISE EXCEPTION 'checkout % must send payers back by https', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF (to_jsonb(NEW) - 'cancelled_at') <> (to_jsonb(OLD) - 'cancelled_at')
     OR OLD.cancelled_at IS NOT NULL AND NEW.cancelled_at IS DISTINCT FROM OLD.cancelled_at THEN
    RAISE EXCEPTION 'checkout % can be cancelled once, and nothing else of it can change', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_checkout_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  checkout checkouts%ROWTYPE;
  collection payments%ROWTYPE;
BEGIN
  SELECT * INTO checkout FROM checkouts WHERE id = NEW.checkout_id FOR NO KEY UPDATE;
  SELECT * INTO collection FROM payments WHERE id = NEW.collection_id;
  IF (collection.merchant_id, collection.amount_minor, collection.currency, collection.reference, collection.description,
      collection.metadata::jsonb, collection.state, NEW.merchant_id)
     IS DISTINCT FROM
     (checkout.merchant_id, checkout.amount_minor, checkout.currency, checkout.reference, checkout.description,
      checkout.metadata::jsonb, 'initiated', checkout.merchant_id) THEN
    RAISE EXCEPTION 'collection % is not as checkout % asks for', NEW.collection_id, NEW.checkout_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF checkout.cancelled_at IS NOT NULL OR checkout.expires_at <= NEW.created_at THEN
    RAISE EXCEPTION 'checkout % takes no attempt any more', NEW.checkout_id USING ERRCODE = 'restrict_violation';
  END IF;
  IF checkout.use = 'one_time' AND EXISTS (
       SELECT FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id
       WHERE a.checkout_id = NEW.checkout_id
         AND (c.state IN ('initiated', 'prompted', 'reconciling', 'succeeded', 'reversed')
              OR c.state = 'expired' AND c.failure_code = 'unknown')) THEN
    RAISE EXCEPTION 'checkout % has an attempt that was or can be paid', NEW.checkout_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF checkout.use = 'reusable' AND EXISTS (
       SELECT FROM payments c JOIN checkout_attempts a ON a.collection_id = c.id AND a.checkout_id = NEW.checkout_id
       WHERE c.merchant_id = NEW.merchant_id AND c.kind = 'collection' AND c.phone = collection.phone
         AND c.state IN ('initiated', 'prompted', 'reconciling')) THEN
    RAISE EXCEPTION 'checkout % has a live attempt of this phone', NEW.checkout_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_daily_limit()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  allowed bigint := (SELECT approver_daily_limit_minor FROM policies WHERE merchant_id = NEW.merchant_id);
BEGIN
  IF allowed IS NOT NULL THEN
    -- Concurrent approvals by one person would not see each other.
    PERFORM FROM members WHERE merchant_id = NEW.merchant_id AND user_id = NEW.user_id FOR NO KEY UPDATE;
    IF allowed < (SELECT sum(p.amount_minor) FROM approvals a JOIN payments p ON p.id = a.payment_id
        WHERE a.merchant_id = NEW.merchant_id AND a.user_id = NEW.user_id
          AND a.approved_at > NEW.approved_at - interval '24 hours' AND a.withdrawn_at IS NULL) THEN
      RAISE EXCEPTION '% approves more than the daily limit', NEW.user_id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'approver_daily_limit';
    END IF;
  END IF;
  -- An approval that is not the last one changes for whom the payment waits.
  INSERT INTO state_changes (merchant_id, kind, object_id, to_state)
  SELECT merchant_id, kind, id, 'queued' FROM payments WHERE id = NEW.payment_id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_delivery_created()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM events WHERE id = NEW.event_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'delivery % belongs to another merchant than its event', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_delivery_work()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF EXISTS (SELECT FROM deliveries WHERE id = NEW.id AND state = 'retrying')
     AND NOT EXISTS (SELECT FROM work WHERE id = NEW.id AND task = 'workflow') THEN
    RAISE EXCEPTION 'nobody would make the next attempt of delivery %', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_discrepancy_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.settled_at IS NOT NULL
     OR (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.kind, NEW.operator_receipt, NEW.reported_amount, NEW.reported_currency,
         NEW.found_at)
        IS DISTINCT FROM
        (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.kind, OLD.operator_receipt, OLD.reported_amount, OLD.reported_currency,
         OLD.found_at) THEN
    RAISE EXCEPTION 'discrepancy % can only be settled, and only once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_event_created()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'event % belongs to another merchant than its payment', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_fence()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the fence counts up with each write' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.check_fenced_send()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM require_fence();
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_founders()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF (SELECT count(*) FROM staff_members WHERE founder IS NOT NULL) <> 2 THEN
    RAISE EXCEPTION 'the first of the staff are two' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_housekeeping()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'as of when % is done goes forward alone', OLD.task USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.check_ledger_checkpoint()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
    IF (NEW.account_id, NEW.entry, NEW.balance_minor, NEW.unattested_minor)
       = (OLD.account_id, OLD.entry, OLD.balance_minor, OLD.unattested_minor) THEN
      RETURN NEW;
    END IF;
    IF NEW.account_id <> OLD.account_id OR NEW.entry <= OLD.entry THEN
      RAISE EXCEPTION 'the checkpoint of % goes forward alone', OLD.account_id USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE credit_account_id = NEW.account_id AND credit_entry = NEW.entry AND credit_balance_minor = NEW.balance_minor)
     AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE debit_account_id = NEW.account_id AND debit_entry = NEW.entry AND debit_balance_minor = NEW.balance_minor) THEN
    RAISE EXCEPTION 'no entry % of % leaves the balance of its checkpoint', NEW.entry, NEW.account_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_member()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
    IF (NEW.merchant_id, NEW.user_id) <> (OLD.merchant_id, OLD.user_id) THEN
      RAISE EXCEPTION 'merchant and user of a row of members never change' USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  IF NEW.removed_at IS NOT NULL OR NOT NEW.roles && ARRAY['owner', 'approver'] THEN
    NEW.approver_since := NULL;
  ELSIF TG_OP = 'UPDATE' AND OLD.approver_since IS NOT NULL THEN
    NEW.approver_since := OLD.approver_since;
  ELSE
    NEW.approver_since := clock_timestamp();
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_new_payment()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  first_state text := CASE NEW.kind WHEN 'collection' THEN 'initiated' ELSE 'queued' END;
BEGIN
  IF NEW.state <> first_state THEN
    RAISE EXCEPTION '% % must be created in state %', NEW.kind, NEW.id, first_state USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'collection' THEN
    RETURN NEW;
  END IF;
  PERFORM require_fence();
  IF NEW.release_attestation IS NOT NULL THEN
    RAISE EXCEPTION 'a release of % has an attestation, which changes with the release alone', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.request_attestation IS NULL THEN
    RAISE EXCEPTION 'the request of % has an attestation, which changes with the approvals that it needs alone', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.not_found_count <> 0 OR num_nonnulls(NEW.not_found_since, NEW.not_found_last_at, NEW.status_kind, NEW.status_queried_at) > 0
  THEN
    RAISE EXCEPTION 'no operator said anything of the new % %', NEW.kind, NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' AND NOT EXISTS (
       SELECT 1 FROM payments c WHERE c.id = NEW.collection_id AND c.kind = 'collection'
         AND (c.merchant_id, c.amount_minor, c.currency, c.operator, c.phone, c.reference)
           = (NEW.merchant_id, NEW.amount_minor, NEW.currency, NEW.operator, NEW.phone, NEW.reference)) THEN
    RAISE EXCEPTION 'reversal % is not of its whole collection, or the collection belongs to another merchant', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  PERFORM check_two_owners(NEW.merchant_id);
  IF NEW.api_key_id IS NULL THEN
    PERFORM check_waited(NEW.merchant_id, NEW.created_by, NEW.created_at);
  -- The servers of the merchant go on with the keys that they had before: nobody learns such a key by a recovery.
  ELSIF EXISTS (SELECT 1 FROM api_keys k JOIN users u ON u.id = NEW.created_by
      WHERE k.id = NEW.api_key_id AND k.created_at >= u.recovered_at
        AND u.recovered_at + waiting_time(NEW.merchant_id) > least(NEW.created_at, clock_timestamp())) THEN
    RAISE EXCEPTION 'a key of a recovered account creates no payouts yet'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_by_recovered_key';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_new_payments()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  wrong_id text;
BEGIN
  PERFORM require_known_database();
  -- Keys are looked up for each row, however many there are: the planner cannot make a scan of it.
  SELECT id INTO wrong_id FROM created
    WHERE api_key_id IS NOT NULL
      AND (SELECT k.merchant_id FROM api_keys k WHERE k.id = created.api_key_id) IS DISTINCT FROM created.merchant_id
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'payment % was created by no API key of its merchant', wrong_id USING ERRCODE = 'restrict_violation';
  END IF;
  SELECT id INTO wrong_id FROM created
    WHERE (SELECT w.kind FROM work w WHERE w.id = created.id AND w.task = 'workflow') IS DISTINCT FROM created.kind
    LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'nobody would begin with the new payment %: it has no work', wrong_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_operator_account()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  agreed staff_proposals;
  previous staff_proposals;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
    IF (NEW.id, NEW.operator, NEW.country, NEW.currency, NEW.created_at)
        IS DISTINCT FROM (OLD.id, OLD.operator, OLD.country, OLD.currency, OLD.created_at) THEN
      RAISE EXCEPTION 'the id, operator, market and beginning of a row of operator_accounts never change'
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF (to_jsonb(NEW) - 'attestation') = (to_jsonb(OLD) - 'attestation')
        AND NEW.identifiers::text = OLD.identifiers::text THEN
      RETURN NEW;
    END IF;
    SELECT * INTO previous FROM staff_proposals WHERE id = OLD.proposal_id;
  END IF;
  SELECT * INTO agreed FROM staff_proposals
  WHERE id = NEW.proposal_id AND state = 'confirmed' AND payload ->> 'account' = NEW.id
    AND (proposed_by, decided_by) = (NEW.proposed_by, NEW.confirmed_by)
    AND kind = CASE WHEN NEW.state = 'closed' THEN 'operator_account_closing'
      WHEN TG_OP = 'INSERT' THEN 'operator_account_addition' ELSE 'operator_account_rotation' END;
  IF agreed.id IS NULL THEN
    RAISE EXCEPTION 'two of the staff add or change an account with an operator: %', NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND agreed.decided_at <= previous.decided_at THEN
    RAISE EXCEPTION 'proposal % is not the last one about account %', NEW.proposal_id, NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'closed' THEN
    IF (NEW.base_url, NEW.calls_per_second, NEW.identifiers::text, NEW.credentials_sealed)
        IS DISTINCT FROM (OLD.base_url, OLD.calls_per_second, OLD.identifiers::text, OLD.credentials_sealed) THEN
      RAISE EXCEPTION 'closing account % changes nothing else', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF (NEW.operator, NEW.country, NEW.currency, NEW.base_url, NEW.calls_per_second::text, NEW.credentials_sealed, NEW.identifiers::jsonb)
      IS DISTINCT FROM (agreed.payload ->> 'operator', agreed.payload ->> 'country', agreed.payload ->> 'currency',
        agreed.payload ->> 'base_url', agreed.payload ->> 'calls_per_second', agreed.payload ->> 'credentials_sealed',
        (agreed.payload -> 'identifiers')::jsonb) THEN
    RAISE EXCEPTION 'account % is as the two of the staff agreed', NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_operator_callback_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW.id, NEW.operator, NEW.payment_id, NEW.operator_reference, NEW.body, NEW.content_type, NEW.source_address, NEW.received_at,
      NEW.purpose, NEW.query_id, NEW.attestation)
     IS DISTINCT FROM
     (OLD.id, OLD.operator, OLD.payment_id, OLD.operator_reference, OLD.body, OLD.content_type, OLD.source_address, OLD.received_at,
      OLD.purpose, OLD.query_id, OLD.attestation) OR OLD.read_at IS NOT NULL THEN
    RAISE EXCEPTION 'a callback of an operator changes only when it is read, once' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_operator_exchange()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'an exchange with an operator cannot change' USING ERRCODE = 'restrict_violation';
  END IF;
  IF NOT EXISTS (SELECT FROM payments WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id) THEN
    RAISE EXCEPTION 'an exchange about % is of no payment of its merchant', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_operator_query()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' AND (NEW.answered_at IS NOT NULL
       OR NOT EXISTS (SELECT FROM payments WHERE id = NEW.payment_id AND merchant_id = NEW.merchant_id)) THEN
    RAISE EXCEPTION 'a query about % is of no payment of its merchant, or was answered before it was sent', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND (OLD.answered_at IS NOT NULL
       OR (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.asked_at, NEW.seen_callback_id, NEW.attestation)
         IS DISTINCT FROM (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.asked_at, OLD.seen_callback_id, OLD.attestation)) THEN
    RAISE EXCEPTION 'a query about % changes only when it is answered, once', OLD.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_operator_token()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the token of % is replaced by the next one alone', OLD.operator USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.check_owner_left()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM 1 FROM merchants WHERE id = OLD.merchant_id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT 1 FROM members
      WHERE merchant_id = OLD.merchant_id AND removed_at IS NULL AND 'owner' = ANY (roles)) THEN
    RAISE EXCEPTION 'merchant % would be left without an owner', OLD.merchant_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_passkey()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- The attestation of the person covers the list of their passkeys.
    PERFORM 1 FROM users WHERE id = NEW.user_id FOR NO KEY UPDATE;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.user_id, NEW.credential_id, NEW.public_key, NEW.created_at)
      <> (OLD.id, OLD.user_id, OLD.credential_id, OLD.public_key, OLD.created_at) THEN
    RAISE EXCEPTION 'passkey % is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.counter < OLD.counter THEN
    RAISE EXCEPTION 'the counter of passkey % never falls', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_payment_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  is_release boolean := OLD.state = 'queued' AND NEW.state = 'released';
  is_next boolean := NEW.send_generation <> OLD.send_generation;
BEGIN
  -- Where somebody waits for the operator nothing is decided, so that what it said of a send is kept in any case.
  IF is_next OR NEW.state <> OLD.state AND NEW.state NOT IN ('prompted', 'reconciling') THEN
    PERFORM require_fence();
  END IF;
  -- Sent in the time that is missing, or under a later generation: to give it up would return money that was paid.
  IF NEW.kind <> 'collection' AND NEW.state <> OLD.state AND NEW.state IN ('rejected', 'cancelled', 'expired', 'failed')
     AND EXISTS (SELECT FROM restore_findings f WHERE f.payment_id = NEW.id AND f.said IN ('open', 'paid', 'returned')
       AND (OLD.state = 'queued' OR f.generation > NEW.send_generation)) THEN
    RAISE EXCEPTION 'the operator has % from before the restore, so it is not given up', OLD.id
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'restore_found';
  END IF;
  IF NEW.state = OLD.state THEN
    IF (NEW.version, NEW.previous_state, NEW.failure_code, NEW.failed_by,
        CASE WHEN OLD.operator_receipt IS NOT NULL OR NOT NEW.receipt_follows THEN NEW.operator_receipt END, NEW.decided_by,
        NEW.rejection_reason, NEW.send_deadline_at)
       IS DISTINCT FROM (OLD.version, OLD.previous_state, OLD.failure_code, OLD.failed_by, OLD.operator_receipt, OLD.decided_by,
        OLD.rejection_reason, OLD.send_deadline_at) THEN
      RAISE EXCEPTION 'the outcome of % % can change only together with its state', OLD.kind, OLD.id
        USING ERRCODE = 'restrict_violation';
    END IF;
  ELSIF NEW.version <> OLD.version + 1 OR NEW.previous_state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION 'a new state of % % must count up version and set previous_state to the old state', OLD.kind, OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF is_next AND NOT coalesce(
       NEW.send_generation = OLD.send_generation + 1 AND NEW.kind = 'payout' AND OLD.state = 'released' AND NEW.state = 'released'
       AND OLD.send_begun_at IS NOT NULL AND NEW.not_found_count = 0
       AND num_nonnulls(NEW.send_begun_at, NEW.send_repeated_at, NEW.accepted_at, NEW.operator_issued_id) = 0
       AND EXISTS (SELECT FROM send_generations WHERE payment_id = NEW.id AND generation = NEW.send_generation), false) THEN
    RAISE EXCEPTION 'generation % of % begins unsent, after one that was sent, and is recorded first', NEW.send_generation, OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.send_begun_at IS DISTINCT FROM OLD.send_begun_at AND NOT is_next AND NOT (
       OLD.send_begun_at IS NULL AND NEW.send_begun_at IS NOT NULL AND NEW.state IN ('initiated', 'released')
       AND NEW.send_begun_at < NEW.send_deadline_at
       OR NEW.send_begun_at IS NULL AND NEW.sends_taken_back > OLD.sends_taken_back) THEN
    RAISE EXCEPTION 'a send of % can begin once, while it may be sent and before its deadline', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.send_repeated_at IS DISTINCT FROM OLD.send_repeated_at AND NOT is_next AND NOT (
       OLD.send_repeated_at IS NULL AND OLD.send_begun_at IS NOT NULL AND NOT NEW.sends_once AND NEW.state IN ('initiated', 'released')
       AND NEW.send_repeated_at < NEW.send_deadline_at) THEN
    RAISE EXCEPTION 'a send of % is repeated after it began, while it may be sent and before its deadline', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF (NEW.sends_taken_back, NEW.take_back_attestation) IS DISTINCT FROM (OLD.sends_taken_back, OLD.take_back_attestation)
     AND NOT coalesce(NEW.sends_once AND OLD.send_begun_at IS NOT NULL AND NEW.send_begun_at IS NULL
       AND NEW.sends_taken_back = OLD.sends_taken_back + 1
       AND NEW.take_back_attestation IS NOT NULL AND NEW.take_back_attestation IS DISTINCT FROM OLD.take_back_attestation
       AND NEW.state = OLD.state AND NEW.state IN ('initiated', 'released')
       AND num_nonnulls(OLD.accepted_at, NEW.accepted_at, OLD.operator_issued_id, NEW.operator_issued_id) = 0, false) THEN
    RAISE EXCEPTION 'the send of % is taken back only as it began, with an attestation, while nothing more is known of it', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.operator_issued_id IS DISTINCT FROM OLD.operator_issued_id AND NOT is_next
     AND (OLD.operator_issued_id IS NOT NULL OR OLD.send_begun_at IS NULL) THEN
    RAISE EXCEPTION 'the operator issues one id for %, after it was sent', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.sends_once AND NEW.send_begun_at IS NOT NULL AND NEW.state <> OLD.state AND (NEW.failed_by = 'never_accepted'
       OR NEW.kind = 'collection' AND NEW.state = 'expired' AND NEW.failure_code = 'operator_unavailable') THEN
    RAISE EXCEPTION 'no silence of the operator says that it never accepted %, which is sent once', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;

  IF NEW.kind = 'collection' THEN
    -- The operator reported any other expiry.
    IF OLD.state = 'expired' AND NEW.state = 'failed' AND OLD.failure_code <> 'unknown' THEN
      RAISE EXCEPTION 'collection % expired as %, so it cannot fail later', OLD.id, OLD.failure_code
        USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.failure_code = 'service_unavailable' AND OLD.prompt_expires_at IS NOT NULL THEN
      RAISE EXCEPTION 'collection % was prompted, so it cannot end as never sent', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    -- A prompted collection was sent, at its creation or later. Where no send is recorded, its creation is all that is known.
    IF NEW.state = 'prompted' AND NEW.send_begun_at IS NULL THEN
      NEW.send_begun_at := NEW.created_at;
    END IF;
    RETURN NEW;
  END IF;

  IF NEW.approvals_required < OLD.approvals_required THEN
    RAISE EXCEPTION '% % cannot need fewer approvals than before', OLD.kind, OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.request_attestation IS DISTINCT FROM OLD.request_attestation
     AND (NEW.request_attestation IS NULL OR NEW.approvals_required = OLD.approvals_required OR OLD.state <> 'queued') THEN
    RAISE EXCEPTION 'the request of % has an attestation, which changes with the approvals that it needs alone', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.accepted_at IS NOT NULL AND NEW.accepted_at IS NULL AND NOT is_next THEN
    RAISE EXCEPTION 'accepted_at of % cannot be cleared', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF (NEW.not_found_count, NEW.not_found_since, NEW.not_found_last_at)
     IS DISTINCT FROM (OLD.not_found_count, OLD.not_found_since, OLD.not_found_last_at)
     -- A status adds one to the count, or the count begins again.
     AND (NEW.state <> OLD.state OR NOT coalesce(
       NEW.not_found_count = OLD.not_found_count + 1
         AND NEW.not_found_last_at > coalesce(OLD.not_found_last_at, '-infinity')
         AND NEW.not_found_since = coalesce(OLD.not_found_since, NEW.not_found_last_at)
         AND NEW.not_found_since >= NEW.send_deadline_at
         AND NEW.send_begun_at IS NOT NULL AND NEW.accepted_at IS NULL, false)
       AND NOT coalesce(
         NEW.not_found_count = 0 AND NEW.not_found_since IS NULL
           AND NEW.not_found_last_at >= coalesce(OLD.not_found_last_at, '-infinity'), false)) THEN
    RAISE EXCEPTION 'what counts against % is one later status of a payment that was sent and never accepted', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  -- Constraints refuse `never_sent` for a payment that was sent.
  IF NEW.state = 'failed' AND OLD.state <> 'failed' AND NOT coalesce(
       NEW.failed_by = 'never_sent' AND NEW.failure_code IN ('service_unavailable', 'operator_unavailable', 'already_returned')
       OR NEW.failed_by = 'declined' AND coalesce(NEW.failure_code, '') NOT IN ('service_unavailable', 'already_returned')
       OR NEW.failed_by = 'never_accepted' AND NEW.failure_code = 'operator_unavailable' AND NEW.accepted_at IS NULL
         AND NEW.not_found_count >= 2 AND NEW.not_found_last_at > NEW.not_found_since, false) THEN
    RAISE EXCEPTION '% cannot fail with % by %: the row does not say so', OLD.id, NEW.failure_code, NEW.failed_by
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' AND NOT coalesce(
       CASE WHEN NEW.state = 'failed' AND NEW.failed_by IN ('declined', 'never_accepted')
         THEN NEW.status_kind IN ('declined', 'refused', 'not_found') AND NEW.status_queried_at IS NOT NULL
         ELSE NEW.status_kind IS NULL AND NEW.status_queried_at IS NULL END, false) THEN
    RAISE EXCEPTION 'refund % has the status of an operator that made it fail, and no other', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' AND NEW.failure_code = 'already_returned' AND NEW.state <> OLD.state
     AND NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.collection_id AND state = 'reversed') THEN
    RAISE EXCEPTION 'refund % is still needed: its collection was not returned', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.state = 'released' AND OLD.state <> 'released' THEN
    IF NEW.approvals_required >
        (SELECT count(*) FROM approvals a JOIN members m ON m.merchant_id = a.merchant_id AND m.user_id = a.user_id
         WHERE a.payment_id = NEW.id AND a.withdrawn_at IS NULL AND m.removed_at IS NULL
           AND m.roles && ARRAY['owner', 'approver']) THEN
      RAISE EXCEPTION '% % lacks approvals', OLD.kind, OLD.id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'releases_approved';
    END IF;
    IF NEW.kind = 'reversal'
       AND NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.collection_id AND state = 'succeeded') THEN
      RAISE EXCEPTION 'reversal % cannot be released: its collection is not paid', OLD.id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'refunds_of_paid';
    END IF;
    PERFORM check_two_owners(NEW.merchant_id);
  END IF;
  IF is_release AND NEW.release_attestation IS NULL
     OR NOT is_release AND NEW.release_attestation IS DISTINCT FROM OLD.release_attestation THEN
    RAISE EXCEPTION 'a release of % has an attestation, which changes with the release alone', OLD.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_payment_recorded()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  kinds text[];
  wanted text[];
BEGIN
  -- Here, and not before the update, so that an illegal transition is refused as such.
  IF TG_OP = 'UPDATE' THEN
    IF OLD.state <> 'queued' AND NEW.send_deadline_at IS DISTINCT FROM OLD.send_deadline_at THEN
      RAISE EXCEPTION 'the send deadline of % % is set by its release', NEW.kind, NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  IF EXISTS (SELECT FROM payments p WHERE p.id = NEW.id
       AND p.state IN ('initiated', 'prompted', 'queued', 'released', 'reconciling')
       AND NOT EXISTS (SELECT FROM work w WHERE w.id = p.id AND w.task = 'workflow')) THEN
    RAISE EXCEPTION 'nobody would carry on with % %: it has no work', NEW.kind, NEW.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF EXISTS (SELECT FROM payments p WHERE p.id = NEW.id AND p.state IN ('prompted', 'reconciling')
       AND NOT EXISTS (SELECT FROM work w WHERE w.id = p.id AND w.task = 'status_query')) THEN
    RAISE EXCEPTION 'nobody would ask the operator about % %: it has no status query', NEW.kind, NEW.id
      USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'reversal' THEN
    IF NEW.state = 'succeeded'
       AND NOT EXISTS (SELECT 1 FROM payments WHERE id = NEW.collection_id AND state = 'reversed') THEN
      RAISE EXCEPTION 'reversal % succeeded but its collection is not reversed', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM events
      WHERE payment_id = NEW.id AND resource_version = NEW.version AND type = NEW.kind || '.' || NEW.state) THEN
    RAISE EXCEPTION '% % became % without an event', NEW.kind, NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'collection' THEN
    IF NEW.state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE payment_id = NEW.id AND kind = 'collection_paid') THEN
      RAISE EXCEPTION 'collection % succeeded without a transfer', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.state = 'reversed' AND NOT EXISTS (SELECT 1 FROM ledger_transfers
        WHERE payment_id = NEW.id AND kind = 'collection_reversed') THEN
      RAISE EXCEPTION 'collection % was reversed without a transfer', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
  END IF;
  SELECT coalesce(array_agg(kind ORDER BY kind), '{}') INTO kinds FROM ledger_transfers WHERE payment_id = NEW.id;
  SELECT CASE state
      WHEN 'succeeded' THEN ARRAY['payout_held', 'payout_paid']
      WHEN 'reversed' THEN ARRAY['payout_held', 'payout_paid', 'payout_returned']
      WHEN 'queued' THEN ARRAY['payout_held']
      WHEN 'released' THEN ARRAY['payout_held']
      WHEN 'reconciling' THEN ARRAY['payout_held']
      ELSE ARRAY['payout_held', 'payout_voided'] END
    INTO wanted FROM payments WHERE id = NEW.id;
  IF kinds <> wanted THEN
    RAISE EXCEPTION 'payout % is % but has the transfers %', NEW.id, NEW.state, kinds
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.check_proposal()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.kind, NEW.merchant_id) <> (OLD.id, OLD.kind, OLD.merchant_id) THEN
    RAISE EXCEPTION 'id, kind and merchant of a row of proposals never change' USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state <> 'pending' AND (OLD.kind, OLD.state) <> ('invitation', 'approved')
     AND (NEW.state, NEW.decided_by, NEW.decided_at, NEW.ended_at)
         IS DISTINCT FROM (OLD.state, OLD.decided_by, OLD.decided_at, OLD.ended_at) THEN
    RAISE EXCEPTION 'a decided proposal stays as it was decided' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_recovery()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NOT is_confirmed_by_staff(NEW.proposal_id, 'recovery', 'user_id', NEW.user_id) THEN
      RAISE EXCEPTION 'two of the staff agree on recovery % of this person', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (to_jsonb(NEW) - 'attestation') <> (to_jsonb(OLD) - 'attestation') THEN
    RAISE EXCEPTION 'recovery % is never changed', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_recovery_code()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.used_at IS NOT NULL OR (NEW.user_id, NEW.code_sha256, NEW.created_at)
      IS DISTINCT FROM (OLD.user_id, OLD.code_sha256, OLD.created_at) THEN
    RAISE EXCEPTION 'a recovery code is used once and never changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_restore()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.opened_at IS NOT NULL THEN
      RAISE EXCEPTION 'a restore that is found is not opened yet' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF to_jsonb(NEW) - '{opened_at,proposal_id}'::text[] IS DISTINCT FROM to_jsonb(OLD) - '{opened_at,proposal_id}'::text[]
     OR OLD.opened_at IS NOT NULL OR NEW.opened_at IS NULL THEN
    RAISE EXCEPTION 'what was found of restore % never changes, and it is opened once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  -- A later one may have been found since they agreed.
  IF NOT is_confirmed_by_staff(NEW.proposal_id, 'recovery_opening', 'restore', (SELECT max(id)::text FROM restores)) THEN
    RAISE EXCEPTION 'two of the staff open the service after restore %', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_send_generation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM require_fence();
  IF NOT EXISTS (SELECT FROM payments p WHERE p.id = NEW.payment_id AND p.kind = 'payout' AND p.state = 'released'
       AND p.send_begun_at IS NOT NULL AND p.send_generation = NEW.generation - 1 AND NEW.recorded_at < p.send_deadline_at)
     OR EXISTS (SELECT FROM payments p WHERE p.operator_reference = NEW.operator_reference) THEN
    RAISE EXCEPTION 'generation % of % does not follow a send of a payout that may still be sent, or has the reference of a payment',
      NEW.generation, NEW.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_staff_member()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  is_decided boolean;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.founder IS NULL AND (NEW.password_hash IS NOT NULL OR NOT EXISTS (SELECT FROM staff_proposals p
        WHERE is_confirmed_by_staff(p.id, 'staff_addition', 'name', NEW.name)
          AND (p.id, p.proposed_by, p.decided_by) = (NEW.proposal_id, NEW.added_by, NEW.confirmed_by))) THEN
      RAISE EXCEPTION 'two of the staff add another one, who is not enrolled yet: %', NEW.name
        USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (NEW.id, NEW.name, NEW.founder, NEW.added_by, NEW.confirmed_by, NEW.created_at)
      IS DISTINCT FROM (OLD.id, OLD.name, OLD.founder, OLD.added_by, OLD.confirmed_by, OLD.created_at) THEN
    RAISE EXCEPTION 'the id, name and origin of a row of staff_members never change' USING ERRCODE = 'restrict_violation';
  END IF;
  is_decided := (NEW.state, NEW.proposal_id) IS DISTINCT FROM (OLD.state, OLD.proposal_id)
    OR (OLD.password_hash IS NOT NULL AND NEW.password_hash IS DISTINCT FROM OLD.password_hash);
  IF is_decided AND (OLD.state = 'ended' OR NEW.password_hash IS NOT NULL
      OR NEW.proposal_id IS NOT DISTINCT FROM OLD.proposal_id
      OR NOT is_confirmed_by_staff(NEW.proposal_id,
        CASE NEW.state WHEN 'ended' THEN 'staff_end' ELSE 'staff_reset' END, 'member', NEW.id)) THEN
    RAISE EXCEPTION 'two of the staff end or reset another one: %', OLD.name USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.totp_last_step < OLD.totp_last_step THEN
    RAISE EXCEPTION 'a used code stays used: %', OLD.name USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_staff_proposal()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'pending' THEN
      RAISE EXCEPTION 'proposal % must be made before it is decided', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM require_enrolled_staff(NEW.proposed_by);
    RETURN NEW;
  END IF;
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF (to_jsonb(NEW) - 'attestation') = (to_jsonb(OLD) - 'attestation') AND NEW.payload::text = OLD.payload::text THEN
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.kind, NEW.payload::text, NEW.proposed_by, NEW.token_sha256, NEW.created_at, NEW.expires_at)
      IS DISTINCT FROM (OLD.id, OLD.kind, OLD.payload::text, OLD.proposed_by, OLD.token_sha256, OLD.created_at, OLD.expires_at) THEN
    RAISE EXCEPTION 'what proposal % proposes never changes', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.state <> 'pending' OR NEW.state = 'pending' THEN
    RAISE EXCEPTION 'proposal % is decided once', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  PERFORM require_enrolled_staff(NEW.decided_by);
  IF NEW.state = 'confirmed' THEN
    PERFORM require_enrolled_staff(NEW.proposed_by);
    IF NEW.decided_at >= OLD.expires_at THEN
      RAISE EXCEPTION 'proposal % has expired', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  payment payments%ROWTYPE;
  operator_account text;
  merchant text;
  state_now text;
  is_right boolean;
BEGIN
  PERFORM require_fence();
  SELECT * INTO STRICT payment FROM payments WHERE id = NEW.payment_id;
  operator_account := 'operator/' || payment.operator || '/' || payment.currency;
  merchant := payment.merchant_id;
  state_now := payment.state;
  is_right := NEW.amount_minor = payment.amount_minor AND NEW.currency = payment.currency AND CASE NEW.kind
    WHEN 'collection_paid' THEN state_now = 'succeeded'
      AND NEW.debit_account_id = operator_account AND NEW.credit_account_id = merchant || '/available'
    WHEN 'collection_reversed' THEN state_now = 'reversed'
      AND NEW.debit_account_id = merchant || '/available' AND NEW.credit_account_id = operator_account
    WHEN 'payout_held' THEN state_now = 'queued'
      AND NEW.debit_account_id = merchant || '/available' AND NEW.credit_account_id = merchant || '/held'
    WHEN 'payout_voided' THEN state_now IN ('failed', 'rejected', 'cancelled', 'expired')
      AND NEW.debit_account_id = merchant || '/held' AND NEW.credit_account_id = merchant || '/available'
    WHEN 'payout_paid' THEN state_now = 'succeeded'
      AND NEW.debit_account_id = merchant || '/held' AND NEW.credit_account_id = operator_account
    WHEN 'payout_returned' THEN state_now = 'reversed'
      AND NEW.debit_account_id = operator_account AND NEW.credit_account_id = merchant || '/available'
    ELSE false END;
  IF NOT is_right THEN
    RAISE EXCEPTION 'transfer % does not match the state, amount, currency or accounts of %', NEW.kind,
      NEW.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind = 'payout_voided'
     AND (NEW.status_kind IS NULL) <> (payment.state <> 'failed' OR payment.failed_by IS NOT DISTINCT FROM 'never_sent') THEN
    RAISE EXCEPTION 'the hold of payout % is voided by another status than the payout says', NEW.payment_id
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_two_owners(merchant text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF is_live() AND count_secured_owners(merchant) < 2 THEN
    RAISE EXCEPTION 'merchant % needs two owners with a second factor before money leaves it', merchant
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_two_owners';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.check_user()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM refuse_older_attestation(TG_TABLE_NAME, OLD.attestation, NEW.attestation);
  IF NEW.id <> OLD.id THEN
    RAISE EXCEPTION 'the id of a row of users never changes' USING ERRCODE = 'restrict_violation';
  END IF;
  IF OLD.recovered_at IS NOT NULL AND (NEW.recovered_at IS NULL OR NEW.recovered_at < OLD.recovered_at) THEN
    RAISE EXCEPTION 'the recovery of user % cannot be forgotten', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_waited(merchant text, person text, at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT moves_money(merchant, person, at) THEN
    RAISE EXCEPTION 'a new approver, or a recovered account, moves no money yet'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'money_out_after_waiting';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.count_secured_owners(merchant text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  RETURN (SELECT count(*) FROM members
    WHERE merchant_id = merchant AND removed_at IS NULL AND 'owner' = ANY (roles) AND has_second_factor(user_id));
END $function$;

CREATE OR REPLACE FUNCTION public.has_second_factor(person text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  RETURN EXISTS (SELECT 1 FROM users WHERE id = person AND totp_secret_sealed IS NOT NULL)
    OR EXISTS (SELECT 1 FROM passkeys WHERE user_id = person);
END $function$;

CREATE OR REPLACE FUNCTION public.is_confirmed_by_staff(proposal text, wanted text, name text, subject text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
  SELECT EXISTS (SELECT FROM staff_proposals p
    WHERE p.id = proposal AND p.kind = wanted AND p.state = 'confirmed' AND p.payload ->> name = subject)
$function$;

CREATE OR REPLACE FUNCTION public.is_live()
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  RETURN coalesce((SELECT environment FROM deployment), 'live') = 'live';
END $function$;

CREATE OR REPLACE FUNCTION public.lock_spendable(merchant text, account text, api_key text, OUT spendable_minor bigint, OUT reserved_minor bigint, OUT queued_of_key_minor bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  SELECT balance_minor INTO STRICT spendable_minor FROM ledger_accounts WHERE id = account FOR NO KEY UPDATE;
  reserved_minor := reserved_by_refunds(merchant);
  spendable_minor := spendable_minor - reserved_minor;
  IF api_key IS NOT NULL THEN
    SELECT coalesce(sum(p.amount_minor), 0) INTO STRICT queued_of_key_minor
      FROM payments p
      WHERE p.merchant_id = merchant AND p.kind = 'payout' AND p.state = 'queued' AND p.api_key_id = api_key;
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.moves_money(merchant text, person text, at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  wait interval := waiting_time(merchant);
BEGIN
  RETURN wait = interval '0' OR coalesce(least(at, clock_timestamp()) >= wait + (
    SELECT greatest(m.approver_since, u.recovered_at)
    FROM users u LEFT JOIN members m ON m.merchant_id = merchant AND m.user_id = u.id
    WHERE u.id = person), true);
END $function$;

CREATE OR REPLACE FUNCTION public.note_signed()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  UPDATE audit_chains SET unsigned_since = NULL WHERE chain = NEW.chain AND position = NEW.position;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_state_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_LEVEL = 'STATEMENT' THEN
    INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state, operator, amount_minor, payment_created_at)
    SELECT merchant_id, kind, id, state, operator, amount_minor, created_at FROM created;
  ELSIF TG_TABLE_NAME = 'payments' THEN
    INSERT INTO public.state_changes
      (merchant_id, kind, object_id, from_state, to_state, operator, amount_minor, payment_created_at, seconds)
    VALUES (NEW.merchant_id, NEW.kind, NEW.id, OLD.state, NEW.state, NEW.operator, NEW.amount_minor, NEW.created_at,
      -- A return, or an outcome after the end, does not count as the duration of the payment.
      CASE WHEN OLD.state IN ('initiated', 'prompted', 'released', 'reconciling')
          AND NEW.state IN ('succeeded', 'failed', 'expired')
        THEN greatest(0, extract(epoch FROM NEW.updated_at
          - CASE NEW.kind WHEN 'collection' THEN NEW.created_at ELSE coalesce(NEW.send_begun_at, OLD.updated_at) END)) END);
    -- How often a checkout was paid counts the attempts that are paid, also those whose money was returned since.
    IF NEW.kind = 'collection' AND NEW.state = 'succeeded' THEN
      INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state)
      SELECT k.merchant_id, 'checkout', k.id,
        CASE WHEN k.use = 'one_time' THEN 'completed'
             WHEN k.cancelled_at IS NOT NULL THEN 'cancelled'
             WHEN k.expires_at <= clock_timestamp() THEN 'expired'
             ELSE 'open' END
      FROM public.checkout_attempts a JOIN public.checkouts k ON k.id = a.checkout_id WHERE a.collection_id = NEW.id;
    END IF;
  ELSIF TG_TABLE_NAME = 'checkouts' THEN
    INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state)
    VALUES (NEW.merchant_id, 'checkout', NEW.id, CASE WHEN NEW.cancelled_at IS NULL THEN 'open' ELSE 'cancelled' END);
  ELSE
    INSERT INTO public.state_changes (merchant_id, kind, object_id, to_state)
    VALUES (NEW.merchant_id, TG_ARGV[0], NEW.id, NEW.state);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.note_unsigned()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.unsigned_since := coalesce(OLD.unsigned_since, now());
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.number_of_attestation(attestation text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT coalesce(substring(attestation FROM '^([1-9][0-9]{0,17})[.]'), '0')::bigint
$function$;

CREATE OR REPLACE FUNCTION public.post_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  last_posted timestamptz;
BEGIN
  -- Accounts are locked in the order of their ids, whichever side they are on, so that two transfers never deadlock.
  PERFORM 1 FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE;
  -- A statement of its own: one that waited for a lock still sees other rows as they were when it began.
  SELECT max(last_posted_at) INTO last_posted FROM ledger_accounts
    WHERE id IN (NEW.debit_account_id, NEW.credit_account_id) AND merchant_id IS NOT NULL;
  NEW.posted_at := greatest(clock_timestamp(), last_posted + interval '1 microsecond');
  UPDATE ledger_accounts
    SET balance_minor = balance_minor - NEW.amount_minor, entry_count = entry_count + 1, last_posted_at = NEW.posted_at
    WHERE id = NEW.debit_account_id AND merchant_id IS NOT NULL
    RETURNING entry_count, balance_minor INTO NEW.debit_entry, NEW.debit_balance_minor;
  UPDATE ledger_accounts
    SET balance_minor = balance_minor + NEW.amount_minor, entry_count = entry_count + 1, last_posted_at = NEW.posted_at
    WHERE id = NEW.credit_account_id AND merchant_id IS NOT NULL
    RETURNING entry_count, balance_minor INTO NEW.credit_entry, NEW.credit_balance_minor;
  -- A reversal may make a debt; a payout may not.
  IF NEW.kind = 'payout_held' AND NEW.debit_balance_minor < 0 THEN
    RAISE EXCEPTION 'payout % exceeds the available balance', NEW.payment_id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.present_timeline()
 RETURNS integer
 LANGUAGE sql
AS $function$
  SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer
$function$;

CREATE OR REPLACE FUNCTION public.quarter_of(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $function$;

CREATE OR REPLACE FUNCTION public.queue_audit_link()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO audit_entries_to_link VALUES (NEW.id);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '% is not allowed on %', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_older_attestation(relation name, before text, after text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF after <> before AND number_of_attestation(after) <= number_of_attestation(before) THEN
    RAISE EXCEPTION 'another attestation of a row of % has a greater number', relation USING ERRCODE = 'restrict_violation';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_requested_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the requested fields of payments cannot change' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.require_enrolled_staff(member text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM 1 FROM staff_members WHERE id = member AND state = 'active' AND password_hash IS NOT NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is none of the enrolled staff', member USING ERRCODE = 'restrict_violation';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.require_fence()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM require_known_database();
  -- A clock that was set back makes the last write a later one.
  IF NOT EXISTS (SELECT FROM fence
       WHERE clock_timestamp() - written_at BETWEEN -lasts AND lasts AND timeline = present_timeline()) THEN
    RAISE EXCEPTION 'the fence is not fresh: nothing is sent, decided or posted'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fence_fresh';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.require_known_database()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF EXISTS (SELECT FROM restores WHERE opened_at IS NULL) THEN
    RAISE EXCEPTION 'in recovery: nothing is requested, sent, decided or posted'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fence_open';
  END IF;
  IF NOT EXISTS (SELECT FROM fence WHERE server_started_at = pg_postmaster_start_time()) THEN
    RAISE EXCEPTION 'nobody has compared the database with its markers since PostgreSQL started'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'fence_fresh';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.reserved_by_refunds(merchant text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  RETURN (SELECT coalesce(sum(r.amount_minor), 0)
    FROM payments r JOIN payments c ON c.id = r.collection_id
    WHERE r.merchant_id = merchant AND r.kind = 'reversal' AND r.state IN ('queued', 'released', 'reconciling')
      AND c.state = 'succeeded');
END $function$;

CREATE OR REPLACE FUNCTION public.waiting_time(merchant text)
 RETURNS interval
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  RETURN greatest(
    CASE WHEN is_live() THEN interval '24 hours' ELSE interval '0' END,
    (SELECT make_interval(secs => approver_wait_ms / 1000.0) FROM policies WHERE merchant_id = merchant));
END $function$;
