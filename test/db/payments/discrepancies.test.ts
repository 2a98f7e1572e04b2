// Operators that contradict how a payment ended: kept once, shown until it is settled, and never booked by itself.
import assert from 'node:assert/strict';
import type { Database } from '../../../src/db/database.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import { checkLedger } from '../../../src/queries/payments/check-ledger.ts';
import { getBalance } from '../../../src/queries/payments/get-balance.ts';
import { getCollection } from '../../../src/queries/payments/get-collection.ts';
import { getPayout } from '../../../src/queries/payments/get-payout.ts';
import { getReversal } from '../../../src/queries/payments/get-reversal.ts';
import { listAuditEntries } from '../../../src/queries/accounts/list-audit-entries.ts';
import { listDiscrepancies } from '../../../src/queries/payments/list-discrepancies.ts';
import { markAccepted } from '../../../src/db/payments/payment-progress.ts';
import { recordDiscrepancy } from '../../../src/operations/payments/record-discrepancy.ts';
import { settleDiscrepancy } from '../../../src/operations/payments/settle-discrepancy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import {
  askBack,
  bookRefund,
  makePayout,
  makeReversal,
  makeShop,
  queue,
  recordPayout,
  recordReversal,
  release,
  type Shop,
} from './payout-rows.ts';
import { makeCollection, record, TEST_CLOCKS, untilOneWaits } from '../rows.ts';

const PAID: OperatorStatus = { kind: 'paid', operatorReceipt: '4711' };
const DECLINED: OperatorStatus = { kind: 'declined', failureCode: 'operator_rejected' };

