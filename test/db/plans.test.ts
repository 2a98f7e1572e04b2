// The plans of statements that run often: with more than a hundred thousand rows, none of them reads a whole table.
import assert from 'node:assert/strict';
import type { Queryable } from '../../src/db/database.ts';
import { newId, type MerchantId } from '../../src/domain/ids.ts';
import { claimRechecks, listOperatorsToRecheck } from '../../src/db/rechecks.ts';
import { findLatestReversal } from '../../src/db/payments/reversal.ts';
import { withholdDeliveries } from '../../src/db/webhooks/delivery.ts';
import { makeMerchant, tamper } from './rows.ts';
import { useDatabase } from './use-database.ts';

const ROWS = 120_000;

describe('with more than a hundred thousand rows', () => {
  const db = useDatabase();
  let merchantId: MerchantId;

  before(async () => {
    merchantId = await makeMerchant(db);
    for (const sql of MANY_ROWS) await tamper(db, sql.replaceAll('$merchant', `'${merchantId}'`));
    await db.pool.query('VACUUM ANALYZE');
  });

  /** The plans of the statements that `work` runs; the statements themselves are not executed. */
  async function plansOf(work: (explaining: Queryable) => Promise<unknown>): Promise<string> {
    const plans: string[] = [];
    await work({
      async run({ text }, values) {
        const { rows } = await db.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values]);
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
    assert.doesNotMatch(plan, /Seq Scan on reversals\b|Sort Key: r\./, plan);
  });

  it('the final payments whose recheck is due are found by an index', async () => {
    const claim = { operator: 'mtn-momo', limit: 100, leaseMs: 1000 } as const;
    const plan = await plansOf(async (explaining) => {
      await listOperatorsToRecheck(explaining, ['mtn-momo']);
      await claimRechecks(explaining, 'collection', claim);
    });
    assert.equal(plan.match(/using collections_recheck_due/g)?.length, 2, plan);
    assert.doesNotMatch(plan, /Seq Scan on collections/, plan);
  });

  it('what is owed to disabled endpoints is found by an index', async () => {
    const plan = await plansOf((explaining) => withholdDeliveries(explaining, 500, new Date()));
    assert.match(plan, /using deliveries_retrying/, plan);
    assert.doesNotMatch(plan, /Seq Scan on (deliveries|endpoints)/, plan);
  });
});

const ID = (prefix: string, n = 'n') => `'${prefix}_' || lpad(${n}::text, 26, '0')`;

const MANY_ROWS: readonly string[] = [
  // One in ten expired, and of a tenth of those a recheck is due.
  `INSERT INTO collections (id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
     phone, operator, operator_reference, operator_receipt, metadata, failure_code, created_at, updated_at, prompt_deadline_at,
     send_begun_at, check_due_at, workflow_started_at)
   SELECT ${ID('col')}, $merchant, n::text, CASE WHEN n % 10 = 0 THEN 'expired' ELSE 'succeeded' END, 'prompted', 2, 5000, 'UGX',
     n::text, '256772000100', 'mtn-momo', gen_random_uuid(), CASE WHEN n % 10 = 0 THEN NULL ELSE n::text END, '{}',
     CASE WHEN n % 10 = 0 THEN 'unknown' END, now(), now(), now(), now(),
     now() + CASE WHEN n % 100 = 0 THEN -1 ELSE 1 END * interval '1 day', now()
   FROM generate_series(1, 20000) AS n`,
  `INSERT INTO reversals (id, merchant_id, collection_id, state, operator_reference, failure_code, requested_by,
     approvals_required, created_at, updated_at, expires_at, send_deadline_at, workflow_started_at)
   SELECT ${ID('rev')}, $merchant, ${ID('col', '(n / 3)')}, 'failed', gen_random_uuid(), 'unknown', 'usr', 1, now(), now(), now(),
     now(), now()
   FROM generate_series(1, ${ROWS}) AS n`,
  // One endpoint in ten is disabled. What they were sent is long delivered; only one delivery in a thousand is owed.
  `INSERT INTO endpoints (id, merchant_id, url, state, disabled_reason, disabled_at, secret_sealed, created_at, updated_at)
   SELECT ${ID('whe')}, $merchant, 'https://merchant.example', CASE WHEN n % 10 = 0 THEN 'disabled' ELSE 'enabled' END,
     CASE WHEN n % 10 = 0 THEN 'failing' END, CASE WHEN n % 10 = 0 THEN now() END, 'sealed', now(), now()
   FROM generate_series(1, 20000) AS n`,
  `INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, next_attempt_at, created_at,
     updated_at)
   SELECT ${ID('dlv')}, ${ID('evt')}, ${ID('whe', '(n % 20000)')}, $merchant,
     CASE WHEN n % 1000 = 1 THEN 'retrying' ELSE 'delivered' END, 1, CASE WHEN n % 1000 = 1 THEN now() END, now(), now()
   FROM generate_series(1, ${ROWS}) AS n`,
];
