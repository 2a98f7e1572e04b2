// A year of payments of one merchant and what belongs to them, written straight into the tables: a ledger that adds up.
import type { PoolClient } from 'pg';
import type { Database } from '../src/db/platform/database.ts';
import { attestedStatusOf } from '../src/db/payments/attested-credit.ts';
import type { EndpointId, MerchantId, UserId } from '../src/domain/ids.ts';
import { posting } from '../src/domain/payments/ledger.ts';
import type { PaymentId } from '../src/domain/payments/payment.ts';

export type ManyRows = {
  readonly merchantId: MerchantId;
  readonly makerId: UserId;
  readonly endpointId: EndpointId;
  /** Of all payments three in five are collections. */
  readonly payments: number;
};

/** Payments that are written together. */
const BATCH = 40_000;
const DAYS = 365;
/** The newest payouts wait for a decision. */
export const QUEUED = 300;

/**
 * Writes the rows in batches, without the triggers, as a year of payments would have left them. Indexes that no constraint needs are made
 * when all rows are there, which takes less time than to keep them up.
 */
export async function writeManyRows(db: Database, rows: ManyRows): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query(SETTINGS);
    await client.query(TABLE_OF_BATCH);
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(INDEXES);
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
    await writeBatches(client, db, rows);
    for (const { name, definition } of indexes) {
      process.stderr.write(`${name}\n`);
      await client.query(definition);
    }
  } finally {
    // Nothing else may get this connection.
    client.release(true);
  }
}

async function writeBatches(client: PoolClient, db: Database, rows: ManyRows): Promise<void> {
  const counts = { collections: Math.round(rows.payments * 0.6), payouts: Math.round(rows.payments * 0.4) };
  const batches = Math.ceil(rows.payments / BATCH);
  const at = new Date().toISOString();
  for (let batch = 0; batch < batches; batch++) {
    for (const [kind, statements] of [['collections', OF_COLLECTIONS] as const, ['payouts', OF_PAYOUTS] as const]) {
      const upTo = (batches: number) => Math.round(counts[kind] * batches);
      const numbers = { first: upTo(batch / batches) + 1, last: upTo((batch + 1) / batches), of: counts[kind] };
      for (const [index, sql] of statements.entries()) {
        await client.query(filled(sql, { ...rows, ...numbers, at }));
        // The first fills the batch.
        if (index === 0) await attestCredits(client, db, kind, rows.merchantId);
      }
    }
    process.stderr.write(`\r${Math.round(((batch + 1) * rows.payments) / batches)} of ${rows.payments} payments   `);
  }
  process.stderr.write('\n');
}

type Made = { readonly n: string; readonly id: string; readonly amount: string; readonly at: Date };

const CREDITS = {
  collections: { noun: 'col', state: 'succeeded', posting: 'collection_paid', status: 'paid' },
  payouts: { noun: 'pay', state: 'failed', posting: 'payout_voided', status: 'declined' },
} as const;

/** Attests what the batch makes available, as the processes of a deployment would have. */
async function attestCredits(
  client: PoolClient,
  db: Database,
  kind: keyof typeof CREDITS,
  merchantId: MerchantId,
): Promise<void> {
  const { noun, state, posting: postingKind, status } = CREDITS[kind];
  const { rows } = await client.query<Made>(
    `SELECT n, ${id(noun)} AS id, amount, at FROM batch WHERE state = '${state}'`,
  );
  const attestations = rows.map(({ id, amount, at }) => {
    const payment = { merchantId, operator: 'mtn-momo', amountMinor: BigInt(amount), currency: 'UGX' } as const;
    const basis = { kind: status, queriedAtMs: at.getTime() };
    return attestedStatusOf(db, posting(postingKind, payment), id as PaymentId, basis)?.attestation;
  });
  await client.query(
    `UPDATE batch SET attestation = made.attestation
     FROM unnest($1::bigint[], $2::text[]) AS made (n, attestation) WHERE made.n = batch.n`,
    [rows.map(({ n }) => n), attestations],
  );
}

