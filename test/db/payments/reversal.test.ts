// Money that goes back to payers: requested by an approver or given back by the provider, and posted once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { recordChange } from '../../../src/db/payments/payment-change.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { changePayment } from '../../../src/domain/payments/payment-change.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getBalance } from '../../../src/db/payments/ledger.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { getLatestReversal } from '../../../src/operations/payments/read-console-payments.ts';
import { getReversal } from '../../../src/db/payments/reversal.ts';
import { codeOr, makePayout, makePerson, makeShop, requestPayout, type Shop } from './payout-rows.ts';
import { confirmRefund, makeReversal, recordReversal, requestReversal } from './refund-rows.ts';
import { countRows, makeCollection, oneRow, record, TEST_CLOCKS, untilOneWaits } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

const REFUNDED = { kind: 'refunded' } as const;
const DECLINED = { kind: 'declined', failureCode: 'operator_rejected' } as const;
const RETURNED = { kind: 'returned' } as const;

describe('a reversal', () => {
  const db = useDatabase();
  let shop: Shop;
  let paid: Collection;

  beforeEach(async () => {
    shop = await makeShop(db, 0n);
    paid = await makeCollection(db, shop.merchantId, 'succeeded');
  });
  afterEach(async () => {
    assert.deepEqual(await checkLedger(db), []);
  });

  const available = async () => (await getBalance(db, shop.merchantId)).availableMinor;
  const stateOf = async ({ id }: Collection) => (await getCollection(db, shop.merchantId, id)).state;
  const reversedEvents = ({ id }: Collection) =>
    countRows(db, `events WHERE payment_id = $1 AND type = 'collection.reversed'`, [id]);
  const countOf = ({ id }: Collection) =>
    countRows(db, "payments WHERE kind = 'reversal' AND collection_id = $1", [id]);

  describe('requested by a maker', () => {
    it('is queued and moves no money yet', async () => {
      const { response, ...created } = await requestReversal(db, shop.maker, paid.id);
      assert.ok(created.kind === 'accepted');
      const [reversal] = created.payments;
      assert.deepEqual(reversal, await getReversal(db, shop.merchantId, reversal.id));
      assert.deepEqual(reversal, (await getLatestReversal(db, shop.merchantId, paid.id)).reversal);
      assert.equal(response.status, 202);
      assert.deepEqual([reversal.state, reversal.createdBy], ['queued', shop.maker.userId]);
      assert.notEqual(reversal.operatorReference, paid.operatorReference);
      assert.deepEqual([await stateOf(paid), await available()], ['succeeded', 5000n]);
      const audit = await oneRow<{ action: string }>(db, 'SELECT action FROM audit_entries WHERE subject_id = $1', [
        paid.id,
      ]);
      assert.equal(audit.action, 'reversal.requested');
    });

    for (const state of ['initiated', 'prompted', 'reconciling', 'failed', 'expired', 'reversed'] as const) {
      it(`is refused for a collection that is ${state}`, async () => {
        const collection = await makeCollection(db, shop.merchantId, state);
        assert.equal(await codeOr(requestReversal(db, shop.maker, collection.id)), 'state_conflict');
        assert.equal(await countOf(collection), 0);
      });
    }

    it('is refused while the operator, which names collections by its receipts, has told none', async () => {
      const collection = await makeCollection(db, shop.merchantId, 'prompted', { operator: 'airtel-money' });
      const { operatorReference: operatorReceipt } = collection;
      await record(db, collection, { kind: 'paid', operatorReceipt });
      assert.equal(await codeOr(requestReversal(db, shop.maker, collection.id)), 'state_conflict');
      assert.equal(await countOf(collection), 0);
    });

    it('is refused to a person who is not a maker, and to one who has not confirmed their second factor', async () => {
      const people: Person[] = [shop.approver, { ...shop.maker, hasSecondFactor: true }];
      for (const person of people)
        assert.equal(await codeOr(requestReversal(db, person, paid.id)), 'permission_denied');
      const confirmed = { ...shop.maker, hasSecondFactor: true, secondFactorAt: new Date() };
      assert.equal((await requestReversal(db, confirmed, paid.id)).kind, 'accepted');
    });

    it('returns collection_not_found for another merchant’s collection as for an unknown one', async () => {
      const { maker } = await makeShop(db, 0n);
      assert.equal(await codeOr(requestReversal(db, maker, paid.id)), 'collection_not_found');
      assert.equal(await codeOr(requestReversal(db, shop.maker, newId('col'))), 'collection_not_found');
      assert.equal(await codeOr(requestReversal(db, shop.maker, 'col_1')), 'collection_not_found');
    });

    it('is refused while the balance is smaller than the collection, and a repeat under the same key stays refused', async () => {
      await makePayout(db, shop, 'queued', 100n);
      const idempotencyKey = randomUUID();
      const refused = await requestReversal(db, shop.maker, paid.id, { idempotencyKey });
      assert.deepEqual([refused.kind, refused.response.status, await countOf(paid)], ['refused', 402, 0]);
      assert.match(refused.response.body, /"code":"balance_insufficient".*"request_id":"req_test"/);
      await makeCollection(db, shop.merchantId, 'succeeded', { amountMinor: 100n });
      const again = await requestReversal(db, shop.maker, paid.id, { idempotencyKey });
      assert.deepEqual(again, { kind: 'replayed', response: refused.response });
      assert.equal((await requestReversal(db, shop.maker, paid.id)).kind, 'accepted');
    });

    it('is created once under an idempotency key, which replays its stored response', async () => {
      const idempotencyKey = randomUUID();
      const { response } = await requestReversal(db, shop.maker, paid.id, { idempotencyKey });
      const again = await requestReversal(db, shop.maker, paid.id, { idempotencyKey });
      assert.deepEqual(again, { kind: 'replayed', response });
      const another = await makeCollection(db, shop.merchantId, 'succeeded');
      const other = codeOr(requestReversal(db, shop.maker, another.id, { idempotencyKey }));
      assert.equal(await other, 'idempotency_key_reused');
    });

    it('is pending once at a time, however many people request it at the same moment', async () => {
      const makers = await Promise.all([
        makePerson(db, shop.merchantId, ['maker']),
        makePerson(db, shop.merchantId, ['owner']),
      ]);
      const people = [shop.maker, ...makers];
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => codeOr(requestReversal(db, people[index % 3]!, paid.id))),
      );
      assert.equal(answers.filter((answer) => answer === 'state_conflict').length, 11);
      assert.equal(await countOf(paid), 1);
    });

    it('can be requested again after it failed, and not after it succeeded', async () => {
      const first = await makeReversal(db, shop, paid);
      await recordReversal(db, first, DECLINED);
      const second = await makeReversal(db, shop, paid);
      assert.equal((await getLatestReversal(db, shop.merchantId, paid.id)).reversal.id, second.id);
      await recordReversal(db, second, REFUNDED);
      assert.equal(await codeOr(requestReversal(db, shop.maker, paid.id)), 'state_conflict');
    });

    it('is refused for a collection that the provider gives back at the same moment', async () => {
      const at = new Date();
      const change = changePayment(paid, RETURNED, at, TEST_CLOCKS);
      assert.ok(change);
      await makeCollection(db, shop.merchantId, 'succeeded');
      const request = await db.withTransaction(async (tx) => {
        await recordChange(tx, change, 'test');
        const requested = { answer: codeOr(requestReversal(db, shop.maker, paid.id)) };
        await untilOneWaits(db);
        return requested;
      });
      assert.equal(await request.answer, 'state_conflict');
      assert.equal(await countOf(paid), 0);
    });
  });

  describe('refunded by the operator', () => {
    let reversal: Reversal;
    beforeEach(async () => {
      reversal = await makeReversal(db, shop, paid);
    });

    it('reverses the collection, with its transfer and one event, when the refund is confirmed', async () => {
      const at = new Date();
      const after = await recordReversal(db, reversal, REFUNDED, at);
      assert.deepEqual(after, { ...reversal, state: 'succeeded', isCollectionReturned: true, updatedAt: at });
      assert.deepEqual(after, await getReversal(db, shop.merchantId, reversal.id));
      const collection = await getCollection(db, shop.merchantId, paid.id);
      assert.deepEqual([collection.state, collection.amountReversedMinor], ['reversed', 5000n]);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('is posted once when the refund is confirmed twice', async () => {
      const first = await recordReversal(db, reversal, REFUNDED);
      assert.deepEqual(await recordReversal(db, reversal, REFUNDED, new Date(Date.now() + 1000)), first);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('is posted once when many confirm the refund at once, and a repeat finds it', async () => {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => recordReversal(db, reversal, REFUNDED)));
      assert.ok(results.some(({ status }) => status === 'fulfilled'));
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('leaves an earlier reversal by the provider as it is, and reports that money left twice', async () => {
      await record(db, paid, RETURNED);
      assert.equal(await confirmRefund(db, reversal), false);
      assert.equal((await checkLedger(db)).length, 1);
      await db.pool.query(`UPDATE discrepancies SET settled_at = now(), settled_how = 'settled by a test'`);
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('is posted once when the provider reports the same afterwards', async () => {
      await recordReversal(db, reversal, REFUNDED);
      await record(db, paid, RETURNED);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('is posted once when the provider reports the same at the same moment, whichever comes first', async () => {
      await Promise.allSettled([recordReversal(db, reversal, REFUNDED), record(db, paid, RETURNED)]);
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
      // When the provider's report came first, money left twice: a discrepancy is recorded and nothing is posted.
      const { rowCount } = await db.pool.query(
        `UPDATE discrepancies SET settled_at = now(), settled_how = 'by a test' WHERE settled_at IS NULL`,
      );
      assert.ok(rowCount === 0 || rowCount === 1);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('is the return of its collection where the operator reports both as one, whichever is recorded first', async () => {
      for (const isReturnedFirst of [true, false]) {
        const collection = await makeCollection(db, shop.merchantId, 'succeeded', { operator: 'airtel-money' });
        const refund = await makeReversal(db, shop, collection);
        assert.equal(refund.sendsOnce, true);
        if (isReturnedFirst) await record(db, collection, RETURNED);
        assert.equal(await confirmRefund(db, refund), true);
        await record(db, collection, RETURNED);
        const { state } = await getReversal(db, shop.merchantId, refund.id);
        assert.deepEqual([state, await stateOf(collection)], ['succeeded', 'reversed']);
        assert.deepEqual([await available(), await reversedEvents(collection)], [5000n, 1]);
      }
    });

    it('leaves the collection paid when the refund is declined, whatever the operator reports later', async () => {
      const declined = await recordReversal(db, reversal, DECLINED);
      assert.deepEqual([declined.state, declined.failureCode], ['failed', 'operator_rejected']);
      assert.deepEqual(await recordReversal(db, reversal, REFUNDED), declined);
      assert.deepEqual([await stateOf(paid), await available()], ['succeeded', 5000n]);
    });

    it('stays pending while the outcome is unknown, and becomes final with the operator’s outcome', async () => {
      const unknown = await recordReversal(db, reversal, { kind: 'outcome_unknown' });
      assert.equal(unknown.state, 'reconciling');
      assert.deepEqual(await recordReversal(db, reversal, { kind: 'outcome_unknown' }), unknown);
      assert.equal(await codeOr(requestReversal(db, shop.maker, paid.id)), 'state_conflict');
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
    });

    it('returns reversal_not_found for an unknown reversal and for another merchant’s', async () => {
      const other = await makeShop(db, 0n);
      const unknown = { id: newId('rev'), merchantId: shop.merchantId };
      const foreign = { id: reversal.id, merchantId: other.merchantId };
      for (const subject of [unknown, foreign]) {
        assert.equal(await codeOr(recordReversal(db, subject, REFUNDED)), 'reversal_not_found');
      }
      assert.equal(await stateOf(paid), 'succeeded');
    });
  });

  describe('of money that was paid out before', () => {
    it('makes a debt, and no further payout is held until money comes in', async () => {
      await makePayout(db, shop, 'succeeded', 4000n);
      await record(db, paid, RETURNED);
      assert.equal(await available(), -4000n);
      assert.equal((await requestPayout(db, shop, 100n)).kind, 'refused');
      await makeCollection(db, shop.merchantId, 'succeeded');
      assert.equal(await available(), 1000n);
      assert.equal((await requestPayout(db, shop, 1001n)).kind, 'refused');
      assert.equal((await requestPayout(db, shop, 1000n)).kind, 'accepted');
    });

    it('leaves the money that other payouts hold as it is', async () => {
      const payout = await makePayout(db, shop, 'queued', 3000n);
      await record(db, paid, RETURNED);
      const { availableMinor, heldMinor } = await getBalance(db, shop.merchantId);
      assert.deepEqual([availableMinor, heldMinor, payout.state], [-3000n, 3000n, 'queued']);
    });

    it('finds the money of a returned payout in the available balance', async () => {
      const payout = await makePayout(db, shop, 'reversed', 3000n);
      assert.equal(payout.amountReversedMinor, 3000n);
      assert.equal(await available(), 5000n);
    });
  });

  it('is not found where nobody requested one', async () => {
    assert.equal(await codeOr(getLatestReversal(db, shop.merchantId, paid.id)), 'reversal_not_found');
    assert.equal(await codeOr(getLatestReversal(db, shop.merchantId, newId('col'))), 'collection_not_found');
    assert.equal(await codeOr(getReversal(db, shop.merchantId, newId('rev'))), 'reversal_not_found');
  });
});