describe('an operator that contradicts how a payment ended', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;

  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    shop = await makeShop(db, 100_000n);
  });
  afterEach(() => database.drop());

  const hear = ({ id }: Pick<Payout, 'id'>, status: OperatorStatus) =>
    recordDiscrepancy(db, { ref: { kind: 'payout', id, merchantId: shop.merchantId }, status, at: new Date() });
  const noticeCollection = ({ id }: Collection, status: OperatorStatus) =>
    recordDiscrepancy(db, { ref: { kind: 'collection', id, merchantId: shop.merchantId }, status, at: new Date() });
  const balance = async () => {
    const { availableMinor, heldMinor } = await getBalance(db, shop.merchantId);
    return [availableMinor, heldMinor];
  };
  const found = async () => {
    const { items } = await listAuditEntries(db, shop.merchantId, null, 100);
    return items.flatMap(({ action, subjectId, after }) =>
      action.endsWith('.discrepancy_found') ? [[action, subjectId, after]] : [],
    );
  };

  it('by having paid what failed is on record once, however often it says so, and moves no money', async () => {
    const payout = await makePayout(db, shop, 'failed');
    const before = await balance();
    for (let i = 0; i < 3; i++) assert.equal(await hear(payout, PAID), 'paid_after_failed');
    assert.deepEqual(await balance(), before);
    assert.deepEqual(await getPayout(db, shop.merchantId, payout.id), payout);
    assert.deepEqual(await found(), [
      ['payout.discrepancy_found', payout.id, { kind: 'paid_after_failed', operator_receipt: '4711' }],
    ]);
  });

  it('by not having paid what is booked as paid is on record too', async () => {
    const payout = await makePayout(db, shop, 'succeeded');
    assert.equal(await hear(payout, DECLINED), 'declined_after_paid');
    assert.equal((await checkLedger(db)).length, 1);
  });

  it('is a fault of the ledger until somebody wrote down how it was settled', async () => {
    const payout = await makePayout(db, shop, 'failed');
    await hear(payout, PAID);
    const [fault, ...others] = await checkLedger(db);
    assert.deepEqual([fault?.subject, others], [payout.id, []]);
    assert.match(fault!.fault, /the operator says that it was paid \(its receipt: 4711\)$/);
    const [open] = await listDiscrepancies(db, 10);
    const { merchantId } = shop;
    assert.deepEqual([open?.merchantId, open?.subject, open?.kind], [merchantId, payout.id, 'paid_after_failed']);
    const settle = (id: string) => settleDiscrepancy(db, { id, how: 'the payee sent it back', at: new Date() });
    assert.equal(await settle(String(BigInt(open!.id) + 1n)), null);
    assert.equal((await checkLedger(db)).length, 1);
    // Of several who settle it at once, one does, and one is on record.
    const answers = await Promise.all([1, 2, 3].map(() => settle(open!.id)));
    assert.deepEqual(
      answers.filter((answer) => answer !== null),
      [open],
    );
    assert.deepEqual([await checkLedger(db), await listDiscrepancies(db, 10)], [[], []]);
    await hear(payout, PAID);
    assert.deepEqual(await checkLedger(db), [], 'what is settled stays so');
    const { items } = await listAuditEntries(db, merchantId, null, 100);
    const settled = items.filter(({ action }) => action.endsWith('.discrepancy_settled'));
    assert.deepEqual(
      settled.map(({ user, action, subjectId, after }) => [user, action, subjectId, after]),
      [
        [
          null,
          'payout.discrepancy_settled',
          payout.id,
          { kind: 'paid_after_failed', settlement: 'the payee sent it back' },
        ],
      ],
    );
  });

  it('by a payer’s money that was taken for a collection that failed is on record, and nothing is credited', async () => {
    const { merchantId } = shop;
    const collection = await makeCollection(db, merchantId, 'failed');
    const before = await balance();
    for (let i = 0; i < 2; i++) assert.equal(await noticeCollection(collection, PAID), 'paid_after_failed');
    assert.deepEqual(await found(), [
      ['collection.discrepancy_found', collection.id, { kind: 'paid_after_failed', operator_receipt: '4711' }],
    ]);
    const [fault, ...others] = await checkLedger(db);
    assert.deepEqual([fault?.subject, others], [collection.id, []]);
    assert.deepEqual([await balance(), await getCollection(db, merchantId, collection.id)], [before, collection]);
    const [open] = await listDiscrepancies(db, 10);
    await settleDiscrepancy(db, { id: open!.id, how: 'given back to the payer by hand', at: new Date() });
    const { items } = await listAuditEntries(db, merchantId, null, 1);
    assert.deepEqual([items[0]?.action, items[0]?.subjectId], ['collection.discrepancy_settled', collection.id]);
  });

  it('by a collection that is booked as paid and was not is on record too', async () => {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded');
    assert.equal(await noticeCollection(collection, DECLINED), 'declined_after_paid');
    assert.equal((await checkLedger(db)).length, 1);
  });

  it('is not one that says what a collection’s own course has room for', async () => {
    const { merchantId } = shop;
    const expired = await makeCollection(db, merchantId, 'expired');
    const reversed = await makeCollection(db, merchantId, 'reversed');
    const failed = await makeCollection(db, merchantId, 'failed');
    const RETURNED: OperatorStatus = { kind: 'returned', operatorReceipt: '4711' };
    const said = [
      [expired, PAID],
      [reversed, PAID],
      [reversed, DECLINED],
      [failed, DECLINED],
      [failed, RETURNED],
    ] as const;
    for (const [collection, status] of said) assert.equal(await noticeCollection(collection, status), null);
    assert.deepEqual(await found(), []);
  });

  it('is listed the oldest first, as many as are asked for', async () => {
    const first = await makePayout(db, shop, 'failed');
    const second = await makeCollection(db, shop.merchantId, 'failed');
    await hear(first, PAID);
    await noticeCollection(second, PAID);
    const subjects = async (limit: number) => (await listDiscrepancies(db, limit)).map(({ subject }) => subject);
    assert.deepEqual([await subjects(1), await subjects(10)], [[first.id], [first.id, second.id]]);
  });

  it('is not one that agrees, or speaks of what has not ended', async () => {
    const failed = await makePayout(db, shop, 'failed');
    const succeeded = await makePayout(db, shop, 'succeeded');
    const released = await makePayout(db, shop, 'released');
    const said = [hear(failed, DECLINED), hear(succeeded, PAID), hear(released, PAID), hear(released, DECLINED)];
    assert.deepEqual(await Promise.all(said), [null, null, null, null]);
    assert.deepEqual([await checkLedger(db), await found()], [[], []]);
  });

  it('by a refund that failed here and was paid there is on record, and the collection stays paid', async () => {
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const reversal = await makeReversal(db, shop.approver, paid);
    await recordReversal(db, reversal, { kind: 'declined', failureCode: 'operator_rejected' });
    const { id, merchantId } = reversal;
    const ref = { kind: 'reversal', id, merchantId } as const;
    assert.equal(await recordDiscrepancy(db, { ref, status: PAID, at: new Date() }), 'paid_after_failed');
    assert.deepEqual(
      (await checkLedger(db)).map(({ subject }) => subject),
      [id],
    );
    assert.equal((await found())[0]?.[0], 'reversal.discrepancy_found');
  });

  it('by a refund of what the provider gave back itself is on record as it is recorded', async () => {
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const reversal = await makeReversal(db, shop.approver, paid);
    await record(db, paid, { kind: 'returned' });
    assert.equal(await bookRefund(db, reversal), false);
    const [fault] = await checkLedger(db);
    assert.match(
      `${fault?.subject} ${fault?.fault}`,
      new RegExp(`^${reversal.id} the provider gave .* back by itself`),
    );
  });
});

