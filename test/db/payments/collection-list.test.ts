// Lists of collections read one index range at any depth, with whichever filters.
import assert from 'node:assert/strict';
import { listCollections, type CollectionFilter } from '../../../src/db/payments/collection.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { lowestIdAt, type CollectionId, type MerchantId } from '../../../src/domain/ids.ts';
import { makeMerchant } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { withWork } from '../work-rows.ts';
import { plansOf, PLAN_MODES, type PlanMode, type Plan, buffersOf } from './list-plans.ts';

const ROWS_PER_MERCHANT = 20_000;
const SECOND = 1000;
const FIRST_AT_MS = Date.parse('2026-01-01T00:00:00.000Z');
const LIMIT = 21;
// A page of 21 rows: the way down the index, its leaves, and a heap page for each row.
const MOST_BUFFERS = 60;

describe('a list of collections', () => {
  const db = useDatabase();
  let merchantId: MerchantId;

  before(async () => {
    merchantId = await makeMerchant(db);
    // Interleaved in time with the rows of another merchant, as in production.
    await insertMany(db, merchantId, 0);
    await insertMany(db, await makeMerchant(db), 1);
    await db.pool.query('ANALYZE payments');
  });

  const atRow = (row: number) => new Date(FIRST_AT_MS + row * 2 * SECOND);
  const idAtRow = (row: number) => lowestIdAt('col', atRow(row).getTime());

  const planOf = async (filter: CollectionFilter, mode: PlanMode) => {
    const plans = await plansOf(db, mode, (explained) => listCollections(explained, merchantId, filter, LIMIT));
    assert.equal(plans.length, 1);
    return plans[0]!;
  };

  // A single filter reads one range of its own index.
  const single: readonly [string, CollectionFilter][] = [
    ['without a filter', {}],
    ['far down the list', { before: idAtRow(100) }],
    ['by state', { states: ['initiated'] }],
    ['by state, far down the list', { states: ['initiated'], before: idAtRow(100) }],
    ['by a common reference', { reference: 'INV-7' }],
    ['by an unknown reference', { reference: 'none' }],
    ['by reference, far down the list', { reference: 'INV-7', before: idAtRow(1000) }],
    ['by phone', { phone: '256772000007' }],
    ['by phone, far down the list', { phone: '256772000007', before: idAtRow(1000) }],
    ['from a time on', { createdFrom: atRow(10_000) }],
    ['up to a time', { createdTo: atRow(10_000) }],
    ['between two times', { createdFrom: atRow(5000), createdTo: atRow(6000) }],
    [
      'between two times, from the middle of the list',
      { createdFrom: atRow(10), createdTo: atRow(19_000), before: idAtRow(9000) },
    ],
  ];
  for (const [what, filter] of single) {
    for (const mode of PLAN_MODES) {
      it(`reads one index range ${what} (${mode})`, async () => {
        const plan = await planOf(filter, mode);
        assert.deepEqual(nodesOf(plan), ['Limit', 'Index Scan'], JSON.stringify(plan));
        assert.equal(removedBy(plan), 0);
        assert.ok(buffersOf(plan) <= MOST_BUFFERS, `${buffersOf(plan)} buffers`);
      });
    }
  }

  const combined: readonly [string, CollectionFilter][] = [
    ['state and reference', { states: ['initiated'], reference: 'INV-7' }],
    ['state and phone', { states: ['initiated'], phone: '256772000007' }],
    ['reference and phone', { reference: 'INV-7', phone: '256772000007' }],
    [
      'all filters',
      {
        states: ['initiated'],
        reference: 'INV-7',
        phone: '256772000007',
        createdFrom: atRow(10),
        createdTo: atRow(19_000),
        before: idAtRow(15_000),
      },
    ],
  ];
  for (const [what, filter] of combined) {
    it(`walks an index in order and sorts nothing by ${what}`, async () => {
      for (const mode of PLAN_MODES) {
        const plan = await planOf(filter, mode);
        assert.deepEqual(nodesOf(plan), ['Limit', 'Index Scan'], JSON.stringify(plan));
      }
    });
  }
});

async function insertMany(db: Database, merchantId: MerchantId, offset: number): Promise<void> {
  const ids: CollectionId[] = [];
  for (let row = 0; row < ROWS_PER_MERCHANT; row++) {
    ids.push(lowestIdAt('col', FIRST_AT_MS + (row * 2 + offset) * SECOND));
  }
  await db.pool.query(
    withWork(`INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator,
       operator_reference, metadata, created_at, updated_at, send_deadline_at)
     SELECT id, 'collection', $2, id, 'initiated', 5000, 'UGX', 'INV-' || n % 50, (256772000000 + n % 50)::text, 'mtn-momo',
       gen_random_uuid(), '{}', now(), now(), now()
     FROM unnest($1::text[]) WITH ORDINALITY AS ids (id, n)`),
    [ids, merchantId],
  );
}

function nodesOf(plan: Plan): string[] {
  return [plan['Node Type'], ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function removedBy(plan: Plan): number {
  return (plan['Rows Removed by Filter'] ?? 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + removedBy(inner), 0);
}
