// A million payments of one merchant and what belongs to them, written straight into the tables: a year of business.
import type { Database } from '../src/db/database.ts';
import type { EndpointId, MerchantId, UserId } from '../src/domain/ids.ts';

export type ManyRows = {
  readonly merchantId: MerchantId;
  readonly makerId: UserId;
  readonly endpointId: EndpointId;
  /** Of all payments three in five are collections. */
  readonly payments: number;
};

const BATCH = 25_000;
const DAYS = 365;
/** The newest payouts wait for a decision. */
export const QUEUED = 300;

// Our own form of a UUIDv7: ten characters of time, so that ids sort by creation, and sixteen that count.
const ID_FUNCTION = `
  CREATE FUNCTION pg_temp.id_of(noun text, at timestamptz, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT noun || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
      (((extract(epoch FROM at) * 1000)::bigint >> (5 * (9 - digit))) & 31)::integer + 1, 1), '' ORDER BY digit)
      || lpad(n::text, 16, '0')
    FROM generate_series(0, 9) AS digit $$`;

/** Writes the rows in batches, without the triggers, as a year of payments would have left them; then analyses the tables. */
export async function writeManyRows(db: Database, rows: ManyRows): Promise<void> {
  const counts = { collections: Math.round(rows.payments * 0.6), payouts: Math.round(rows.payments * 0.4) };
  const at = new Date().toISOString();
  const client = await db.pool.connect();
  try {
    await client.query(
      "SET session_replication_role = replica; SET statement_timeout = '10min'; SET synchronous_commit = off",
    );
    await client.query(ID_FUNCTION);
    for (const [kind, statements] of [['collections', OF_COLLECTIONS] as const, ['payouts', OF_PAYOUTS] as const]) {
      for (let first = 1; first <= counts[kind]; first += BATCH) {
        for (const sql of statements) await client.query(filled(sql, { ...rows, first, of: counts[kind], at }));
        process.stderr.write(`\r${kind}: ${Math.min(first + BATCH - 1, counts[kind])} of ${counts[kind]}   `);
      }
    }
    await client.query(filled(ACCOUNTS, { ...rows, first: 1, of: 1, at }));
    process.stderr.write('\n');
  } finally {
    // Nothing else may get this connection.
    client.release(true);
  }
}

function filled(
  sql: string,
  { merchantId, makerId, endpointId, first, of, at }: ManyRows & { first: number; of: number; at: string },
): string {
  const values: Readonly<Record<string, string>> = {
    // `n` counts from the oldest; the newest is of `at`, the same for every statement, because ids are made of times.
    $numbered: `(SELECT n, timestamptz '${at}' - (${of} - n) * (interval '${DAYS} days' / ${of}) AS at
      FROM generate_series(${first}::bigint, ${Math.min(first + BATCH - 1, of)}) AS n) AS numbered`,
    $merchant: `'${merchantId}'`,
    $maker: `'${makerId}'`,
    $endpoint: `'${endpointId}'`,
    $queued: `n > ${of - QUEUED}`,
  };
  return sql.replace(/\$[a-z]+/g, (name) => values[name] ?? name);
}

const id = (noun: string, n = 'n') => `pg_temp.id_of('${noun}', at, ${n})`;
/** Payers come again: each phone has ten payments. */
const PHONE = '(256772000000 + n * 7919 % 99991)::text';
const AMOUNT = '(500 + n * 31 % 200000)';
const BODY = (type: string) =>
  `'{"id":"' || ${id('evt')} || '","type":"${type}","data":{"object":{"id":"' || ${id(type.startsWith('col') ? 'col' : 'pay')} || '","amount":5000,"currency":"UGX","reference":"ORDER-' || n || '"}}}'`;

