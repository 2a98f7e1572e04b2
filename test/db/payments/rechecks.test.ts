// Rechecks of final payments: when they are due, who makes them, and the workflows that record what was found.
import assert from 'node:assert/strict';
import {
  claimRechecks,
  finishRechecks,
  listOperatorsToRecheck,
  type ClaimedRecheck,
} from '../../../src/db/work/rechecks.ts';
import { claimUnstarted, markStarted } from '../../../src/db/work/work.ts';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { nextRecheck, type RecheckFinding } from '../../../src/domain/payments/late-checks.ts';
import type { PaymentKind } from '../../../src/domain/payments/payment.ts';
import type { OpenRun } from '../../../src/domain/work.ts';
import { callBack, makeCollection, makeMerchant, oneRow, record, tamper } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';
import { checksOf } from './late-work-checks.ts';
import { makePayout, makeShop } from './payout-rows.ts';
import { makeReversal, recordReversal } from './refund-rows.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('the recheck of a final payment', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
  });

  const claim = (kind: PaymentKind = 'collection', { limit = 100, leaseMs = MINUTE } = {}) =>
    claimRechecks(db, kind, { operator: 'mtn-momo', limit, leaseMs });
  /** Ends the rechecks, with what they found. */
  const finish = (claimed: readonly ClaimedRecheck[], finding: RecheckFinding = 'nothing_new') =>
    finishRechecks(
      db,
      'collection',
      claimed.map((recheck) => {
        const { dueAt } = nextRecheck(recheck, finding, new Date(), REAL_CLOCKS);
        return { recheck, dueAt, isNews: finding === 'transition' };
      }),
    );
  /** Everything happened so much earlier than it did. */
  const age = async (ms: number, kind: PaymentKind = 'collection') => {
    await tamper(
      db,
      `UPDATE payments SET updated_at = updated_at - make_interval(secs => $1),
         check_due_at = check_due_at - make_interval(secs => $1),
         recheck_claimed_until = recheck_claimed_until - make_interval(secs => $1)
       WHERE kind = $2`,
      [ms / 1000, kind],
    );
    await tamper(db, 'UPDATE operator_callbacks SET received_at = received_at - make_interval(secs => $1)', [
      ms / 1000,
    ]);
  };
  const idsOf = (claimed: readonly { readonly id: string }[]) => claimed.map(({ id }) => id);
  const row = (id: string) =>
    oneRow<{ check_due_at: Date | null; updated_at: Date; workflow_started_at: Date | null }>(
      db,
      'SELECT check_due_at, updated_at, workflow_started_at FROM payments WHERE id = $1',
      [id],
    );
  const markAllStarted = () =>
    db.pool.query("UPDATE payments SET workflow_started_at = now() WHERE kind = 'collection'");

  /** Rechecks the only collection until nothing more is due; returns how long after its end each recheck was. */
  async function agesOfRechecks(id: string): Promise<number[]> {
    const ages: number[] = [];
    for (;;) {
      const { check_due_at: dueAt, updated_at: endedAt } = await row(id);
      if (dueAt === null) return ages;
      ages.push(dueAt.getTime() - endedAt.getTime());
      await age(Math.max(0, dueAt.getTime() - Date.now()));
      assert.deepEqual(await listOperatorsToRecheck(db, ['mtn-momo']), ['mtn-momo']);
      const claimed = await claim();
      assert.deepEqual(idsOf(claimed), [id]);
      await finish(claimed);
    }
  }

  it('is repeated after an expiry at growing gaps', async () => {
    const { id } = await makeCollection(db, merchantId, 'expired');
    // The first was set when it expired, by the clocks of the tests.
    assert.deepEqual(await agesOfRechecks(id), [MINUTE, 10 * MINUTE, 60 * MINUTE, 360 * MINUTE, DAY, 3 * DAY, 7 * DAY]);
    assert.deepEqual(await claim(), []);
  });

  it('is made three times in a week after a success, because its money may be returned', async () => {
    const { id } = await makeCollection(db, merchantId, 'succeeded');
    assert.deepEqual(await agesOfRechecks(id), [60 * MINUTE, DAY, 7 * DAY]);
  });

  it('is made after the success of a payout and of a refund too', async () => {
    const shop = await makeShop(db, 100_000n);
    const payout = await makePayout(db, shop, 'succeeded');
    const reversal = await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    await recordReversal(db, reversal, { kind: 'refunded' });
    await age(61 * MINUTE, 'payout');
    await age(61 * MINUTE, 'reversal');
    assert.deepEqual(idsOf(await claim('payout')), [payout.id]);
    assert.deepEqual(idsOf(await claim('reversal')), [reversal.id]);
  });

  it('is done once for all ages that passed while no worker ran', async () => {
    const { id } = await makeCollection(db, merchantId, 'expired');
    await age(2 * DAY);
    await finish(await claim());
    const { check_due_at: dueAt, updated_at: endedAt } = await row(id);
    assert.equal(dueAt?.getTime(), endedAt.getTime() + 3 * DAY);
    await age(8 * DAY);
    await finish(await claim());
    assert.equal((await row(id)).check_due_at, null);
  });

  it('is not done without a reason, and never while a payment is pending', async () => {
    for (const state of ['initiated', 'prompted', 'reconciling', 'failed'] as const) {
      await makeCollection(db, merchantId, state);
    }
    await age(30 * DAY);
    assert.deepEqual(await claim(), []);
    assert.deepEqual(await listOperatorsToRecheck(db, ['mtn-momo']), []);
  });

  it('is done once after callbacks for a failed collection, however many there were', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'failed');
    const call = () => callBack(db, operatorReference);
    // More callbacks than are stored: the collection's row records that one came.
    for (let i = 0; i < 25; i++) await call();
    const claimed = await claim();
    assert.deepEqual(idsOf(claimed), [id]);
    await finish(claimed);
    await age(30 * DAY);
    assert.deepEqual(await claim(), []);
    // After so many callbacks a further one leads to one recheck a day at most.
    await call();
    await age(DAY - MINUTE);
    assert.deepEqual(await claim(), []);
    await age(2 * MINUTE);
    assert.deepEqual(idsOf(await claim()), [id]);
  });

  it('is made by one of several workers, and again when its worker died', async () => {
    for (let i = 0; i < 5; i++) await makeCollection(db, merchantId, 'expired');
    await age(11 * MINUTE);
    const claims = await Promise.all([1, 2, 3].map(() => claim('collection', { limit: 2 })));
    const all = [...claims.flat(), ...(await claim())];
    assert.equal(new Set(idsOf(all)).size, 5);
    assert.equal(all.length, 5);
    assert.deepEqual(await claim(), []);
    await age(2 * MINUTE);
    assert.equal((await claim()).length, 5);
  });

  it('has a workflow started when it found something new, and none when it did not', async () => {
    const { id } = await makeCollection(db, merchantId, 'expired');
    await markAllStarted();
    await age(11 * MINUTE);
    await finish(await claim());
    assert.notEqual((await row(id)).workflow_started_at, null);
    await age(60 * MINUTE);
    await finish(await claim(), 'transition');
    const { workflow_started_at: startedAt, check_due_at: dueAt } = await row(id);
    assert.equal(startedAt, null);
    const gapMs = Number(dueAt) - Date.now();
    assert.ok(gapMs > 0 && gapMs < 80 * MINUTE, 'it is found again if no workflow records it');
    assert.deepEqual(idsOf(await claimUnstarted(db, 'collection', { limit: 100, graceMs: 0, leaseMs: 0 })), [id]);
  });

  it('is due after a callback about an expired collection, in case the workflow that it starts is lost', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'expired');
    await tamper(db, "UPDATE payments SET check_due_at = NULL WHERE kind = 'collection'");
    await callBack(db, operatorReference);
    assert.deepEqual(await claim(), [], 'the workflow comes first');
    await age(2 * MINUTE);
    assert.deepEqual(idsOf(await claim()), [id]);
  });

  it('finds news again until it is recorded, also after the last late check', async () => {
    const { id } = await makeCollection(db, merchantId, 'expired');
    await age(100 * DAY);
    for (let i = 0; i < 3; i++) {
      const claimed = await claim();
      assert.deepEqual(idsOf(claimed), [id]);
      await finish(claimed, 'transition');
      await age(DAY);
    }
  });

  it('is made once more when the operator called back meanwhile', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'failed');
    await callBack(db, operatorReference);
    const claimed = await claim();
    await callBack(db, operatorReference);
    assert.deepEqual(await claim(), [], 'nobody else makes it meanwhile');
    await finish(claimed);
    assert.notEqual((await row(id)).check_due_at, null);
    await age(DAY);
    assert.deepEqual(idsOf(await claim()), [id]);
  });

  it('decides nothing when the payment has changed meanwhile', async () => {
    const { id, merchantId: ofMerchant } = await makeCollection(db, merchantId, 'expired');
    await age(11 * MINUTE);
    const claimed = await claim();
    await record(db, { id, merchantId: ofMerchant }, { kind: 'paid', operatorReceipt: id });
    const { check_due_at: dueAt } = await row(id);
    await finish(claimed);
    assert.deepEqual((await row(id)).check_due_at, dueAt);
  });

  it('is repeated at growing gaps while the operator gives no status, and ends after a month', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'failed');
    await callBack(db, operatorReference);
    const gaps: number[] = [];
    for (;;) {
      const claimed = await claim();
      assert.deepEqual(idsOf(claimed), [id]);
      await finish(claimed, 'no_status');
      const { check_due_at: dueAt } = await row(id);
      if (dueAt === null) break;
      const gapMs = dueAt.getTime() - Date.now();
      gaps.push(Math.round(gapMs / MINUTE));
      await age(gapMs + 1000);
    }
    assert.deepEqual(gaps.slice(0, 4), [10, 10, 20, 40]);
    assert.equal(Math.max(...gaps), DAY / MINUTE);
    assert.ok(gaps.length < 45, gaps.join(' '));
  });
});

