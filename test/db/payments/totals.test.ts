// The totals of payments: equal to what the rows say, after any history, however it was folded, rebuilt or interrupted.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { countPayments, listTotals, listDayTotals } from '../../../src/db/payments/totals.ts';
import { newId, type MerchantId } from '../../../src/domain/ids.ts';
import { COLLECTION_STATES } from '../../../src/domain/payments/collection.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { quarterOf, QUARTER_MS } from '../../../src/domain/payments/totals.ts';
import { clocksOf, daysBetween, spansAt } from '../../../src/domain/time-zone.ts';
import { AMINA } from '../../support/staff.ts';
import { rebuildTotals } from '../../../src/operations/payments/rebuild-totals.ts';
import { getOverview } from '../../../src/operations/get-overview.ts';
import {
  countUnfolded,
  foldAll,
  makeCollection,
  makeMerchant,
  newCollection,
  paid,
  record,
  tamper,
  untilOneWaits,
} from '../rows.ts';
import { insertCollection } from '../../../src/db/payments/collection.ts';
import { foldStateChanges } from '../../../src/db/state-changes.ts';
import { IANA_TIME_ZONES } from '../../domain/time-zone-names.ts';
import { useDatabase } from '../use-database.ts';
import { makePayout, makePerson, makeShop, release, type Shop } from './payout-rows.ts';
import { columnsOf } from '../../support/values-of.ts';

const DAY_MS = 86_400_000;
const FUNDS_MINOR = 10_000_000n;
const ANY_TIME = { from: new Date(0), to: new Date('2100-01-01') };

