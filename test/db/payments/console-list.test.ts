// The console's lists of payments: each filter and order finds what it says, page by page, at the same cost at any depth.
import assert from 'node:assert/strict';
import { countCollections, pageCollections } from '../../../src/db/payments/collection.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { lowestIdAt, type CheckoutId, type MerchantId, type UserId } from '../../../src/domain/ids.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import {
  LIST_ORDERS,
  type ListFilter,
  type ListOrder,
  type ListPlace,
  type ListRequest,
} from '../../../src/domain/payments/payment-list.ts';
import { makeMember, makeMerchant, tamper } from '../rows.ts';
import { makeCheckout } from './checkouts.ts';
import { useDatabase } from '../use-database.ts';
import { withWork } from '../work-rows.ts';
import { plansOf, PLAN_MODES, type Plan, buffersOf } from './list-plans.ts';

const ROWS = 30_000;
const SECOND = 1000;
const FIRST_AT_MS = Date.parse('2026-01-01T00:00:00.000Z');
// What a page looks through, sorts or counts: rows, and a page of the heap and of an index for each at the worst.
const MOST_BUFFERS = 25_000;
const RARE = 'RARE-1';

describe('a list of payments in the console', () => {
  const db = useDatabase();
  let merchantId: MerchantId;
  /** By id, oldest first. */
  let rows: readonly Collection[];
  let person: UserId;
  /** Of a checkout at which most collections were made, of one with a few, and of one of another merchant. */
  const checkouts = {} as Record<'common' | 'rare' | 'foreign', CheckoutId>;

  before(async () => {
    merchantId = await makeMerchant(db);
    person = await makeMember(db, merchantId, ['maker']);
    await insertMany(db, merchantId, person);
    const other = await makeMerchant(db);
    await insertMany(db, other, null);
    const make = async (merchant: MerchantId, by: UserId, condition: string) => {
      const { id } = await makeCheckout(db, merchant, by, { use: 'reusable' });
      await insertAttempts(db, merchant, id, condition);
      return id;
    };
    checkouts.common = await make(merchantId, person, 'n % 4 <> 0');
    checkouts.rare = await make(merchantId, person, 'n % 9000 = 8');
    checkouts.foreign = await make(other, await makeMember(db, other, ['maker']), 'true');
    await db.pool.query('ANALYZE payments, checkouts, checkout_attempts');
    rows = (await pageCollections(db, merchantId, { filter: {}, order: 'oldest', after: null, limit: ROWS })).items;
    assert.equal(rows.length, ROWS);
  });

  const atRow = (row: number) => new Date(FIRST_AT_MS + row * 2 * SECOND);
  const sorted = (order: ListOrder, fits: (row: Collection) => boolean): string[] => {
    const found = rows.filter(fits);
    const byAmount = (one: Collection, other: Collection) =>
      Number(one.amountMinor - other.amountMinor) || (one.id < other.id ? -1 : 1);
    if (order === 'smallest' || order === 'largest') found.sort(byAmount);
    if (order === 'newest' || order === 'largest') found.reverse();
    return found.map(({ id }) => id);
  };

  async function walk(filter: ListFilter, order: ListOrder, limit: number, most = Infinity): Promise<string[]> {
    const seen: string[] = [];
    for (let after: ListPlace | null = null; seen.length < most;) {
      const request: ListRequest = { filter, order, after, limit };
      const { items, next } = await pageCollections(db, merchantId, request);
      assert.ok(items.length <= limit);
      seen.push(...items.map(({ id }) => id));
      if (next === null) return seen;
      after = next;
    }
    return seen.slice(0, most);
  }

  const filters: readonly (readonly [string, () => ListFilter, (row: Collection) => boolean])[] = [
    ['nothing', () => ({}), () => true],
    ['one state', () => ({ states: ['failed'] }), ({ state }) => state === 'failed'],
    ['several states', () => ({ states: ['failed', 'expired'] }), ({ state }) => ['failed', 'expired'].includes(state)],
    ['a rare reference', () => ({ reference: RARE }), ({ reference }) => reference === RARE],
    ['a common reference', () => ({ reference: 'INV-7' }), ({ reference }) => reference === 'INV-7'],
    ['a phone', () => ({ phone: '256772000007' }), ({ phone }) => phone === '256772000007'],
    ['a person', () => ({ createdBy: person }), ({ createdBy }) => createdBy === person],
    [
      'a common range of amounts',
      () => ({ amountFrom: 100n, amountTo: 300n }),
      ({ amountMinor: n }) => n >= 100n && n <= 300n,
    ],
    ['a rare amount', () => ({ amountFrom: 999_999n }), ({ amountMinor }) => amountMinor >= 999_999n],
    [
      'states, amounts and a time',
      () => ({ states: ['failed', 'initiated'], amountTo: 500n, createdFrom: atRow(1000), createdTo: atRow(29_000) }),
      ({ state, amountMinor, id }) =>
        ['failed', 'initiated'].includes(state) &&
        amountMinor <= 500n &&
        id >= idAt(atRow(1000)) &&
        id < idAt(atRow(29_000)),
    ],
    [
      'a key and a phone',
      () => ({ idempotencyKey: 'k-17', phone: '256772000017' }),
      ({ idempotencyKey }) => idempotencyKey === 'k-17',
    ],
    ['a checkout with most', () => ({ checkoutId: checkouts.common }), (row) => numberOf(row) % 4 !== 0],
    ['a checkout with a few', () => ({ checkoutId: checkouts.rare }), (row) => numberOf(row) % 9000 === 8],
    ['a checkout of another merchant', () => ({ checkoutId: checkouts.foreign }), () => false],
    [
      'a checkout, a phone and a time',
      () => ({
        checkoutId: checkouts.common,
        phone: '256772000007',
        createdFrom: atRow(1000),
        createdTo: atRow(29_000),
      }),
      (row) =>
        numberOf(row) % 4 !== 0 &&
        row.phone === '256772000007' &&
        row.id >= idAt(atRow(1000)) &&
        row.id < idAt(atRow(29_000)),
    ],
    [
      'an idempotency key and a checkout',
      () => ({ idempotencyKey: 'k-17', checkoutId: checkouts.common }),
      ({ idempotencyKey }) => idempotencyKey === 'k-17',
    ],
    [
      'a checkout and a state',
      () => ({ checkoutId: checkouts.common, states: ['failed'] }),
      (row) => numberOf(row) % 4 !== 0 && row.state === 'failed',
    ],
    ['a state that a reference never has', () => ({ reference: 'INV-7', states: ['expired'] }), () => false],
  ];
  const idAt = (at: Date): string => lowestIdAt('col', at.getTime());

  for (const [what, filter, fits] of filters) {
    for (const order of LIST_ORDERS) {
      it(`finds by ${what}, ${order} first, page by page`, async () => {
        const expected = sorted(order, fits);
        const most = Math.min(expected.length, 700);
        const found = await walk(filter(), order, 100, expected.length > most ? most : Infinity);
        assert.deepEqual(found, expected.slice(0, expected.length > most ? most : undefined));
      });
    }

    it(`counts by ${what}, up to a thousand`, async () => {
      const { count, isAtLeast } = await countCollections(db, merchantId, filter());
      const all = sorted('newest', fits).length;
      assert.ok(count <= Math.min(all, 1000), `${count} of ${all}`);
      if (!isAtLeast) assert.equal(count, all);
    });
  }

  it('counts a few exactly, and stops at a thousand', async () => {
    assert.deepEqual(await countCollections(db, merchantId, { reference: RARE }), { count: 3, isAtLeast: false });
    assert.deepEqual(await countCollections(db, merchantId, {}), { count: 1000, isAtLeast: true });
    assert.deepEqual(await countCollections(db, merchantId, { amountFrom: 999_999n }), { count: 2, isAtLeast: false });
  });

  it('finds nothing for an empty list of states', async () => {
    assert.deepEqual(await walk({ states: [] }, 'newest', 10), []);
    assert.deepEqual(await countCollections(db, merchantId, { states: [] }), { count: 0, isAtLeast: false });
  });

  it('misses nothing and repeats nothing while payments arrive', async () => {
    const first = await pageCollections(db, merchantId, { filter: {}, order: 'newest', after: null, limit: 50 });
    await insertOne(db, merchantId, 'NEW-1');
    const second = await pageCollections(db, merchantId, { filter: {}, order: 'newest', after: first.next, limit: 50 });
    const found = [...first.items, ...second.items].map(({ id }) => id);
    assert.deepEqual(found, sorted('newest', () => true).slice(0, 100));
  });

  for (const [what, filter] of filters) {
    it(`reads no more than a bounded part of the table by ${what}`, async () => {
      for (const order of LIST_ORDERS) {
        for (const mode of PLAN_MODES) {
          const request = { filter: filter(), order, after: { id: idAt(atRow(15_000)), amountMinor: 250n }, limit: 20 };
          for (const plan of await plansOf(db, mode, (explained) => pageCollections(explained, merchantId, request))) {
            assert.deepEqual(wholeTables(plan), [], JSON.stringify(plan));
            assert.ok(buffersOf(plan) <= MOST_BUFFERS, `${order}: ${buffersOf(plan)} buffers`);
          }
        }
      }
    });
  }

  for (const mode of PLAN_MODES) {
    it(`reads a page without filters, of one state, and of several from the rows of the page alone (${mode})`, async () => {
      for (const filter of [
        {},
        { states: ['initiated'] },
        { states: ['initiated', 'failed'] },
        { phone: '256772000007' },
        { checkoutId: checkouts.common },
        { checkoutId: checkouts.foreign },
      ]) {
        const request = {
          filter,
          order: 'newest',
          after: { id: idAt(atRow(500)), amountMinor: 1n },
          limit: 20,
        } as const;
        const [plan] = await plansOf(db, mode, (explained) => pageCollections(explained, merchantId, request));
        assert.ok(buffersOf(plan!) <= 130, `${JSON.stringify(filter)}: ${buffersOf(plan!)} buffers`);
      }
      const byAmount = { filter: { amountTo: 400n }, order: 'largest', after: null, limit: 20 } as const;
      const [plan] = await plansOf(db, mode, (explained) => pageCollections(explained, merchantId, byAmount));
      assert.ok(buffersOf(plan!) <= 130, `${buffersOf(plan!)} buffers`);
    });
  }
});

