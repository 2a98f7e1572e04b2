// Rows as earlier versions wrote them, for the migrations that change what is there already.

export const transferOf = (kind: string, payment: string, [debit, credit]: [string, string], amountMinor: number) =>
  `INSERT INTO ledger_transfers (kind, ${payment.startsWith('col') ? 'collection_id' : 'payout_id'}, debit_account_id,
     credit_account_id, amount_minor, currency, created_at)
   VALUES ('${kind}', '${payment}', '${debit}', '${credit}', ${amountMinor}, 'UGX', now());`;

const MERCHANT = `mer_${'0'.repeat(26)}`;
export const [AVAILABLE, HELD, OPERATOR] = [`${MERCHANT}/available`, `${MERCHANT}/held`, 'operator/mtn-momo/UGX'];

const USER = `usr_${'0'.repeat(26)}`;
export const SESSION_OF_BEFORE = `
  INSERT INTO merchants VALUES ('${MERCHANT}', 'Shop', 'UGX', now());
  INSERT INTO users (id, email, name, password_hash, created_at)
    VALUES ('${USER}', 'amina@shop.example', 'Amina', '$argon2id$', now());
  INSERT INTO members (merchant_id, user_id, roles, created_at) VALUES ('${MERCHANT}', '${USER}', '{viewer}', now());
  INSERT INTO sessions (token_sha256, merchant_id, user_id, created_at, last_used_at, expires_at)
    VALUES (sha256('token'), '${MERCHANT}', '${USER}', now(), now(), now() + interval '1 hour')`;

// Two collections and a payout that was paid, as an earlier version posted them. The rules of then are not at issue.
export const MERCHANT_OF_BEFORE = 'mer_00000000000000000000000001';
export const AUDIT_LOG_OF_BEFORE = `
  INSERT INTO merchants (id, name, currency, created_at) VALUES ('${MERCHANT_OF_BEFORE}', 'Shop', 'UGX', now());
  INSERT INTO audit_entries (merchant_id, action, outcome, created_at)
    SELECT '${MERCHANT_OF_BEFORE}', 'a.done', 'done', now() FROM generate_series(1, 2);
  INSERT INTO audit_chains (chain, position, hash) VALUES ('${MERCHANT_OF_BEFORE}', 1, sha256(''));
  INSERT INTO audit_links SELECT '${MERCHANT_OF_BEFORE}', 1, min(id), sha256('') FROM audit_entries;
  DELETE FROM audit_entries_to_link WHERE entry_id = (SELECT min(id) FROM audit_entries)`;

export const keyId = (n: number) => `key_${String(n).padStart(26, '0')}`;
const keyOf = (n: number, lastUsed: string) =>
  `INSERT INTO api_keys (id, merchant_id, name, environment, hint, key_sha256, scopes, created_at, last_used_at)
   VALUES ('${keyId(n)}', '${MERCHANT}', 'Shop', 'test', 'abcd', sha256('${n}'), '{balance:read}', now(), ${lastUsed});`;
export const KEYS_OF_BEFORE = `
  SET session_replication_role = replica;
  INSERT INTO merchants VALUES ('${MERCHANT}', 'Shop', 'UGX', now());
  ${keyOf(1, `'2026-01-02T03:04:05Z'`)} ${keyOf(2, 'NULL')}`;

export const LEDGER_OF_BEFORE = `
  SET session_replication_role = replica;
  INSERT INTO merchants VALUES ('${MERCHANT}', 'Shop', 'UGX', now());
  INSERT INTO ledger_accounts (id, kind, merchant_id, operator, currency, balance_minor) VALUES
    ('${AVAILABLE}', 'available', '${MERCHANT}', NULL, 'UGX', 9000), ('${HELD}', 'held', '${MERCHANT}', NULL, 'UGX', 0),
    ('${OPERATOR}', 'operator', NULL, 'mtn-momo', 'UGX', NULL);
  ${transferOf('collection_paid', 'col_1', [OPERATOR, AVAILABLE], 5000)}
  ${transferOf('payout_held', 'pay_1', [AVAILABLE, HELD], 1000)}
  ${transferOf('collection_paid', 'col_2', [OPERATOR, AVAILABLE], 5000)}
  ${transferOf('payout_paid', 'pay_1', [HELD, OPERATOR], 1000)}`;

export const collectionId = (n: number) => `col_${String(n).padStart(26, '0')}`;
export const payoutId = (n: number) => `pay_${String(n).padStart(26, '0')}`;
export const nounOf = (id: string) => (id.startsWith('col') ? 'collection' : 'payout');
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const collectionOf = (n: number, state: string, receipt: string | null = null, operator = 'mtn-momo') =>
  `INSERT INTO collections (id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, created_at, updated_at, prompt_deadline_at,
     prompt_expires_at)
   VALUES ('${collectionId(n)}', '${MERCHANT}', '${n}', '${state}', ${state === 'initiated' ? 'NULL, 0' : `'initiated', 1`},
     5000, 'UGX', 'INV-1', '256772000100', '${operator}', '${uuid(n)}', ${receipt === null ? 'NULL' : `'${receipt}'`}, '{}',
     now(), now(), now() + interval '5 minutes', now() + interval '5 minutes');`;

const payoutOf = (n: number, receipt: string) =>
  `INSERT INTO payouts (id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, created_by, approvals_required, created_at, updated_at,
     expires_at, send_deadline_at)
   VALUES ('${payoutId(n)}', '${MERCHANT}', '${n}', 'succeeded', 'released', 2, 5000, 'UGX', 'INV-1', '256772000100',
     'mtn-momo', '${uuid(100 + n)}', '${receipt}', '{}', 'usr_1', 1, now(), now(), now(), now());`;

// As an earlier version recorded them. Three collections and two payouts have one receipt; that of another operator, and
// that of a payout beside a collection, is not the same.
export const PAYMENTS_OF_BEFORE = `
  SET session_replication_role = replica;
  INSERT INTO merchants VALUES ('${MERCHANT}', 'Shop', 'UGX', now());
  ${collectionOf(1, 'initiated')} ${collectionOf(2, 'prompted')} ${collectionOf(3, 'reconciling')}
  ${collectionOf(4, 'succeeded', '4711')} ${collectionOf(5, 'succeeded', '4711')} ${collectionOf(6, 'succeeded', '4711')}
  ${collectionOf(7, 'succeeded', '4711', 'another')} ${collectionOf(8, 'succeeded', '4712')}
  ${payoutOf(1, '4711')} ${payoutOf(2, '4711')} ${payoutOf(3, '4713')}`;

// To the letter: its checksum is known.
const refundOf = (n: number, state: string, sent: string, failure: string) =>
  `INSERT INTO reversals (id, merchant_id, collection_id, state, operator_reference, requested_by, created_at, updated_at,
     send_deadline_at, send_begun_at, failure_code, workflow_started_at)
   VALUES ('rev_${String(n).padStart(26, '0')}', '${MERCHANT}', '${collectionId(n)}', '${state}', '${uuid(n)}', '${USER}', now(), now(),
     now(), ${sent}, ${failure}, now());`;
export const REFUNDS_OF_BEFORE = `SET session_replication_role = replica;
  ${refundOf(1, 'requested', 'NULL', 'NULL')}
  ${refundOf(2, 'requested', 'now()', 'NULL')}
  ${refundOf(3, 'failed', 'now()', "'unknown'")}`;
