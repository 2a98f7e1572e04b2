// The plans of statements that run often: with more than a hundred thousand rows, none of them reads a whole table.
import assert from 'node:assert/strict';
import type { Queryable } from '../../src/db/platform/database.ts';
import { newId, type MerchantId } from '../../src/domain/ids.ts';
import { listCollections } from '../../src/db/payments/collection.ts';
import { listLedgerEntries } from '../../src/db/payments/ledger-entry.ts';
import { listDayTotals } from '../../src/db/payments/totals.ts';
import { clocksOf, daysBetween } from '../../src/domain/time-zone.ts';
import { listLiveUpdates } from '../../src/db/live-updates.ts';
import { deleteStateChanges, foldStateChanges } from '../../src/db/state-changes.ts';
import { listApiRequests } from '../../src/db/accounts/api-request.ts';
import {
  claimQueries,
  countDueQueries,
  firstQueryDueAt,
  measureOverdueQueries,
} from '../../src/db/work/status-queries.ts';
import { findLatestReversal } from '../../src/db/payments/reversal.ts';
import { listAuditEntries } from '../../src/db/accounts/audit.ts';
import { listExchanges } from '../../src/db/payments/operator-exchange.ts';
import { findUsualAmount, listPayoutHistories } from '../../src/db/payments/payout-history.ts';
import { listPayoutsOfKeys } from '../../src/db/payments/payout.ts';
import { findHits } from '../../src/db/payments/search.ts';
import { withholdDeliveries } from '../../src/db/webhooks/delivery.ts';
import { listDeliveries } from '../../src/db/webhooks/delivery-list.ts';
import { listEvents } from '../../src/db/webhooks/event.ts';
import { PAYMENT_KINDS } from '../../src/domain/payments/payment.ts';
import type { Payout } from '../../src/domain/payments/payout.ts';
import { readServiceFigures } from '../../src/operations/read-service-figures.ts';
import { makeMerchant, tamper } from './rows.ts';
import { useDatabase } from './use-database.ts';

const ROWS = 120_000;
/** How many rows are stored within the statement timeout, even on a loaded machine. */
const BATCH = 15_000;

