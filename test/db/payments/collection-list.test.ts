// Lists of collections read one index range at any depth, with whichever filters.
import assert from 'node:assert/strict';
import { listCollections, type CollectionFilter } from '../../../src/db/payments/collection.ts';
import type { Database, Queryable, Statement } from '../../../src/db/platform/database.ts';
import { lowestIdAt, type CollectionId, type MerchantId } from '../../../src/domain/ids.ts';
import { makeMerchant } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { withWork } from '../work-rows.ts';

const ROWS_PER_MERCHANT = 20_000;
const SECOND = 1000;
const FIRST_AT_MS = Date.parse('2026-01-01T00:00:00.000Z');
const LIMIT = 21;
// A page of 21 rows: the way down the index, its leaves, and a heap page for each row.
const MOST_BUFFERS = 60;

type Plan = {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
};

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
    for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
      it(`reads one index range ${what} (${mode})`, async () => {
        const plan = await explain(db, merchantId, filter, mode);
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
      for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
        const plan = await explain(db, merchantId, filter, mode);
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

/** The plan of the statement that the list runs, after running it. */
async function explain(
  db: Database,
  merchantId: MerchantId,
  filter: CollectionFilter,
  mode: 'force_custom_plan' | 'force_generic_plan',
): Promise<Plan> {
  const statements: { statement: Statement; values: readonly unknown[] }[] = [];
  const recorder: Queryable = {
    attestor: db.attestor,
    announce: () => undefined,
    run(statement, values) {
      statements.push({ statement, values });
      return Promise.resolve([]);
    },
  };
  await listCollections(recorder, merchantId, filter, LIMIT);
  const [{ statement, values }] = statements as [(typeof statements)[0]];
  const client = await db.pool.connect();
  try {
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE list AS ${statement.text}`);
    const literals = values.map((value) => client.escapeLiteral(String(value))).join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE list(${literals})`,
    );
    return rows[0]!['QUERY PLAN'][0].Plan;
  } finally {
    client.release(true);
  }
}

function nodesOf(plan: Plan): string[] {
  return [plan['Node Type'], ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function removedBy(plan: Plan): number {
  return (plan['Rows Removed by Filter'] ?? 0) + (plan.Plans ?? []).reduce((sum, inner) => sum + removedBy(inner), 0);
}

function buffersOf(plan: Plan): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
