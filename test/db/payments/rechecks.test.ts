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
import { dueOf, findWork, setWork } from '../work-rows.ts';
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
      claimed.map((recheck) => {
        const { dueAt } = nextRecheck(recheck, finding, new Date(), REAL_CLOCKS);
        return { recheck, dueAt, isNews: finding === 'transition' };
      }),
    );
  /** Everything happened so much earlier than it did. */
  const age = async (ms: number, kind: PaymentKind = 'collection') => {
    await tamper(
      db,
      `WITH older AS (UPDATE payments SET updated_at = updated_at - make_interval(secs => $1) WHERE kind = $2)
       UPDATE work SET due_at = due_at - make_interval(secs => $1), claimed_until = claimed_until - make_interval(secs => $1)
       WHERE kind = $2`,
      [ms / 1000, kind],
    );
    await tamper(db, 'UPDATE operator_callbacks SET received_at = received_at - make_interval(secs => $1)', [
      ms / 1000,
    ]);
  };
  const idsOf = (claimed: readonly { readonly id: string }[]) => claimed.map(({ id }) => id);
  /** When it is rechecked next; null: never. */
  const recheckDueAt = async (id: string) => (await findWork(db, id, 'recheck'))?.dueAt ?? null;
  const endOf = async (id: string) =>
    (await oneRow<{ updated_at: Date }>(db, 'SELECT updated_at FROM payments WHERE id = $1', [id])).updated_at;

  /** Rechecks the only collection until nothing more is due; returns how long after its end each recheck was. */
  async function agesOfRechecks(id: string): Promise<number[]> {
    const ages: number[] = [];
    for (;;) {
      const dueAt = await recheckDueAt(id);
      if (dueAt === null) return ages;
      ages.push(dueAt.getTime() - (await endOf(id)).getTime());
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
    assert.equal((await recheckDueAt(id))?.getTime(), (await endOf(id)).getTime() + 3 * DAY);
    await age(8 * DAY);
    await finish(await claim());
    assert.equal(await findWork(db, id, 'recheck'), null);
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
    await age(11 * MINUTE);
    await finish(await claim());
    assert.equal(await findWork(db, id), null);
    await age(60 * MINUTE);
    await finish(await claim(), 'transition');
    assert.equal((await findWork(db, id))?.isStarted, false);
    const gapMs = (await dueOf(db, id, 'recheck')).getTime() - Date.now();
    assert.ok(gapMs > 0 && gapMs < 80 * MINUTE, 'it is found again if no workflow records it');
    assert.deepEqual(idsOf(await claimUnstarted(db, 'collection', { limit: 100, graceMs: 0, leaseMs: 0 })), [id]);
  });

  it('is due after a callback about an expired collection, in case the workflow that it starts is lost', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'expired');
    await tamper(db, 'DELETE FROM work');
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
    assert.notEqual(await recheckDueAt(id), null);
    await age(DAY);
    assert.deepEqual(idsOf(await claim()), [id]);
  });

  it('decides nothing when the payment has changed meanwhile', async () => {
    const { id, merchantId: ofMerchant } = await makeCollection(db, merchantId, 'expired');
    await age(11 * MINUTE);
    const claimed = await claim();
    await record(db, { id, merchantId: ofMerchant }, { kind: 'paid', operatorReceipt: id });
    const dueAt = await dueOf(db, id, 'recheck');
    await finish(claimed);
    assert.deepEqual(await dueOf(db, id, 'recheck'), dueAt);
  });

  it('is repeated at growing gaps while the operator gives no status, and ends after a month', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'failed');
    await callBack(db, operatorReference);
    const gaps: number[] = [];
    for (;;) {
      const claimed = await claim();
      assert.deepEqual(idsOf(claimed), [id]);
      await finish(claimed, 'no_status');
      const dueAt = await recheckDueAt(id);
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
    await tamper(db, "UPDATE work SET due_at = now() WHERE kind = 'payout'");
    const rechecks = await claimRechecks(db, 'payout', { operator: 'mtn-momo', limit: 1, leaseMs: MINUTE });
    await finishRechecks(
      db,
      rechecks.map((recheck) => ({ recheck, dueAt: null, isNews: true })),
    );
    const works = await claimUnstarted(db, 'payout', { limit: 1, graceMs: 0, leaseMs: 0 });
    await markStarted(
      db,
      works.map((work) => ({ ...work, checkInMs: 0 })),
    );
    return id;
  };
  const stuck: OpenRun = { runId: 'stuck', taskAttempt: 3, quietSince: null };
  const unstartedPayouts = async () => {
    await setWork(db, 'due_at = now()');
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
    await setWork(db, "due_at = due_at - interval '1 day'");
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
    await setWork(db, "due_at = due_at - interval '1 day'");
    await checksOf(db, () => stuck, terminated).checkRechecks();
    assert.deepEqual(terminated, [id]);
  });
});