describe('that the operator never had it', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
    shop = await makeShop(db, 100_000n);
  });
  after(() => database.drop());

  const neverAccepted = (askedAt: Date) => ({ kind: 'never_accepted', queriedAtMs: askedAt.getTime() }) as const;
  const late = ({ sendDeadlineAt }: { sendDeadlineAt: Date | null }, ms = 0) =>
    new Date(sendDeadlineAt!.getTime() + TEST_CLOCKS.notFoundGraceMs + ms);

  // Sent so long ago that all the moments of these tests are over: ids go on from the latest one was made at.
  const LONG_AGO = { clocks: { payoutSendDeadlineMs: -TEST_CLOCKS.notFoundGraceMs - 10_000 } };

  async function released(): Promise<Payout> {
    const { id } = await queue(db, shop, 1000n);
    await release(db, shop.approver, id, LONG_AGO);
    return getPayout(db, shop.merchantId, id);
  }

  async function requested(): Promise<Reversal> {
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const asked = await askBack(db, shop.approver, paid.id, LONG_AGO);
    assert.ok(asked.kind === 'created');
    return asked.reversal;
  }

  it('gives a payout’s money back once no send can be on its way, by our clock and not by who says so', async () => {
    const payout = await released();
    const [early, due] = [late(payout, -1), late(payout)];
    for (const [askedAt, at] of [
      [early, due],
      [due, early],
      [late(payout, 86_400_000), early],
    ] as const) {
      assert.equal((await recordPayout(db, payout, neverAccepted(askedAt), at)).state, 'released');
    }
    const failed = await recordPayout(db, payout, neverAccepted(due), due);
    assert.deepEqual([failed.state, failed.failureCode], ['failed', 'operator_unavailable']);
  });

  it('is not recorded of a payout that it had, noted before or in the same moment', async () => {
    const payout = await released();
    const { id, merchantId } = payout;
    const client = await db.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('UPDATE payouts SET accepted_at = now() WHERE id = $1', [id]);
      const recording = recordPayout(db, payout, neverAccepted(late(payout)), late(payout));
      await untilOneWaits(db);
      await client.query('COMMIT');
      assert.equal((await recording).state, 'released');
    } finally {
      client.release();
    }
    assert.equal((await recordPayout(db, payout, neverAccepted(late(payout)), late(payout))).state, 'released');
    assert.equal((await getPayout(db, merchantId, id)).state, 'released');
  });

  it('is recorded of a refund by the same rules', async () => {
    const reversal = await requested();
    const [early, due] = [late(reversal, -1), late(reversal)];
    assert.equal((await recordReversal(db, reversal, neverAccepted(early), due)).state, 'requested');
    assert.equal((await recordReversal(db, reversal, neverAccepted(due), early)).state, 'requested');
    assert.equal((await recordReversal(db, reversal, neverAccepted(due), due)).failureCode, 'operator_unavailable');

    const taken = await requested();
    const { id, merchantId } = taken;
    await markAccepted(db, { kind: 'reversal', id, merchantId }, new Date());
    assert.equal((await recordReversal(db, taken, neverAccepted(late(taken)), late(taken))).state, 'requested');
    assert.equal((await getReversal(db, merchantId, id)).state, 'requested');
  });
});