const TRUTH = `
  SELECT kind, operator, state, count(*)::int AS count, sum(amount_minor)::text AS amount FROM (
    SELECT kind, operator, state, amount_minor FROM payments WHERE merchant_id = $1 AND kind <> 'reversal') AS payments
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

describe('the totals of payments', () => {
  const db = useDatabase();

  async function assertTrue(merchantId: MerchantId): Promise<void> {
    const { rows } = await db.pool.query<{ amount: string }>(TRUTH, [merchantId]);
    const expected = rows.map(({ amount, ...total }) => ({ ...total, amountMinor: BigInt(amount) }));
    assert.deepEqual(await listTotals(db, merchantId, ANY_TIME), expected);
  }

  const unfolded = (merchantId: MerchantId) => countUnfolded(db, 'merchant_id = $1', [merchantId]);

  async function play(shop: Shop, history: readonly (readonly ['collection' | 'payout', number])[]): Promise<void> {
    for (const [kind, n] of history) {
      if (kind === 'collection')
        await makeCollection(db, shop.merchantId, COLLECTION_STATES[n % COLLECTION_STATES.length]);
      else await makePayout(db, shop, PAYOUT_STATES[n % PAYOUT_STATES.length] ?? 'queued');
    }
  }

  it('are those of the rows after any history, whatever is folded and rebuilt meanwhile', async () => {
    const histories = fc.array(fc.tuple(fc.constantFrom('collection', 'payout'), fc.nat(20)), {
      minLength: 3,
      maxLength: 8,
    });
    const property = fc.asyncProperty(
      histories,
      histories,
      fc.integer({ min: 1, max: 5 }),
      async (one, other, limit) => {
        const shop = await makeShop(db, FUNDS_MINOR);
        const stop = { isStopped: false };
        const folding = (async () => {
          while (!stop.isStopped) await foldStateChanges(db, limit);
        })();
        const rebuilding = (async () => {
          while (!stop.isStopped) await rebuildTotals(db, { merchantId: shop.merchantId, by: AMINA, at: new Date() });
        })();
        await Promise.all([play(shop, one), play(shop, other)]);
        await assertTrue(shop.merchantId);
        stop.isStopped = true;
        await Promise.all([folding, rebuilding]);
        await foldAll(db);
        assert.equal(await unfolded(shop.merchantId), 0);
        await assertTrue(shop.merchantId);
      },
    );
    await fc.assert(property, { numRuns: 6 });
  }).timeout(240_000);

  it('are counted again by a rebuild when somebody changed them', async () => {
    const merchantId = await makeMerchant(db);
    await makeCollection(db, merchantId, 'succeeded');
    await foldAll(db);
    await makeCollection(db, merchantId, 'failed');
    await tamper(db, 'UPDATE payment_totals SET count = 40 WHERE merchant_id = $1', [merchantId]);
    await tamper(db, `UPDATE state_changes SET amount_minor = 1 WHERE merchant_id = $1`, [merchantId]);
    await assert.rejects(assertTrue(merchantId));
    await rebuildTotals(db, { merchantId, by: AMINA, at: new Date() });
    await assertTrue(merchantId);
    await foldAll(db);
    await assertTrue(merchantId);
  });

  it('lose and repeat nothing when the process that folds is killed before its commit', async () => {
    const merchantId = await makeMerchant(db);
    for (const state of COLLECTION_STATES) await makeCollection(db, merchantId, state);
    const waiting = await unfolded(merchantId);
    const blocker = await db.pool.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE payment_totals IN SHARE MODE');
      const folding = assert.rejects(foldStateChanges(db, 1000), /terminat/);
      await untilOneWaits(db);
      await blocker.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      await folding;
      await blocker.query('COMMIT');
    } finally {
      blocker.release(true);
    }
    assert.equal(await unfolded(merchantId), waiting);
    await assertTrue(merchantId);
    await foldAll(db);
    await assertTrue(merchantId);
  });

  it('are not touched by a transition that is rolled back', async () => {
    const merchantId = await makeMerchant(db);
    const failing = db.withTransaction(async (tx) => {
      await insertCollection(tx, newCollection(merchantId));
      throw new Error('the process ends here');
    });
    await assert.rejects(failing, /ends here/);
    await assertTrue(merchantId);
    assert.equal(await unfolded(merchantId), 0);
  });

  it('let payments of one merchant be recorded at once: none waits for another', async () => {
    const merchantId = await makeMerchant(db);
    let commit = (): void => undefined;
    const isOver = new Promise<void>((resolve) => (commit = resolve));
    const open = db.withTransaction(async (tx) => {
      await insertCollection(tx, newCollection(merchantId));
      await isOver;
    });
    await makeCollection(db, merchantId, 'failed');
    await foldStateChanges(db, 1000);
    await assertTrue(merchantId);
    commit();
    await open;
    await assertTrue(merchantId);
    await foldAll(db);
    await assertTrue(merchantId);
  });

  it('are of the day on which a payment was created, by the clocks of the time zone', async () => {
    const merchantId = await makeMerchant(db);
    // Ten in the evening in UTC is one in the morning in Kampala.
    const createdAt = new Date('2026-03-04T22:00:00Z');
    await db.withTransaction((tx) => insertCollection(tx, newCollection(merchantId, { createdAt })));
    const range = { from: '2026-03-01', to: '2026-03-31' };
    const dates = async (timeZone: string) =>
      (await listDayTotals(db, merchantId, daysBetween(clocksOf(timeZone), range))).map(({ date }) => date);
    assert.deepEqual(await dates('UTC'), ['2026-03-04']);
    assert.deepEqual(await dates('Africa/Kampala'), ['2026-03-05']);
    await foldAll(db);
    assert.deepEqual(await dates('Africa/Kampala'), ['2026-03-05']);
  });

  it('include the first and the last quarter of an hour of a day that has 25 hours, and no other', async () => {
    const merchantId = await makeMerchant(db);
    // In Havana the third of November 2024 begins twice: at 04:00 and, once the clocks are put back, at 05:00.
    for (const minute of ['03:59', '04:00', '04:59', '05:00']) await makeAt(merchantId, `2024-11-03T${minute}:59Z`);
    for (const minute of ['04:59', '05:00']) await makeAt(merchantId, `2024-11-04T${minute}:59Z`);
    const countOn = async (from: string, to: string) => {
      const totals = await listDayTotals(db, merchantId, daysBetween(clocksOf('America/Havana'), { from, to }));
      return totals.map(({ date, count }) => [date, count]);
    };
    assert.deepEqual(await countOn('2024-11-03', '2024-11-03'), [['2024-11-03', 4]]);
    assert.deepEqual(await countOn('2024-11-02', '2024-11-04'), [
      ['2024-11-04', 1],
      ['2024-11-03', 4],
      ['2024-11-02', 1],
    ]);
  });

  async function makeAt(merchantId: MerchantId, time: string): Promise<void> {
    await db.withTransaction((tx) => insertCollection(tx, newCollection(merchantId, { createdAt: new Date(time) })));
  }

  it('have days that begin when they do by the time zones of PostgreSQL, as far as it knows them', async () => {
    const dates = ['2024-01-15', '2024-03-31', '2024-07-15', '2024-11-05'];
    // PostgreSQL reads CET and its like as abbreviations, whose clocks never change.
    const names = IANA_TIME_ZONES.filter((name) => name.includes('/'));
    const { rows } = await db.pool.query<{ zone: string; date: string; at: Date }>(
      `SELECT name AS zone, date, (date::timestamp AT TIME ZONE name) AS at
       FROM pg_timezone_names CROSS JOIN unnest($1::text[]) AS date WHERE name = ANY ($2)`,
      [dates, names],
    );
    assert.ok(rows.length > 1500, `${rows.length}`);
    for (const { zone, date, at } of rows) {
      const [day] = daysBetween(clocksOf(zone), { from: date, to: date }).days;
      assert.deepEqual(day?.startsAt, at, `${zone} ${date}`);
    }
  });

  it('compare today with the same span of the same weekday, up to the minute', async () => {
    const shop = await makeShop(db, 0n);
    const { merchantId } = shop;
    const now = new Date();
    const { weekAgoTo } = spansAt(now, 'UTC');
    assert.equal(now.getTime() - weekAgoTo.getTime(), 7 * DAY_MS);
    // Ids date payments, so rows of the past are made with ids of then.
    const at = [weekAgoTo.getTime() - 1, weekAgoTo.getTime(), quarterOf(weekAgoTo).getTime() + QUARTER_MS];
    const counted = await Promise.all(at.map((ms) => spanCount(merchantId, new Date(ms), weekAgoTo)));
    assert.deepEqual(counted, [1, 0, 0]);
    const person = await makePerson(db, merchantId, ['viewer']);
    const { createdAt } = await makeCollection(db, merchantId, 'succeeded', { amountMinor: 700n });
    const { today, weekAgo } = await getOverview(db, person, 'UTC', new Date(createdAt.getTime() + 1));
    assert.deepEqual(columnsOf(today.totals, 'state', 'count', 'amountMinor'), [['succeeded', 1, 700n]]);
    assert.equal(weekAgo.to.getTime() - weekAgo.from.getTime(), today.to.getTime() - today.from.getTime());
  });

  async function spanCount(merchantId: MerchantId, createdAt: Date, to: Date): Promise<number> {
    const id = newId('col', createdAt.getTime());
    await db.withTransaction((tx) => insertCollection(tx, newCollection(merchantId, { id, createdAt })));
    const found = await countPayments(db, merchantId, { from: createdAt, to });
    return found.reduce((sum, { count }) => sum + count, 0);
  }

  it('show what waits for the one who may release it, and not for its maker or who approved it', async () => {
    const shop = await makeShop(db, FUNDS_MINOR);
    const payout = await makePayout(db, shop, 'queued');
    await makePayout(db, shop, 'queued');
    const seenBy = async (person: Shop['maker']) => {
      const { waitsForYou, waitsForOthers } = await getOverview(db, person, 'UTC', new Date());
      return [waitsForYou.payouts, waitsForOthers.payouts];
    };
    assert.deepEqual(await seenBy(shop.approver), [2, 0]);
    assert.deepEqual(await seenBy(shop.maker), [0, 2]);
    await release(db, shop.approver, payout.id);
    assert.deepEqual(await seenBy(shop.approver), [1, 0]);
    await record(db, await makeCollection(db, shop.merchantId, 'prompted'), paid());
    await assertTrue(shop.merchantId);
  });
});