describe('with more than a hundred thousand rows', function () {
  this.timeout(300_000);
  const db = useDatabase();
  let merchantId: MerchantId;

  before(async () => {
    merchantId = await makeMerchant(db);
    for (const sql of MANY_ROWS) {
      for (let first = 1; first <= ROWS; first += BATCH) {
        const bounds = sql.replaceAll('$first', String(first)).replaceAll('$last', String(first + BATCH - 1));
        await tamper(db, bounds.replaceAll('$merchant', `'${merchantId}'`));
      }
    }
    await db.pool.query('VACUUM ANALYZE');
  });

  /**
   * The plans of the statements that `work` runs; the statements themselves are not executed. `isForAny`: those for any
   * values, which PostgreSQL may choose once it has run a prepared statement five times.
   */
  async function plansOf(
    work: (explaining: Queryable) => Promise<unknown>,
    { isForAny = false } = {},
  ): Promise<string> {
    const plans: string[] = [];
    await work({
      attestor: db.attestor,
      announce: () => undefined,
      async run({ text }, values) {
        const { rows } = await (isForAny
          ? db.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`)
          : db.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values]));
        plans.push(...rows.map((row) => row['QUERY PLAN']));
        return [];
      },
    });
    return plans.join('\n');
  }

  it('the latest reversal of a collection is found by an index', async () => {
    const plan = await plansOf((explaining) => findLatestReversal(explaining, merchantId, newId('col')));
    // An index that gives only the order would read every reversal of a merchant without one for this collection.
    assert.match(plan, /Index Cond: .*collection_id = /, plan);
    assert.doesNotMatch(plan, /Seq Scan on payments\b|Sort Key: payments\.id/, plan);
  });

  it('the status queries that are due are found by an index, and so are those that are overdue', async () => {
    const plan = await plansOf(async (explaining) => {
      await countDueQueries(explaining, 'mtn-momo', 100);
      await claimQueries(explaining, 'mtn-momo', { limit: 100, kinds: PAYMENT_KINDS, leaseMs: 1000, gapMs: 1000 });
      await firstQueryDueAt(explaining, ['mtn-momo']);
      await measureOverdueQueries(explaining, ['mtn-momo'], 1000);
    });
    // Each looks for the merchants and for their queries; a claim looks whether any is due, too.
    assert.equal(plan.match(/(using|on) work_query_due/g)?.length, 9, plan);
    assert.doesNotMatch(plan, /Seq Scan on (payments|work)\b/, plan);
  });

  it('a page of ledger entries is read from the end of index ranges, by account, kind, time and cursor', async () => {
    const filters = [
      {},
      { account: 'available' },
      { kind: 'payout_held' },
      { createdTo: new Date() },
      { before: '42' },
    ] as const;
    for (const filter of filters) {
      const plan = await plansOf((explaining) => listLedgerEntries(explaining, merchantId, filter, 20));
      assert.match(plan, /Index Scan Backward using ledger_transfers_(debit|credit)_statement/, plan);
      assert.doesNotMatch(plan, /Seq Scan on (ledger_transfers|payments)/, plan);
    }
    const paymentId = newId('col');
    const plan = await plansOf((explaining) => listLedgerEntries(explaining, merchantId, { paymentId }, 20));
    assert.match(plan, /using ledger_transfers_once_per_payment/, plan);
    assert.doesNotMatch(plan, /Seq Scan on (ledger_transfers|payments)/, plan);
  });

  it('totals are read by an index, folded and unfolded', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const range = daysBetween(clocksOf('UTC'), { from: today, to: today });
    const plan = await plansOf((explaining) => listDayTotals(explaining, merchantId, range));
    assert.match(plan, /(using|on) payment_totals_pkey/, plan);
    assert.match(plan, /(using|on) state_changes_(pkey|of_merchant)/, plan);
    assert.doesNotMatch(plan, /Seq Scan on (payment_totals|payments|state_changes)/, plan);
  });

  it('the figures of the service are read by indexes, and from tables that do not grow with payments', async () => {
    const limits = { maxCount: 1000, maxPerMerchant: 100, maxAgeMs: 1000 };
    const plan = await plansOf((explaining) => readServiceFigures(explaining, limits));
    assert.match(plan, /using payments_unfinished/, plan);
    assert.match(plan, /using endpoints_disabled/, plan);
    assert.doesNotMatch(plan, /Seq Scan on (payments|deliveries|endpoints|events)/, plan);
  });

  it('the next state changes are folded, and the oldest removed, in the order of an index', async () => {
    for (const isForAny of [false, true]) {
      const fold = await plansOf((explaining) => foldStateChanges(explaining, 2000), { isForAny });
      assert.match(fold, /Index Scan using state_changes_pkey/, fold);
      assert.doesNotMatch(fold, /Seq Scan on state_changes/, fold);
      const removal = await plansOf((explaining) => deleteStateChanges(explaining, new Date(), 2000), { isForAny });
      assert.match(removal, /Index Scan using state_changes_pkey on state_changes state_changes_1/, removal);
    }
  });

  it('live updates after a place are read by an index', async () => {
    const range = { after: { xid: 1n, id: 1n }, horizon: 1_000_000_000n };
    const plan = await plansOf((explaining) => listLiveUpdates(explaining, [merchantId], range, 500));
    assert.match(plan, /Index Scan using state_changes_of_merchant/, plan);
    assert.match(plan, /Index Cond: .*ROW\(merchant_id, xid, id\) > .* AND \(ROW\(merchant_id, xid\) < /, plan);
  });

  it('the request log is read by an index under each filter', async () => {
    const filters = [
      [{}, 'api_requests_list'],
      [{ key: newId('key') }, 'api_requests_list_by_key'],
      [{ route: '/v1/api/balance', method: 'GET' }, 'api_requests_list_by_route'],
      [{ object: newId('col') }, 'api_requests_list_of_object'],
      [{ status: '4xx' }, 'api_requests_list_of_failed'],
    ] as const;
    for (const [filter, index] of filters) {
      const plan = await plansOf((explaining) => listApiRequests(explaining, merchantId, filter, 20));
      assert.match(plan, new RegExp(`(using|on) ${index}\\b`), plan);
      assert.doesNotMatch(plan, /Seq Scan on api_requests/, plan);
    }
  });

  it('deliveries to disabled endpoints are found by an index', async () => {
    const plan = await plansOf((explaining) => withholdDeliveries(explaining, 500, new Date()));
    assert.match(plan, /using deliveries_retrying/, plan);
    assert.doesNotMatch(plan, /Seq Scan on (deliveries|endpoints)/, plan);
  });

  const at = new Date();
  const hits = (how: Parameters<typeof findHits>[2], text: string) => (explaining: Queryable) =>
    findHits(explaining, merchantId, how, text);
  const reads: readonly (readonly [string, RegExp, (explaining: Queryable) => Promise<unknown>])[] = [
    [
      'the events of a payment',
      /events_one_per_change/,
      (explaining) => listEvents(explaining, merchantId, { objectId: newId('col') }, 20),
    ],
    [
      'the events of an endpoint',
      /events_of_endpoint/,
      (explaining) => listEvents(explaining, merchantId, { objectId: newId('whe') }, 20),
    ],
    [
      'the deliveries of a payment',
      /events_one_per_change[^]*deliveries_event_id_endpoint_id_key/,
      (explaining) => listDeliveries(explaining, merchantId, { objectId: newId('col') }, 20),
    ],
    [
      'the audit log of a subject',
      /audit_entries_of_subject/,
      (explaining) => listAuditEntries(explaining, merchantId, { subjectId: newId('pay') }, 20),
    ],
    [
      'the audit log of a person',
      /audit_entries_of_person/,
      (explaining) => listAuditEntries(explaining, merchantId, { actorId: newId('usr') }, 20),
    ],
    [
      'the audit log of an action, after an entry',
      /Index Cond: [^\n]*ROW\(/,
      (explaining) => listAuditEntries(explaining, merchantId, { action: 'payout.released', before: '100' }, 20),
    ],
    [
      'the audit log of a time, after an entry',
      /audit_entries_by_time[^\n]*\n *Index Cond: [^\n]*ROW\(/,
      (explaining) => listAuditEntries(explaining, merchantId, { createdFrom: at, createdTo: at, before: '100' }, 20),
    ],
    [
      'the payouts around others',
      /payments_payouts_sent_by_phone[^]*payments_list_by_phone[^]*payments_payouts_sent_by_reference/,
      (explaining) => listPayoutHistories(explaining, merchantId, [PAYOUT, PAYOUT]),
    ],
    ['what is usually paid out', /payments_list_by_state/, (explaining) => findUsualAmount(explaining, merchantId, at)],
    [
      'the exchanges of a payment',
      /operator_exchanges_payment/,
      (explaining) => listExchanges(explaining, [newId('col')], 200),
    ],
    [
      'the beginning of a reference',
      /payments_list_by_reference/,
      hits({ kind: 'payout', foundBy: 'reference_prefix' }, 'SAL-1'),
    ],
    [
      'a whole reference, in capitals or not',
      /payments_list_by_reference/,
      hits({ kind: 'payout', foundBy: 'reference' }, 'sal-1'),
    ],
    [
      'collections with a reference',
      /payments_list_by_reference/,
      (explaining) => listCollections(explaining, merchantId, { reference: 'ORDER-77' }, 20),
    ],
    ['what a request made', /payments_(list|pkey)/, hits({ kind: 'collection', foundBy: 'request_id' }, newId('req'))],
    [
      'an operator receipt',
      /payments_one_per_receipt/,
      hits({ kind: 'payout', foundBy: 'operator_receipt' }, '10480123456'),
    ],
    [
      'an idempotency key',
      /payments_by_idempotency_key/,
      hits({ kind: 'collection', foundBy: 'idempotency_key' }, 'order'),
    ],
    [
      'the payouts of idempotency keys',
      /payments_by_idempotency_key/,
      (explaining) =>
        listPayoutsOfKeys(
          explaining,
          merchantId,
          Array.from({ length: 50 }, (_, n) => `order-${n}`),
        ),
    ],
    [
      'the collections of an idempotency key',
      /payments_by_idempotency_key/,
      (explaining) => listCollections(explaining, merchantId, { idempotencyKey: 'order' }, 50),
    ],
  ];
  for (const [what, index, read] of reads) {
    it(`finds ${what} by an index`, async () => {
      for (const isForAny of [false, true]) {
        const plan = await plansOf(read, { isForAny });
        assert.match(plan, index, plan);
        assert.doesNotMatch(plan, /Seq Scan on (payments|events|deliveries|audit_entries|operator_exchanges)/, plan);
      }
    });
  }
});

const PAYOUT = {
  id: newId('pay'),
  phone: '256772000100',
  amountMinor: 5000n,
  reference: 'SAL-1',
  createdAt: new Date(),
} as Payout;

const ID = (prefix: string, n = 'n') => `'${prefix}_' || lpad(${n}::text, 26, '0')`;

const MANY_ROWS: readonly string[] = [
  // One in ten expired, and of a tenth of those a status query is due.
  `INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, failure_code, created_at, updated_at, send_deadline_at,
     send_begun_at)
   SELECT ${ID('col')}, 'collection', $merchant, n::text, CASE WHEN n % 10 = 0 THEN 'expired' ELSE 'succeeded' END, 'prompted', 2, 5000, 'UGX',
     n::text, '256772000100', 'mtn-momo', gen_random_uuid(), CASE WHEN n % 10 = 0 THEN NULL ELSE n::text END, '{}',
     CASE WHEN n % 10 = 0 THEN 'unknown' END, now(), now(), now(), now()
   FROM generate_series($first, least($last, 20000)) AS n`,
  `INSERT INTO work (id, task, kind, merchant_id, operator, priority, due_at)
   SELECT ${ID('col')}, 'status_query', 'collection', $merchant, 'mtn-momo', 2, now() + CASE WHEN n % 100 = 0 THEN -1 ELSE 1 END * interval '1 day'
   FROM generate_series($first, least($last, 20000)) AS n`,
  `INSERT INTO payments (id, kind, merchant_id, collection_id, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, failure_code, created_by, approvals_required, created_at, updated_at, expires_at,
     send_deadline_at, status_attestation)
   SELECT ${ID('rev')}, 'reversal', $merchant, ${ID('col', '(n / 3)')}, 'failed', 'released', 2, 5000, 'UGX', n::text, '256772000100',
     'mtn-momo', gen_random_uuid(), 'unknown', 'usr', 1, now(), now(), now(), now(), ''
   FROM generate_series($first, $last) AS n`,
  `INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor)
   SELECT $merchant, quarter_of(now()) - n * interval '15 minutes', kind, 'mtn-momo', 'succeeded', 1, 5000
   FROM generate_series($first, least($last, 20000)) AS n, (VALUES ('collection'), ('payout')) AS kinds (kind)`,
  `INSERT INTO state_changes (xid, merchant_id, kind, object_id, to_state)
   SELECT (n::text)::xid8, $merchant, 'collection', ${ID('col')}, 'succeeded' FROM generate_series($first, least($last, 40000)) AS n`,
  `INSERT INTO api_requests (id, merchant_id, api_key_id, method, route, path, status, duration_ms, is_repeat, object_id, created_at)
   SELECT ${ID('req')}, CASE WHEN n % 400 = 0 THEN $merchant ELSE 'mer_' || n % 400 END, 'key_' || n % 100, 'POST', CASE WHEN n % 1000 = 0 THEN '/v1/api/balance' ELSE '/v1/api/payouts' END,
     '/', CASE WHEN n % 1000 = 0 THEN 400 ELSE 202 END, 1, false, ${ID('pay')}, now()
   FROM generate_series($first, least($last, 40000)) AS n`,
  `INSERT INTO ledger_accounts (id, kind, merchant_id, currency, balance_minor, entry_count)
   VALUES ($merchant || '/available', 'available', $merchant, 'UGX', 0, 0) ON CONFLICT DO NOTHING`,
  `INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     credit_entry, credit_balance_minor, posted_at, status_kind, status_queried_at, status_attestation)
   SELECT 'collection_paid', ${ID('col')}, 'operator/mtn-momo/UGX', $merchant || '/available', 5000, 'UGX', now(), n, n * 5000,
     now() + n * interval '1 millisecond', 'paid', now(), ''
   FROM generate_series($first, least($last, 40000)) AS n`,
  `INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency, created_at,
     debit_entry, debit_balance_minor, credit_entry, credit_balance_minor, posted_at)
   SELECT 'payout_held', ${ID('pay')}, $merchant || '/available', $merchant || '/held', 5000, 'UGX', now(), ${ROWS} + n, 0, n, 0,
     now() + n * interval '1 millisecond'
   FROM generate_series($first, least($last, 10000)) AS n`,
  // One endpoint in ten is disabled. What they were sent is long delivered; only one delivery in a thousand is owed.
  `INSERT INTO endpoints (id, merchant_id, url, state, disabled_reason, disabled_at, secret_sealed, created_at, updated_at)
   SELECT ${ID('whe')}, $merchant, 'https://merchant.example', CASE WHEN n % 10 = 0 THEN 'disabled' ELSE 'enabled' END,
     CASE WHEN n % 10 = 0 THEN 'failing' END, CASE WHEN n % 10 = 0 THEN now() END, 'sealed', now(), now()
   FROM generate_series($first, least($last, 20000)) AS n`,
  `INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, next_attempt_at, created_at,
     updated_at)
   SELECT ${ID('dlv')}, ${ID('evt')}, ${ID('whe', '(n % 20000)')}, $merchant,
     CASE WHEN n % 1000 = 1 THEN 'retrying' ELSE 'delivered' END, 1, CASE WHEN n % 1000 = 1 THEN now() END, now(), now()
   FROM generate_series($first, $last) AS n`,
  // Two events of each collection, and one test of each endpoint.
  `INSERT INTO events (id, merchant_id, type, payment_id, resource_version, body, created_at)
   SELECT ${ID('evt')}, $merchant, 'collection.prompted', ${ID('col', '(n / 2)')}, n % 2, '{}', now()
   FROM generate_series($first, least($last, 40000)) AS n`,
  `INSERT INTO events (id, merchant_id, type, endpoint_id, body, created_at)
   SELECT ${ID('evt', '(n + 50000)')}, $merchant, 'endpoint.test', ${ID('whe')}, '{}', now() FROM generate_series($first, least($last, 20000)) AS n`,
  `INSERT INTO audit_entries (merchant_id, user_id, action, outcome, subject_id, created_at)
   SELECT $merchant, 'usr_' || n % 500, CASE WHEN n % 10 = 0 THEN 'payout.released' ELSE 'payout.created' END, 'done', 'pay_' || n / 3,
     now() - n * interval '1 minute' FROM generate_series($first, least($last, 60000)) AS n`,
  `INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, created_by, approvals_required, created_at, updated_at,
     expires_at, send_deadline_at)
   SELECT ${ID('pay')}, 'payout', $merchant, n::text, CASE WHEN n % 50 = 0 THEN 'reconciling' ELSE 'succeeded' END, 'released', 2, 5000, 'UGX', 'SAL-' || n, (256772000000 + n % 5000)::text,
     'mtn-momo', gen_random_uuid(), CASE WHEN n % 50 <> 0 THEN n::text END, '{}', 'usr', 1, now(), now(), now(), now()
   FROM generate_series($first, least($last, 40000)) AS n`,
  `INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome)
   SELECT $merchant, ${ID('col', '(n / 3)')}, 'send', now(), 12, 'accepted' FROM generate_series($first, least($last, 60000)) AS n`,
];