const SETTINGS = `SET session_replication_role = replica; SET statement_timeout = 0; SET synchronous_commit = off;
  SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 1`;
// Not of tables that are nearly empty: they take no time.
const INDEXES = `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
  WHERE indrelid = ANY('{collections,payouts,events,deliveries,ledger_transfers,audit_entries,api_requests}'::regclass[])
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  ORDER BY 1`;

type Numbers = { readonly first: number; readonly last: number; readonly of: number; readonly at: string };

function filled(sql: string, { merchantId, makerId, endpointId, first, last, of, at }: ManyRows & Numbers): string {
  const values: Readonly<Record<string, string>> = {
    // `n` counts from the oldest; the newest is of `at`.
    $numbered: `(SELECT n, timestamptz '${at}' - (${of} - n) * (interval '${DAYS} days' / ${of}) AS at
      FROM generate_series(${first}::bigint, ${last}) AS n) AS numbered`,
    $merchant: `'${merchantId}'`,
    $maker: `'${makerId}'`,
    $endpoint: `'${endpointId}'`,
    $queued: `n > ${of - QUEUED}`,
  };
  return sql.replace(/\$[a-z]+/g, (name) => values[name] ?? name);
}

// Of each payment of a batch its number, its time, and how its ids begin and end: our own form of a UUIDv7, ten characters of
// time, so that ids sort by creation, and sixteen that count. Its idempotency key is random, as merchants choose them, and its operator
// reference begins with the time.
const TABLE_OF_BATCH = `CREATE TEMP TABLE batch (n bigint, at timestamptz, digits text, state text, amount bigint, phone text,
  key text, reference uuid, attestation text)`;
const DIGITS = Array.from(
  { length: 10 },
  (_, digit) => `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${5 * (9 - digit)}) & 31)::integer + 1, 1)`,
).join(' || ');
const FILL_BATCH = (state: string) => `
  TRUNCATE batch;
  INSERT INTO batch
  SELECT n, at, ${DIGITS}, ${state}, 500 + n * 31 % 200000, (256772000000 + n * 7919 % 99991)::text, gen_random_uuid()::text,
    overlay(gen_random_uuid()::text PLACING regexp_replace(lpad(to_hex(ms), 12, '0'), '^.{8}', '\\&-') FROM 1 FOR 13)::uuid
  FROM (SELECT n, at, (extract(epoch FROM at) * 1000)::bigint AS ms FROM $numbered) AS numbered`;

const id = (noun: string, n = 'n') => `('${noun}_' || digits || lpad((${n})::text, 16, '0'))`;

/** Of what the service keeps for a while alone. */
const NEWER_THAN = (days: number) => `at > now() - interval '${days} days'`;

/** The events of a payment in their order: its version then, and their type; null: that of the state in which the payment is now. */
const EVENTS = {
  collection: `(VALUES (1, 'prompted'), (2, NULL)) AS events (version, type)`,
  payout: `(VALUES (0, 'queued'), (1, 'released'), (2, NULL)) AS events (version, type)`,
};

