// Operators that contradict how sent money ended: kept once, shown until it is settled, and never booked by itself.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/database.ts';
import type { Payout } from '../../src/domain/payout.ts';
import type { Reversal } from '../../src/domain/reversal.ts';
import type { OperatorWord } from '../../src/domain/operator-word.ts';
import { checkLedger } from '../../src/operations/check-ledger.ts';
import { getBalance } from '../../src/operations/get-balance.ts';
import { getPayout } from '../../src/operations/get-payout.ts';
import { getReversal } from '../../src/operations/get-reversal.ts';
import { listAuditEntries } from '../../src/operations/list-audit-entries.ts';
import { noteTaken } from '../../src/operations/note-sending.ts';
import { recordDiscrepancy } from '../../src/operations/record-discrepancy.ts';
import { createTestDatabase, type TestDatabase } from '../support/engines.ts';
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
import { makeCollection, record, TIMINGS, untilOneWaits } from './rows.ts';

const PAID: OperatorWord = { kind: 'paid', operatorReceipt: '4711' };
const DECLINED: OperatorWord = { kind: 'declined', failureCode: 'operator_rejected' };

describe('an operator that contradicts how sent money ended', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;

  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    shop = await makeShop(db, 100_000n);
  });
  afterEach(() => database.drop());

  const hear = ({ id }: Pick<Payout, 'id'>, word: OperatorWord) =>
    recordDiscrepancy(db, { sent: { table: 'payouts', id, merchantId: shop.merchantId }, word, at: new Date() });
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
    assert.match(fault!.fault, /the operator says that it paid it \(its receipt: 4711\)$/);
    await db.pool.query(`UPDATE discrepancies SET settled_at = now(), settlement = 'the payee sent it back'`);
    assert.deepEqual(await checkLedger(db), []);
    await hear(payout, PAID);
    assert.deepEqual(await checkLedger(db), [], 'what is settled stays so');
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
    await recordReversal(db, reversal, { fact: 'declined', failureCode: 'operator_rejected' });
    const { id, merchantId } = reversal;
    const sent = { table: 'reversals', id, merchantId } as const;
    assert.equal(await recordDiscrepancy(db, { sent, word: PAID, at: new Date() }), 'paid_after_failed');
    assert.deepEqual(
      (await checkLedger(db)).map(({ subject }) => subject),
      [id],
    );
    assert.equal((await found())[0]?.[0], 'reversal.discrepancy_found');
  });

  it('by a refund of what the provider gave back itself is on record as it is recorded', async () => {
    const paid = await makeCollection(db, shop.merchantId, 'succeeded');
    const reversal = await makeReversal(db, shop.approver, paid);
    await record(db, paid, { fact: 'returned' });
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

  const neverTaken = (askedAt: Date) => ({ fact: 'never_taken', askedAtMs: askedAt.getTime() }) as const;
  const late = ({ sendDeadlineAt }: { sendDeadlineAt: Date | null }, ms = 0) =>
    new Date(sendDeadlineAt!.getTime() + TIMINGS.notFoundGraceMs + ms);

  // Sent so long ago that all the moments of these tests are over: ids go on from the latest one was made at.
  const LONG_AGO = { sendDeadlineMs: -TIMINGS.notFoundGraceMs - 10_000 };

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
      assert.equal((await recordPayout(db, payout, neverTaken(askedAt), at)).state, 'released');
    }
    const failed = await recordPayout(db, payout, neverTaken(due), due);
    assert.deepEqual([failed.state, failed.failureCode], ['failed', 'operator_unavailable']);
  });

  it('is not recorded of a payout that it had, noted before or in the same moment', async () => {
    const payout = await released();
    const { id, merchantId } = payout;
    const client = await db.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('UPDATE payouts SET taken_at = now() WHERE id = $1', [id]);
      const recording = recordPayout(db, payout, neverTaken(late(payout)), late(payout));
      await untilOneWaits(db);
      await client.query('COMMIT');
      assert.equal((await recording).state, 'released');
    } finally {
      client.release();
    }
    assert.equal((await recordPayout(db, payout, neverTaken(late(payout)), late(payout))).state, 'released');
    assert.equal((await getPayout(db, merchantId, id)).state, 'released');
  });

  it('is recorded of a refund by the same rules', async () => {
    const reversal = await requested();
    const [early, due] = [late(reversal, -1), late(reversal)];
    assert.equal((await recordReversal(db, reversal, neverTaken(early), due)).state, 'requested');
    assert.equal((await recordReversal(db, reversal, neverTaken(due), early)).state, 'requested');
    assert.equal((await recordReversal(db, reversal, neverTaken(due), due)).failureCode, 'operator_unavailable');

    const taken = await requested();
    const { id, merchantId } = taken;
    await noteTaken(db, { table: 'reversals', id, merchantId }, new Date());
    assert.equal((await recordReversal(db, taken, neverTaken(late(taken)), late(taken))).state, 'requested');
    assert.equal((await getReversal(db, merchantId, id)).state, 'requested');
  });
});
