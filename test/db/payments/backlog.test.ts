// What counts as backlog: accepted payments that wait for the service, and not for people or the operator.
import assert from 'node:assert/strict';
import { countFailingWork, measureBacklog } from '../../../src/db/work/backlog.ts';
import { claimUnstarted, markStarted } from '../../../src/db/work/work.ts';
import { COLLECTION_STATES } from '../../../src/domain/payments/collection.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { startBackoffMs } from '../../../src/domain/work.ts';
import { markSendBegun } from '../../../src/db/payments/payment-progress.ts';
import { closeBreakerByStaff, openBreaker } from '../../../src/db/work/breakers.ts';
import { valuesOf } from '../../support/values-of.ts';
import { makeCollection, makeMerchant, tamper } from '../rows.ts';
import { useDatabasePerCase, useMerchantPerCase } from '../use-database.ts';
import { setWork } from '../work-rows.ts';
import { makePayout, makeShop, queue } from './payout-rows.ts';
import { makeReversal } from './refund-rows.ts';

const MINUTE = 60_000;

describe('the backlog', () => {
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  const ago = (ms: number) => new Date(Date.now() - ms);
  const measure = (limit = 100, lateAfterMs = MINUTE) => measureBacklog(db, { limit, lateAfterMs });
  const counts = async () => (await measure()).map(({ count }) => count);
  const makeOld = (promptDeadlineAt = new Date(Date.now() + MINUTE)) =>
    makeCollection(db, merchant.id, 'initiated', { createdAt: ago(2 * MINUTE), updatedAt: ago(0), promptDeadlineAt });

  it('is the collections that nobody has begun to send, whether their workflow is started or not', async () => {
    for (const state of COLLECTION_STATES) await makeCollection(db, merchant.id, state);
    assert.deepEqual(await counts(), [1]);
    const claimed = await claimUnstarted(db, 'collection', { limit: 10, graceMs: 0, leaseMs: 0 });
    await markStarted(
      db,
      claimed.map((work) => ({ ...work, checkInMs: 60_000 })),
    );
    assert.deepEqual(await counts(), [1]);
  });

  it('is no collection that is being sent, because that waits for the operator', async () => {
    const { id } = await makeCollection(db, merchant.id);
    await markSendBegun(db, { kind: 'collection', id, merchantId: merchant.id }, new Date());
    assert.deepEqual(await counts(), []);
  });

  it('is the payouts that are released and not being sent', async () => {
    const shop = await makeShop(db, 100_000n);
    for (const state of PAYOUT_STATES) await makePayout(db, shop, state);
    await setWork(db, 'is_started = true', "kind = 'payout'");
    assert.deepEqual(await counts(), [1]);
    const payout = await makePayout(db, shop, 'released');
    await markSendBegun(db, payout, new Date());
    assert.deepEqual(await counts(), [1]);
  });

  it('is the payouts that wait for people, as long as their workflow is not started', async () => {
    const shop = await makeShop(db, 10_000n);
    await queue(db, shop, 1000n);
    assert.deepEqual(await counts(), [1]);
    await setWork(db, 'is_started = true', "kind = 'payout'");
    assert.deepEqual(await counts(), []);
  });

  it('is the reversals that are not being sent', async () => {
    const shop = await makeShop(db, 10_000n);
    const reversal = await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    assert.deepEqual(await counts(), [1]);
    await markSendBegun(db, reversal, new Date());
    assert.deepEqual(await counts(), []);
  });

  it('is counted by merchant, up to the limit, with the age of the oldest', async () => {
    const other = await makeMerchant(db);
    await makeCollection(db, other);
    for (let i = 0; i < 5; i++) await makeOld();
    const backlog = new Map((await measure()).map((part) => [part.merchantId, part]));
    assert.deepEqual([backlog.get(other)?.count, backlog.get(merchant.id)?.count], [1, 5]);
    assert.deepEqual([backlog.get(other)?.lateCount, backlog.get(merchant.id)?.lateCount], [0, 5]);
    const { oldestAgeMs = 0 } = backlog.get(merchant.id) ?? {};
    assert.ok(oldestAgeMs >= 2 * MINUTE && oldestAgeMs < 10 * MINUTE, `${oldestAgeMs}`);
    assert.equal(
      (await measure(3)).reduce((sum, { count }) => sum + count, 0),
      3,
    );
  });

  it('is not late with what can no longer be done in time', async () => {
    await makeOld(ago(1));
    assert.deepEqual(await measure(), [{ merchantId: merchant.id, count: 1, lateCount: 0, oldestAgeMs: 0 }]);
  });

  it('is not late with what waits for an operator that is unavailable, and not before it had its time again after that', async () => {
    await makeOld();
    const opening = { cause: 'busy', reason: 'http 503', pauseMs: MINUTE } as const;
    await openBreaker(db, 'mtn-momo', 'disbursement', opening);
    assert.deepEqual(valuesOf(await measure(), 'lateCount'), [1], 'the other product');
    await openBreaker(db, 'mtn-momo', 'collection', opening);
    assert.deepEqual(await measure(), [{ merchantId: merchant.id, count: 1, lateCount: 0, oldestAgeMs: 0 }]);
    await closeBreakerByStaff(db, 'mtn-momo', 'collection');
    assert.deepEqual(valuesOf(await measure(), 'lateCount'), [0]);
    await tamper(db, `UPDATE breakers SET changed_at = now() - interval '90 s'`);
    assert.deepEqual(valuesOf(await measure(), 'lateCount'), [1]);
  });

  it('is not late with work whose own workflow fails, and does not have quarantined work in it', async () => {
    await makeOld();
    await setWork(db, 'failures = 1', "kind = 'collection'");
    assert.deepEqual(await measure(), [{ merchantId: merchant.id, count: 1, lateCount: 0, oldestAgeMs: 0 }]);
    assert.deepEqual(await countFailingWork(db), [{ kind: 'collection', failing: 1, quarantined: 0 }]);
    await setWork(db, 'failures = 10', "kind = 'collection'");
    assert.deepEqual(await measure(), []);
    assert.deepEqual(await countFailingWork(db), [{ kind: 'collection', failing: 1, quarantined: 1 }]);
  });
});

describe('the wait after a failed start', () => {
  it('doubles from a second on, and is an hour once the work is quarantined', () => {
    const waits = [1, 2, 3, 9, 10, 500].map((failures) => startBackoffMs(failures, 0.5));
    assert.deepEqual(waits, [1000, 2000, 4000, 256_000, 3_600_000, 3_600_000]);
  });

  it('differs by at most a fifth, so that work that failed together is not tried together', () => {
    assert.deepEqual([startBackoffMs(1, 0), startBackoffMs(1, 1)], [800, 1200]);
  });
});