function numberOf({ idempotencyKey }: Collection): number {
  return Number(idempotencyKey.slice(2));
}

/** The tables with many rows that the plan reads one after the other. */
function wholeTables(plan: Plan): string[] {
  const { 'Node Type': node, 'Relation Name': table } = plan;
  const isWhole = node === 'Seq Scan' && table !== undefined && table !== 'checkouts';
  return [...(isWhole ? [table] : []), ...(plan.Plans ?? []).flatMap(wholeTables)];
}

// Most are initiated; one in 300 failed, and one in 3,000 expired. Amounts repeat.
async function insertMany(db: Database, merchantId: MerchantId, person: string | null): Promise<void> {
  const offset = person === null ? 1 : 0;
  const ids = Array.from({ length: ROWS }, (_, row) => lowestIdAt('col', FIRST_AT_MS + (row * 2 + offset) * SECOND));
  await tamper(
    db,
    `INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, previous_state, version, failure_code, amount_minor,
       currency, reference, phone, operator, operator_reference, metadata, created_at, updated_at, send_deadline_at,
       created_by)
     SELECT id, 'collection', $2, 'k-' || n, CASE WHEN n % 3000 = 0 THEN 'expired' WHEN n % 300 = 0 THEN 'failed' ELSE 'initiated' END,
       CASE WHEN n % 300 = 0 THEN 'initiated' END, CASE WHEN n % 300 = 0 THEN 1 ELSE 0 END,
       CASE WHEN n % 300 = 0 THEN 'unknown' END, CASE WHEN n IN (5, 29995) THEN 1000000 ELSE 1 + n % 499 END, 'UGX',
       CASE WHEN n IN (10, 9000, 29000) THEN '${RARE}' ELSE 'INV-' || n % 10 END, (256772000000 + n % 50)::text, 'mtn-momo',
       gen_random_uuid(), '{}', now(), now(), now(), CASE WHEN n % 1000 = 0 THEN $3 END
     FROM unnest($1::text[]) WITH ORDINALITY AS ids (id, n)`,
    [ids, merchantId, person],
  );
}

/** Says of the merchant's collections with such a number that they were attempts to pay the checkout. */
async function insertAttempts(db: Database, merchantId: MerchantId, id: CheckoutId, condition: string): Promise<void> {
  await tamper(
    db,
    `INSERT INTO checkout_attempts (code_sha256, checkout_id, merchant_id, collection_id, created_at)
     SELECT sha256(id::bytea), $2, merchant_id, id, now()
     FROM (SELECT *, substring(idempotency_key FROM 3)::int AS n FROM payments
           WHERE kind = 'collection' AND merchant_id = $1) AS c WHERE ${condition}
     ORDER BY id`,
    [merchantId, id],
  );
}

async function insertOne(db: Database, merchantId: MerchantId, reference: string): Promise<void> {
  await db.pool.query(
    withWork(`INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator,
       operator_reference, metadata, created_at, updated_at, send_deadline_at)
     VALUES ($1, 'collection', $2, 'one', 'initiated', 5000, 'UGX', $3, '256772000100', 'mtn-momo', gen_random_uuid(), '{}', now(), now(), now())`),
    [lowestIdAt('col', Date.now()), merchantId, reference],
  );
}