const OF_COLLECTIONS: readonly string[] = [
  `INSERT INTO collections (id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, failure_code, created_at, updated_at, prompt_deadline_at,
     send_begun_at, workflow_started_at)
   SELECT ${id('col')}, $merchant, 'order-' || n, state, 'prompted', 2, ${AMOUNT}, 'UGX', 'ORDER-' || n, ${PHONE}, 'mtn-momo',
     gen_random_uuid(), CASE state WHEN 'succeeded' THEN gen_random_uuid()::text END, '{}',
     CASE state WHEN 'failed' THEN 'payer_declined' WHEN 'expired' THEN 'expired' END, at, at + interval '9 s', at, at, at
   FROM $numbered, LATERAL (SELECT CASE n % 20 WHEN 0 THEN 'failed' WHEN 1 THEN 'expired' ELSE 'succeeded' END AS state) AS states`,
  `INSERT INTO events (id, merchant_id, type, collection_id, resource_version, body, created_at)
   SELECT ${id('evt')}, $merchant, 'collection.succeeded', ${id('col')}, 2, ${BODY('collection.succeeded')}, at FROM $numbered`,
  `INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, created_at, updated_at)
   SELECT ${id('dlv')}, ${id('evt')}, $endpoint, $merchant, CASE WHEN n % 1000 = 0 THEN 'dead_lettered' ELSE 'delivered' END, 1, at, at
   FROM $numbered`,
  `INSERT INTO delivery_attempts (delivery_id, attempt_number, started_at, duration_ms, status_code, response_headers, response_body)
   SELECT ${id('dlv')}, 1, at, 40, 200, '{}', '' FROM $numbered`,
  `INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome)
   SELECT $merchant, ${id('col')}, kind, at, 120, outcome
   FROM $numbered, (VALUES ('send', 'accepted'), ('status_query', 'succeeded')) AS exchanges (kind, outcome)`,
  `INSERT INTO ledger_transfers (kind, collection_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     credit_entry, credit_balance_minor, posted_at)
   SELECT 'collection_paid', ${id('col')}, 'operator/mtn-momo/UGX', $merchant || '/available', ${AMOUNT}, 'UGX', at, n, n * 90000, at
   FROM $numbered WHERE n % 20 > 1`,
  `INSERT INTO api_requests (id, merchant_id, api_key_id, method, route, path, status, duration_ms, is_repeat, object_id, created_at)
   SELECT ${id('req')}, $merchant, 'key_' || lpad('1', 26, '0'), 'POST', '/v1/api/collections', '/v1/api/collections', 202, 6, false,
     ${id('col')}, at FROM $numbered WHERE at > now() - interval '90 days'`,
];

const OF_PAYOUTS: readonly string[] = [
  `INSERT INTO payouts (id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, failure_code, created_by, approvals_required, created_at,
     updated_at, expires_at, send_deadline_at, send_begun_at, accepted_at, workflow_started_at)
   SELECT ${id('pay')}, $merchant, 'salary-' || n, state, CASE WHEN NOT $queued THEN 'released' END,
     CASE WHEN $queued THEN 0 ELSE 2 END, ${AMOUNT}, 'UGX', 'SAL-' || n, ${PHONE}, 'mtn-momo', gen_random_uuid(),
     CASE state WHEN 'succeeded' THEN gen_random_uuid()::text END, '{}', CASE state WHEN 'failed' THEN 'payee_not_found' END, $maker, 1, at,
     at + interval '60 s', now() + interval '30 days', CASE WHEN NOT $queued THEN at + interval '1 hour' END,
     CASE WHEN NOT $queued THEN at END, CASE WHEN NOT $queued THEN at END, at
   FROM $numbered, LATERAL (SELECT CASE WHEN $queued THEN 'queued' WHEN n % 30 = 0 THEN 'failed' ELSE 'succeeded' END AS state) AS states`,
  `INSERT INTO events (id, merchant_id, type, payout_id, resource_version, body, created_at)
   SELECT ${id('evt', '50000000 + n')}, $merchant, 'payout.succeeded', ${id('pay')}, 2, ${BODY('payout.succeeded')}, at FROM $numbered`,
  `INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, created_at, updated_at)
   SELECT ${id('dlv', '50000000 + n')}, ${id('evt', '50000000 + n')}, $endpoint, $merchant, 'delivered', 1, at, at FROM $numbered`,
  `INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome)
   SELECT $merchant, ${id('pay')}, kind, at, 120, outcome
   FROM $numbered, (VALUES ('send', 'accepted'), ('status_query', 'succeeded')) AS exchanges (kind, outcome)`,
  `INSERT INTO ledger_transfers (kind, payout_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     debit_entry, debit_balance_minor, credit_entry, credit_balance_minor, posted_at)
   SELECT 'payout_held', ${id('pay')}, $merchant || '/available', $merchant || '/held', ${AMOUNT}, 'UGX', at, 50000000 + n, n * 90000,
     2 * n, ${AMOUNT}, at FROM $numbered`,
  `INSERT INTO ledger_transfers (kind, payout_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     debit_entry, debit_balance_minor, posted_at)
   SELECT 'payout_paid', ${id('pay')}, $merchant || '/held', 'operator/mtn-momo/UGX', ${AMOUNT}, 'UGX', at, 2 * n + 1, 0, at
   FROM $numbered WHERE NOT $queued AND n % 30 <> 0`,
  `INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, created_at)
   SELECT $merchant, $maker, action, 'done', ${id('pay')}, at
   FROM $numbered, (VALUES ('payout.requested'), ('payout.released')) AS acts (action)`,
];

// Enough for every payout that the measurements make.
const ACCOUNTS = `
  INSERT INTO ledger_accounts (id, kind, merchant_id, currency, balance_minor, entry_count)
  VALUES ($merchant || '/available', 'available', $merchant, 'UGX', 90000000000, 90000000),
    ($merchant || '/held', 'held', $merchant, 'UGX', 0, 90000000)
  ON CONFLICT (id) DO UPDATE SET balance_minor = EXCLUDED.balance_minor, entry_count = EXCLUDED.entry_count`;
