// What operators call back with is kept for the payment it speaks of, whichever kind, and for nothing else.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/database.ts';
import { recordOperatorCallback } from '../../../src/operations/payments/record-operator-callback.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import { makePayout, makeReversal, makeShop } from './payout-rows.ts';
import { makeCollection, oneRow } from '../rows.ts';

describe('an operator’s callback', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  after(() => database.drop());

  const call = (operatorReference: string) =>
    recordOperatorCallback(db, {
      operator: 'mtn-momo',
      operatorReference,
      body: '{}',
      contentType: 'application/json',
      sourceAddress: '127.0.0.1',
      receivedAt: new Date(),
    });
  const kept = () =>
    oneRow<Record<string, number>>(
      db,
      `SELECT count(collection_id)::int AS collections, count(payout_id)::int AS payouts,
              count(reversal_id)::int AS reversals, count(*)::int AS all FROM operator_callbacks`,
    );

  it('is kept for the collection, the payout or the refund that its reference names', async () => {
    const shop = await makeShop(db, 10_000n);
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    const payout = await makePayout(db, shop, 'released');
    const reversal = await makeReversal(db, shop.approver, collection);
    for (const [kind, payment] of Object.entries({ collection, payout, reversal })) {
      const called = await call(payment.operatorReference);
      assert.deepEqual(called, { payment: { kind, ...payment }, isKept: true });
    }
    assert.deepEqual(await kept(), { collections: 1, payouts: 1, reversals: 1, all: 3 });
  });

  it('with a reference that we never gave out is kept nowhere', async () => {
    const before = await kept();
    assert.equal(await call(randomUUID()), null);
    assert.deepEqual(await kept(), before);
  });

  it('is kept twenty times for one payout, and its moves go on being answered', async () => {
    const shop = await makeShop(db, 10_000n);
    const payout = await makePayout(db, shop, 'released');
    const answers = [];
    for (let i = 0; i < 22; i++) answers.push((await call(payout.operatorReference))?.isKept);
    assert.deepEqual(answers, [...Array<boolean>(20).fill(true), false, false]);
  });
});