/** The events of each payment, of each the delivery and its attempt; two exchanges with the operator; and the response that is stored. */
const TRACES_OF = (payment: 'collection' | 'payout', prefix: 'col' | 'pay', first: number): readonly string[] => {
  // Of each event a number of its own.
  const number = `${first} + n * 3 + version`;
  const from = `FROM batch, ${EVENTS[payment]} WHERE state <> 'queued' OR version = 0 ORDER BY n, version`;
  const type = `'${payment}.' || coalesce(type, state)`;
  const body = `'{"id":"' || ${id('evt', number)} || '","type":"' || ${type} || '","data":{"object":{"id":"' || ${id(prefix)}
     || '","amount":5000,"currency":"UGX","reference":"ORDER-' || n || '"}}}'`;
  return [
    `INSERT INTO events (id, merchant_id, type, payment_id, resource_version, body, created_at)
     SELECT ${id('evt', number)}, $merchant, ${type}, ${id(prefix)}, version, ${body}, at ${from}`,
    `INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, created_at, updated_at)
     SELECT ${id('dlv', number)}, ${id('evt', number)}, $endpoint, $merchant,
       CASE WHEN n % 1000 = 0 THEN 'dead_lettered' ELSE 'delivered' END, 1, at, at ${from}`,
    `INSERT INTO delivery_attempts (delivery_id, attempt_number, started_at, duration_ms, status_code, response_headers, response_body)
     SELECT ${id('dlv', number)}, 1, at, 40, 200, '{}', '' ${from}`,
    `INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome)
     SELECT $merchant, ${id(prefix)}, kind, at, 120, outcome
     FROM batch, (VALUES ('send', 'accepted'), ('status_query', 'succeeded')) AS exchanges (kind, outcome) WHERE ${NEWER_THAN(90)}`,
    `INSERT INTO idempotency_keys (merchant_id, key, request_sha256, response_status, response_body, created_at)
     SELECT $merchant, key, sha256(key::bytea), 202, repeat('x', 600), at FROM batch WHERE ${NEWER_THAN(30)}`,
  ];
};

const OF_COLLECTIONS: readonly string[] = [
  FILL_BATCH("CASE n % 20 WHEN 0 THEN 'failed' WHEN 1 THEN 'expired' ELSE 'succeeded' END"),
  `INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, failure_code, created_at, updated_at, send_deadline_at,
     send_begun_at)
   SELECT ${id('col')}, 'collection', $merchant, key, state, 'prompted', 2, amount, 'UGX', 'ORDER-' || n, phone, 'mtn-momo',
     batch.reference, CASE state WHEN 'succeeded' THEN (10000000000 + n)::text END, '{}',
     CASE state WHEN 'failed' THEN 'payer_declined' WHEN 'expired' THEN 'expired' END, at, at + interval '9 s', at, at
   FROM batch`,
  ...TRACES_OF('collection', 'col', 0),
  `INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     credit_entry, credit_balance_minor, posted_at, status_kind, status_queried_at, status_attestation)
   SELECT 'collection_paid', ${id('col')}, 'operator/mtn-momo/UGX', account.id, amount, 'UGX', at,
     entry_count + row_number() OVER earlier, balance_minor + sum(amount) OVER earlier, at, 'paid', at, attestation
   FROM batch, ledger_accounts AS account WHERE account.id = $merchant || '/available' AND state = 'succeeded'
   WINDOW earlier AS (ORDER BY n)`,
  `UPDATE ledger_accounts SET entry_count = entry_count + moved.entries, balance_minor = balance_minor + moved.amount
   FROM (SELECT count(*) AS entries, coalesce(sum(amount), 0) AS amount FROM batch WHERE state = 'succeeded') AS moved
   WHERE id = $merchant || '/available'`,
  `INSERT INTO api_requests (id, merchant_id, api_key_id, method, route, path, status, duration_ms, is_repeat, object_id, created_at)
   SELECT ${id('req')}, $merchant, 'key_' || lpad('1', 26, '0'), 'POST', '/v1/api/collections', '/v1/api/collections', 202, 6, false,
     ${id('col')}, at FROM batch WHERE ${NEWER_THAN(30)}`,
];

// A payout that is sent holds its amount, and then pays it or gives it back.
const MOVES = `(SELECT batch.*, 1 AS step, 'payout_held' AS kind, -amount AS available, amount AS held FROM batch
   UNION ALL
   SELECT batch.*, 2, CASE state WHEN 'succeeded' THEN 'payout_paid' ELSE 'payout_voided' END,
     CASE state WHEN 'succeeded' THEN 0 ELSE amount END, -amount FROM batch WHERE state <> 'queued') AS moves`;

