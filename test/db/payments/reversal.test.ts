// Money that goes back to payers: asked for by an approver or given back by the provider, and booked once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { recordCollectionChange } from '../../../src/db/payments/collection-change.ts';
import type { Database } from '../../../src/db/database.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { changeCollection } from '../../../src/domain/payments/collection-change.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import { checkLedger } from '../../../src/queries/payments/check-ledger.ts';
import { getBalance } from '../../../src/queries/payments/get-balance.ts';
import { getCollection } from '../../../src/queries/payments/get-collection.ts';
import { getLatestReversal, getReversal } from '../../../src/queries/payments/get-reversal.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import {
  ask,
  askBack,
  codeOr,
  makePayout,
  makePerson,
  makeReversal,
  makeShop,
  bookRefund,
  recordReversal,
  type Shop,
} from './payout-rows.ts';
import { makeCollection, oneRow, record, TEST_CLOCKS, untilOneWaits } from '../rows.ts';

const REFUNDED = { kind: 'refunded' } as const;
const DECLINED = { kind: 'declined', failureCode: 'operator_rejected' } as const;
const RETURNED = { kind: 'returned' } as const;

describe('money that goes back', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;
  let paid: Collection;

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  beforeEach(async () => {
    shop = await makeShop(db, 0n);
    paid = await makeCollection(db, shop.merchantId, 'succeeded');
  });
  afterEach(async () => {
    assert.deepEqual(await checkLedger(db), []);
  });
  after(() => database.drop());

  const available = async () => (await getBalance(db, shop.merchantId)).availableMinor;
  const stateOf = async ({ id }: Collection) => (await getCollection(db, shop.merchantId, id)).state;
  const reversedEvents = async ({ id }: Collection) =>
    (
      await oneRow<{ count: number }>(
        db,
        `SELECT count(*)::int AS count FROM events WHERE collection_id = $1 AND type = 'collection.reversed'`,
        [id],
      )
    ).count;
  const countOf = async ({ id }: Collection) =>
    (await oneRow<{ count: number }>(db, 'SELECT count(*)::int AS count FROM reversals WHERE collection_id = $1', [id]))
      .count;

  describe('when an approver asks for it', () => {
    it('is recorded as asked for, and moves nothing yet', async () => {
      const { answer, ...created } = await askBack(db, shop.approver, paid.id);
      assert.ok(created.kind === 'created');
      const { reversal } = created;
      assert.deepEqual(reversal, await getReversal(db, shop.merchantId, reversal.id));
      assert.deepEqual(reversal, await getLatestReversal(db, shop.merchantId, paid.id));
      assert.equal(answer.status, 202);
      assert.deepEqual([reversal.state, reversal.requestedBy], ['requested', shop.approver.userId]);
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
        assert.equal(await codeOr(askBack(db, shop.approver, collection.id)), 'state_conflict');
        assert.equal(await countOf(collection), 0);
      });
    }

    it('is refused to who is no approver, and to who did not prove the second factor they have', async () => {
      const people: Person[] = [shop.maker, { ...shop.approver, hasSecondFactor: true }];
      for (const person of people) assert.equal(await codeOr(askBack(db, person, paid.id)), 'permission_denied');
      const proved = { ...shop.approver, hasSecondFactor: true, secondFactorAt: new Date() };
      assert.equal((await askBack(db, proved, paid.id)).kind, 'created');
    });

    it('is answered for another merchant’s collection as for one that does not exist', async () => {
      const { approver } = await makeShop(db, 0n);
      assert.equal(await codeOr(askBack(db, approver, paid.id)), 'collection_not_found');
      assert.equal(await codeOr(askBack(db, shop.approver, newId('col'))), 'collection_not_found');
      assert.equal(await codeOr(askBack(db, shop.approver, 'col_1')), 'collection_not_found');
    });

    it('is refused while the balance is smaller than the collection, for ever under that key, and not under another', async () => {
      await makePayout(db, shop, 'queued', 100n);
      const idempotencyKey = randomUUID();
      const refused = await askBack(db, shop.approver, paid.id, { idempotencyKey });
      assert.deepEqual([refused.kind, refused.answer.status, await countOf(paid)], ['refused', 402, 0]);
      assert.match(refused.answer.body, /"code":"balance_insufficient".*"request_id":"req_test"/);
      await makeCollection(db, shop.merchantId, 'succeeded', { amountMinor: 100n });
      const again = await askBack(db, shop.approver, paid.id, { idempotencyKey });
      assert.deepEqual(again, { kind: 'replayed', answer: refused.answer });
      assert.equal((await askBack(db, shop.approver, paid.id)).kind, 'created');
    });

    it('is asked once under a key, and the answer is kept', async () => {
      const idempotencyKey = randomUUID();
      const { answer } = await askBack(db, shop.approver, paid.id, { idempotencyKey });
      const again = await askBack(db, shop.approver, paid.id, { idempotencyKey });
      assert.deepEqual(again, { kind: 'replayed', answer });
      const another = await makeCollection(db, shop.merchantId, 'succeeded');
      const other = codeOr(askBack(db, shop.approver, another.id, { idempotencyKey }));
      assert.equal(await other, 'idempotency_key_reused');
    });

    it('is under way once at a time, whoever asks at the same moment', async () => {
      const people = [shop.approver, shop.otherApprover, await makePerson(db, shop.merchantId, ['owner'])];
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => codeOr(askBack(db, people[index % 3]!, paid.id))),
      );
      assert.equal(answers.filter((answer) => answer === 'state_conflict').length, 11);
      assert.equal(await countOf(paid), 1);
    });

    it('may be asked for again after it failed, and not after it succeeded', async () => {
      const first = await makeReversal(db, shop.approver, paid);
      await recordReversal(db, first, DECLINED);
      const second = await makeReversal(db, shop.approver, paid);
      assert.equal((await getLatestReversal(db, shop.merchantId, paid.id)).id, second.id);
      await recordReversal(db, second, REFUNDED);
      assert.equal(await codeOr(askBack(db, shop.approver, paid.id)), 'state_conflict');
    });

    it('is not asked of the operator for what the provider gives back at the same moment', async () => {
      const at = new Date();
      const change = changeCollection(paid, RETURNED, at, TEST_CLOCKS);
      assert.ok(change);
      await makeCollection(db, shop.merchantId, 'succeeded');
      const query = await db.withTransaction(async (tx) => {
        await recordCollectionChange(tx, change, 'test');
        const asked = { answer: codeOr(askBack(db, shop.approver, paid.id)) };
        await untilOneWaits(db);
        return asked;
      });
      assert.equal(await query.answer, 'state_conflict');
      assert.equal(await countOf(paid), 0);
    });
  });

  describe('by a refund', () => {
    let reversal: Reversal;
    beforeEach(async () => {
      reversal = await makeReversal(db, shop.approver, paid);
    });

    it('that the operator confirms reverses the collection, with its money and one event', async () => {
      const at = new Date();
      const after = await recordReversal(db, reversal, REFUNDED, at);
      assert.deepEqual(after, { ...reversal, state: 'succeeded', updatedAt: at });
      assert.deepEqual(after, await getReversal(db, shop.merchantId, reversal.id));
      const collection = await getCollection(db, shop.merchantId, paid.id);
      assert.deepEqual([collection.state, collection.amountReversedMinor], ['reversed', 5000n]);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('that is confirmed twice is booked once', async () => {
      const first = await recordReversal(db, reversal, REFUNDED);
      assert.deepEqual(await recordReversal(db, reversal, REFUNDED, new Date(Date.now() + 1000)), first);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('that many confirm at once is booked once, and a repeat finds it', async () => {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => recordReversal(db, reversal, REFUNDED)));
      assert.ok(results.some(({ status }) => status === 'fulfilled'));
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('after the provider’s own reversal leaves that as it is, and says that money left twice', async () => {
      await record(db, paid, RETURNED);
      assert.equal(await bookRefund(db, reversal), false);
      assert.equal((await checkLedger(db)).length, 1);
      await db.pool.query(`UPDATE discrepancies SET settled_at = now(), settled_how = 'settled by a test'`);
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('before the provider tells of the same is booked once', async () => {
      await recordReversal(db, reversal, REFUNDED);
      await record(db, paid, RETURNED);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('and the provider’s word at once are booked once, whichever is first', async () => {
      await Promise.allSettled([recordReversal(db, reversal, REFUNDED), record(db, paid, RETURNED)]);
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
      // The provider's word first means that money left twice, which is said and not booked.
      const { rowCount } = await db.pool.query(
        `UPDATE discrepancies SET settled_at = now(), settled_how = 'by a test' WHERE settled_at IS NULL`,
      );
      assert.ok(rowCount === 0 || rowCount === 1);
      assert.deepEqual([await available(), await reversedEvents(paid)], [0n, 1]);
    });

    it('that is declined leaves the collection paid, whatever is heard later', async () => {
      const declined = await recordReversal(db, reversal, DECLINED);
      assert.deepEqual([declined.state, declined.failureCode], ['failed', 'operator_rejected']);
      assert.deepEqual(await recordReversal(db, reversal, REFUNDED), declined);
      assert.deepEqual([await stateOf(paid), await available()], ['succeeded', 5000n]);
    });

    it('that is not known goes on being asked for, and ends by the operator’s word', async () => {
      const unknown = await recordReversal(db, reversal, { kind: 'outcome_unknown' });
      assert.equal(unknown.state, 'reconciling');
      assert.deepEqual(await recordReversal(db, reversal, { kind: 'outcome_unknown' }), unknown);
      assert.equal(await codeOr(askBack(db, shop.otherApprover, paid.id)), 'state_conflict');
      assert.equal((await recordReversal(db, reversal, REFUNDED)).state, 'succeeded');
    });

    it('of an unknown reversal, or of another merchant’s, is recorded nowhere', async () => {
      const other = await makeShop(db, 0n);
      const unknown = { id: newId('rev'), merchantId: shop.merchantId };
      const foreign = { id: reversal.id, merchantId: other.merchantId };
      for (const subject of [unknown, foreign]) {
        assert.equal(await codeOr(recordReversal(db, subject, REFUNDED)), 'reversal_not_found');
      }
      assert.equal(await stateOf(paid), 'succeeded');
    });
  });

  describe('after it was paid out', () => {
    it('is a debt, in which nothing more is paid out until money came', async () => {
      await makePayout(db, shop, 'succeeded', 4000n);
      await record(db, paid, RETURNED);
      assert.equal(await available(), -4000n);
      assert.equal((await ask(db, shop, 100n)).kind, 'refused');
      await makeCollection(db, shop.merchantId, 'succeeded');
      assert.equal(await available(), 1000n);
      assert.equal((await ask(db, shop, 1001n)).kind, 'refused');
      assert.equal((await ask(db, shop, 1000n)).kind, 'created');
    });

    it('leaves what other payouts hold as it is', async () => {
      const payout = await makePayout(db, shop, 'queued', 3000n);
      await record(db, paid, RETURNED);
      const { availableMinor, heldMinor } = await getBalance(db, shop.merchantId);
      assert.deepEqual([availableMinor, heldMinor, payout.state], [-3000n, 3000n, 'queued']);
    });

    it('by a payout that came back is there again', async () => {
      const payout = await makePayout(db, shop, 'reversed', 3000n);
      assert.equal(payout.amountReversedMinor, 3000n);
      assert.equal(await available(), 5000n);
    });
  });

  it('is told as not found where nobody asked for it', async () => {
    assert.equal(await codeOr(getLatestReversal(db, shop.merchantId, paid.id)), 'reversal_not_found');
    assert.equal(await codeOr(getLatestReversal(db, shop.merchantId, newId('col'))), 'collection_not_found');
    assert.equal(await codeOr(getReversal(db, shop.merchantId, newId('rev'))), 'reversal_not_found');
  });
});
