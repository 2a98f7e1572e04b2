// Callbacks of operators are stored for the payment that they name, of whichever kind, and for nothing else.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { makePayout, makeReversal, makeShop } from './payout-rows.ts';
import { callBack, makeCollection, oneRow } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

describe('an operator’s callback', () => {
  const db = useDatabase();

  const stored = () =>
    oneRow<Record<string, number>>(
      db,
      `SELECT count(collection_id)::int AS collections, count(payout_id)::int AS payouts,
              count(reversal_id)::int AS reversals, count(*)::int AS all FROM operator_callbacks`,
    );

  it('is stored for the collection, payout or reversal that its reference names', async () => {
    const shop = await makeShop(db, 10_000n);
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const payout = await makePayout(db, shop, 'released');
    const reversal = await makeReversal(db, shop.approver, collection);
    for (const [kind, payment] of Object.entries({ collection, payout, reversal })) {
      const called = await callBack(db, payment.operatorReference);
      assert.deepEqual(called, { payment: { kind, ...payment }, isKept: true });
    }
    assert.deepEqual(await stored(), { collections: 1, payouts: 1, reversals: 1, all: 3 });
  });

  it('is not stored when its reference is unknown', async () => {
    const before = await stored();
    assert.equal(await callBack(db, randomUUID()), null);
    assert.deepEqual(await stored(), before);
  });

  it('is stored at most twenty times for one payout, and later ones are still accepted', async () => {
    const shop = await makeShop(db, 10_000n);
    const payout = await makePayout(db, shop, 'released');
    const answers = [];
    for (let i = 0; i < 22; i++) answers.push((await callBack(db, payout.operatorReference))?.isKept);
    assert.deepEqual(answers, [...Array<boolean>(20).fill(true), false, false]);
  });
});