const OF_PAYOUTS: readonly string[] = [
  FILL_BATCH("CASE WHEN $queued THEN 'queued' WHEN n % 30 = 0 THEN 'failed' ELSE 'succeeded' END"),
  `INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, failure_code, created_by, approvals_required, created_at,
     updated_at, expires_at, send_deadline_at, send_begun_at, accepted_at)
   SELECT ${id('pay')}, 'payout', $merchant, key, state, CASE WHEN NOT $queued THEN 'released' END,
     CASE WHEN $queued THEN 0 ELSE 2 END, amount, 'UGX', 'SAL-' || n, phone, 'mtn-momo', batch.reference,
     CASE state WHEN 'succeeded' THEN (10000000000 + n)::text END, '{}', CASE state WHEN 'failed' THEN 'payee_not_found' END, $maker, 1, at,
     at + interval '60 s', now() + interval '30 days', CASE WHEN NOT $queued THEN at + interval '1 hour' END,
     CASE WHEN NOT $queued THEN at END, CASE WHEN NOT $queued THEN at END
   FROM batch`,
  `INSERT INTO work (id, task, kind, merchant_id, operator, priority, is_started, due_at)
   SELECT ${id('pay')}, 'workflow', 'payout', $merchant, 'mtn-momo', 1, true, now() + interval '30 days' FROM batch WHERE $queued`,
  ...TRACES_OF('payout', 'pay', 500_000_000),
  `INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     debit_entry, debit_balance_minor, credit_entry, credit_balance_minor, posted_at, status_kind, status_queried_at,
     status_attestation)
   SELECT kind, ${id('pay')}, CASE kind WHEN 'payout_held' THEN a_id ELSE h_id END,
     CASE kind WHEN 'payout_held' THEN h_id WHEN 'payout_voided' THEN a_id ELSE 'operator/mtn-momo/UGX' END, amount, 'UGX', at,
     CASE kind WHEN 'payout_held' THEN a_entry ELSE h_entry END, CASE kind WHEN 'payout_held' THEN a_balance ELSE h_balance END,
     CASE kind WHEN 'payout_held' THEN h_entry WHEN 'payout_voided' THEN a_entry END,
     CASE kind WHEN 'payout_held' THEN h_balance WHEN 'payout_voided' THEN a_balance END, at,
     CASE kind WHEN 'payout_voided' THEN 'declined' END, CASE kind WHEN 'payout_voided' THEN at END,
     CASE kind WHEN 'payout_voided' THEN attestation END
   FROM (SELECT moves.*, a.id AS a_id, h.id AS h_id, h.entry_count + row_number() OVER earlier AS h_entry,
       h.balance_minor + sum(held) OVER earlier AS h_balance, a.entry_count + count(nullif(available, 0)) OVER earlier AS a_entry,
       a.balance_minor + sum(available) OVER earlier AS a_balance
     FROM ${MOVES}, ledger_accounts a, ledger_accounts h
     WHERE a.id = $merchant || '/available' AND h.id = $merchant || '/held'
     WINDOW earlier AS (ORDER BY n, step)) AS entries
   ORDER BY n, step`,
  `UPDATE ledger_accounts SET
     entry_count = entry_count + CASE kind WHEN 'held' THEN moved.of_held ELSE moved.of_available END,
     balance_minor = balance_minor + CASE kind WHEN 'held' THEN moved.held ELSE moved.available END
   FROM (SELECT count(*) AS of_held, count(nullif(available, 0)) AS of_available, coalesce(sum(held), 0) AS held,
       coalesce(sum(available), 0) AS available FROM ${MOVES}) AS moved
   WHERE merchant_id = $merchant`,
  `INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, created_at)
   SELECT $merchant, $maker, action, 'done', ${id('pay')}, at
   FROM batch, (VALUES ('payout.requested'), ('payout.released')) AS acts (action)`,
];
