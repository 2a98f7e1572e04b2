// Callbacks of operators are stored for the payment that they name, of whichever kind, and for nothing else.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { makePayout, makeShop } from './payout-rows.ts';
import { makeReversal } from './refund-rows.ts';
import { callBack, makeCollection, oneRow, tamper } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { countUnmatchedCallbacks } from '../../../src/db/service-figures.ts';
import { valuesOf } from '../../support/values-of.ts';
import { dueOf, findWork } from '../work-rows.ts';

describe('an operator’s callback', () => {
  const db = useDatabase();

  const stored = () =>
    oneRow<Record<string, number>>(
      db,
      `SELECT (count(*) FILTER (WHERE kind = 'collection'))::int AS collections,
              (count(*) FILTER (WHERE kind = 'payout'))::int AS payouts,
              (count(*) FILTER (WHERE kind = 'reversal'))::int AS reversals, count(*)::int AS all
       FROM operator_callbacks JOIN payments ON payments.id = payment_id`,
    );

  it('is stored for the collection, payout or reversal that its reference names', async () => {
    const shop = await makeShop(db, 10_000n);
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const payout = await makePayout(db, shop, 'released');
    const reversal = await makeReversal(db, shop, collection);
    for (const payment of [collection, payout, reversal]) {
      const called = await callBack(db, payment.operatorReference);
      assert.deepEqual(called, { payment, isKept: true });
    }
    assert.deepEqual(await stored(), { collections: 1, payouts: 1, reversals: 1, all: 3 });
  });

  it('is not stored when its reference is unknown', async () => {
    const before = await stored();
    assert.deepEqual(await callBack(db, randomUUID()), { payment: null, isKept: false });
    assert.deepEqual(await stored(), before);
  });

  it('is stored when its reference is unknown and its address is ours, at most twenty times, until the payment is there', async () => {
    const shop = await makeShop(db, 10_000n);
    const lost = await makePayout(db, shop, 'released');
    const unmatched = () => countUnmatchedCallbacks(db, 100);
    const reference = randomUUID();
    const answers = [];
    for (let i = 0; i < 22; i++) answers.push(await callBack(db, reference, true));
    assert.deepEqual(valuesOf(answers, 'payment'), Array<null>(22).fill(null));
    assert.deepEqual(valuesOf(answers, 'isKept'), [...Array<boolean>(20).fill(true), false, false]);
    assert.equal(await unmatched(), 20);
    await tamper(db, 'UPDATE payments SET operator_reference = $1 WHERE id = $2', [reference, lost.id]);
    assert.equal(await unmatched(), 0);
  });

  it('is stored at most twenty times for one payout, and later ones are still accepted', async () => {
    const shop = await makeShop(db, 10_000n);
    const payout = await makePayout(db, shop, 'released');
    const answers = [];
    for (let i = 0; i < 22; i++) answers.push((await callBack(db, payout.operatorReference)).isKept);
    assert.deepEqual(answers, [...Array<boolean>(20).fill(true), false, false]);
  });

  /** How long after the callback the recheck that it led to is due; null when it led to none. */
  async function recheckAfterCallback(id: string, operatorReference: string): Promise<number | null> {
    // As after the recheck that an earlier callback led to.
    await db.pool.query('DELETE FROM work WHERE id = $1', [id]);
    const calledAt = new Date();
    await callBack(db, operatorReference);
    const due = (await findWork(db, id, 'status_query'))?.dueAt ?? null;
    // What the call itself took does not matter.
    return due && Math.floor((due.getTime() - calledAt.getTime()) / 30_000) * 30_000;
  }

  const MINUTE_MS = 60_000;
  const DAY_MS = 1440 * MINUTE_MS;

  it('leads to rechecks of a paid collection at once, twice, and then at gaps that double up to a day, however often it is repeated', async () => {
    const { merchantId } = await makeShop(db, 0n);
    const { id, operatorReference } = await makeCollection(db, merchantId, 'succeeded');
    const gaps = [];
    for (let i = 0; i < 24; i++) gaps.push(await recheckAfterCallback(id, operatorReference));
    const doubled = Array.from({ length: 24 }, (_, n) => (n < 2 ? 0 : Math.min(MINUTE_MS * 2 ** (n - 2), DAY_MS)));
    assert.deepEqual(gaps, doubled);
  });

  it('leads to a recheck of a failed collection at once, and to later ones at gaps that double', async () => {
    const { merchantId } = await makeShop(db, 0n);
    const { id, operatorReference } = await makeCollection(db, merchantId, 'failed');
    const gaps = [];
    for (let i = 0; i < 4; i++) gaps.push(await recheckAfterCallback(id, operatorReference));
    assert.deepEqual(gaps, [0, MINUTE_MS, 2 * MINUTE_MS, 4 * MINUTE_MS]);
  });

  it('neither hastens nor postpones a recheck that is due earlier', async () => {
    const { merchantId } = await makeShop(db, 0n);
    const { id, operatorReference } = await makeCollection(db, merchantId, 'succeeded');
    const due = () => dueOf(db, id, 'status_query');
    await callBack(db, operatorReference);
    const first = await due();
    for (let i = 0; i < 30; i++) await callBack(db, operatorReference);
    assert.deepEqual(await due(), first);
  });
});