describe('the workflow of a final payment', () => {
  const db = useDatabasePerCase();

  /** Its recheck was started so long ago that it is checked. */
  const makeRecheckedPayout = async () => {
    const { id } = await makePayout(db, await makeShop(db, 10_000n), 'succeeded');
    await db.pool.query(
      "UPDATE payments SET workflow_started_at = NULL, start_due_at = now() - interval '1 minute' WHERE kind = 'payout'",
    );
    const works = await claimUnstarted(db, 'payout', { limit: 1, graceMs: 0, leaseMs: 0 });
    await markStarted(db, 'payout', works, { at: new Date(), checkInMs: 0 });
    return id;
  };
  const stuck: OpenRun = { runId: 'stuck', taskAttempt: 3, quietSince: null };
  const unstartedPayouts = async () => {
    await db.pool.query("UPDATE payments SET start_due_at = now() WHERE kind = 'payout'");
    return (await claimUnstarted(db, 'payout', { limit: 100, graceMs: 0, leaseMs: 0 })).map(({ id }) => id);
  };

  it('is replaced when its run cannot progress, and so does not hold up all later ones', async () => {
    const id = await makeRecheckedPayout();
    const terminated: string[] = [];
    await checksOf(db, () => stuck, terminated).checkRechecks();
    assert.deepEqual(terminated, [id]);
    assert.deepEqual(await unstartedPayouts(), [id]);
  });

  it('is not checked any more once its run has ended', async () => {
    await makeRecheckedPayout();
    const terminated: string[] = [];
    await checksOf(db, () => 'closed', terminated).checkRechecks();
    await tamper(
      db,
      "UPDATE payments SET recheck_check_due_at = recheck_check_due_at - interval '1 day' WHERE kind = 'payout'",
    );
    await checksOf(db, () => stuck, terminated).checkRechecks();
    assert.deepEqual(terminated, []);
    assert.deepEqual(await unstartedPayouts(), []);
  });

  it('is checked again until its run has ended', async () => {
    const id = await makeRecheckedPayout();
    const terminated: string[] = [];
    await checksOf(db, () => ({ ...stuck, taskAttempt: 1 }), terminated).checkRechecks();
    await checksOf(db, () => stuck, terminated).checkRechecks();
    assert.deepEqual(terminated, [], 'its next check is not due');
    await tamper(
      db,
      "UPDATE payments SET recheck_check_due_at = recheck_check_due_at - interval '1 day' WHERE kind = 'payout'",
    );
    await checksOf(db, () => stuck, terminated).checkRechecks();
    assert.deepEqual(terminated, [id]);
  });
});
