// Rechecks of final payments: when they are due, who makes them, and the workflows that record what was found.
import assert from 'node:assert/strict';
import { claimQueries, findRechecked, finishQueries, type ClaimedQuery } from '../../../src/db/work/status-queries.ts';
import { claimUnstarted, markStarted } from '../../../src/db/work/work.ts';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { nextRecheck, type RecheckFinding } from '../../../src/domain/payments/late-checks.ts';
import { PAYMENT_KINDS, type PaymentKind } from '../../../src/domain/payments/payment.ts';
import { QUERY_PRIORITY } from '../../../src/domain/work.ts';
import { basisOf } from '../../../src/domain/payments/operator-status.ts';
import { recordTransition } from '../../../src/operations/payments/record-transition.ts';
import { callBack, contextOf, makeCollection, makeMerchant, oneRow, record, tamper } from '../rows.ts';
import { useDatabasePerCase, useMerchantPerCase } from '../use-database.ts';
import { dueOf, findWork, setWork } from '../work-rows.ts';
import { checksOf } from './late-work-checks.ts';
import { makePayout, makeShop } from './payout-rows.ts';
import { makeReversal, recordReversal } from './refund-rows.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('the recheck of a final payment', () => {
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  /** The queries of final payments of this kind that are due. */
  const claim = async (kind: PaymentKind = 'collection', { limit = 100, leaseMs = MINUTE } = {}) =>
    (await claimQueries(db, 'mtn-momo', { limit, kinds: PAYMENT_KINDS, leaseMs, gapMs: 0 })).filter(
      (query) => query.kind === kind,
    );
  /** Ends the rechecks, with what they found. */
  const finish = async (claimed: readonly ClaimedQuery[], finding: RecheckFinding = 'nothing_new') => {
    const finished = claimed.map(async (query) => {
      const rechecked = await findRechecked(db, query.id);
      assert.ok(rechecked);
      const { dueAt } = nextRecheck(rechecked, finding, new Date(), REAL_CLOCKS);
      return { query, next: dueAt && { dueAt, priority: QUERY_PRIORITY.final } };
    });
    return finishQueries(db, await Promise.all(finished));
  };
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
  /** When it is rechecked next; null: never. */
  const recheckDueAt = async (id: string) => (await findWork(db, id, 'status_query'))?.dueAt ?? null;
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
      const claimed = await claim();
      assert.deepEqual(idsOf(claimed), [id]);
      await finish(claimed);
    }
  }

  it('is repeated after an expiry at growing gaps', async () => {
    const { id } = await makeCollection(db, merchant.id, 'expired');
    // The first was set when it expired, by the clocks of the tests.
    assert.deepEqual(await agesOfRechecks(id), [MINUTE, 10 * MINUTE, 60 * MINUTE, 360 * MINUTE, DAY, 3 * DAY, 7 * DAY]);
    assert.deepEqual(await claim(), []);
  });

  it('is made three times in a week after a success, because its money may be returned', async () => {
    const { id } = await makeCollection(db, merchant.id, 'succeeded');
    assert.deepEqual(await agesOfRechecks(id), [60 * MINUTE, DAY, 7 * DAY]);
  });

  it('is made after the success of a payout and of a refund too', async () => {
    const shop = await makeShop(db, 100_000n);
    const payout = await makePayout(db, shop, 'succeeded');
    const reversal = await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    await recordReversal(db, reversal, { kind: 'refunded' });
    await age(61 * MINUTE, 'payout');
    await age(61 * MINUTE, 'reversal');
    const claimed = await claimQueries(db, 'mtn-momo', { limit: 100, kinds: PAYMENT_KINDS, leaseMs: MINUTE, gapMs: 0 });
    assert.deepEqual(idsOf(claimed).sort(), [payout.id, reversal.id]);
  });

  it('is done once for all ages that passed while no worker ran', async () => {
    const { id } = await makeCollection(db, merchant.id, 'expired');
    await age(2 * DAY);
    await finish(await claim());
    assert.equal((await recheckDueAt(id))?.getTime(), (await endOf(id)).getTime() + 3 * DAY);
    await age(8 * DAY);
    await finish(await claim());
    assert.equal(await findWork(db, id, 'status_query'), null);
  });

  it('is not done without a reason', async () => {
    await makeCollection(db, merchant.id, 'failed');
    await age(30 * DAY);
    assert.deepEqual(await claim(), []);
  });

  it('is done once after callbacks for a failed collection, however many there were', async () => {
    const { id, operatorReference } = await makeCollection(db, merchant.id, 'failed');
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
    for (let i = 0; i < 5; i++) await makeCollection(db, merchant.id, 'expired');
    await age(11 * MINUTE);
    const claims = await Promise.all([1, 2, 3].map(() => claim('collection', { limit: 2 })));
    const all = [...claims.flat(), ...(await claim())];
    assert.equal(new Set(idsOf(all)).size, 5);
    assert.equal(all.length, 5);
    assert.deepEqual(await claim(), []);
    await age(2 * MINUTE);
    assert.equal((await claim()).length, 5);
  });

  it('starts no workflow, whatever it found, and is found again if that was not recorded', async () => {
    const { id } = await makeCollection(db, merchant.id, 'expired');
    await age(11 * MINUTE);
    await finish(await claim(), 'transition');
    assert.equal(await findWork(db, id), null);
    const gapMs = (await dueOf(db, id, 'status_query')).getTime() - Date.now();
    assert.ok(gapMs > 0 && gapMs < 80 * MINUTE, String(gapMs));
  });

  it('is due at once after a callback about an expired collection', async () => {
    const { id, operatorReference } = await makeCollection(db, merchant.id, 'expired');
    await tamper(db, 'DELETE FROM work');
    await callBack(db, operatorReference);
    assert.deepEqual(idsOf(await claim()), [id]);
  });

  it('finds news again until it is recorded, also after the last late check', async () => {
    const { id } = await makeCollection(db, merchant.id, 'expired');
    await age(100 * DAY);
    for (let i = 0; i < 3; i++) {
      const claimed = await claim();
      assert.deepEqual(idsOf(claimed), [id]);
      await finish(claimed, 'transition');
      await age(DAY);
    }
  });

  it('is made once more when the operator called back meanwhile', async () => {
    const { id, operatorReference } = await makeCollection(db, merchant.id, 'failed');
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
    const { id, merchantId: ofMerchant } = await makeCollection(db, merchant.id, 'expired');
    await age(11 * MINUTE);
    const claimed = await claim();
    await record(db, { id, merchantId: ofMerchant }, { kind: 'paid', operatorReceipt: id });
    const dueAt = await dueOf(db, id, 'status_query');
    await finish(claimed);
    assert.deepEqual(await dueOf(db, id, 'status_query'), dueAt);
  });

  it('is repeated at growing gaps while the operator gives no status, and ends after a month', async () => {
    const { id, operatorReference } = await makeCollection(db, merchant.id, 'failed');
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

describe('the workflow of a payment whose outcome it did not record itself', () => {
  const db = useDatabasePerCase();
  const CLAIM = { limit: 100, graceMs: 0, leaseMs: MINUTE };

  async function markAllStarted(): Promise<void> {
    await setWork(db, 'is_started = true, due_at = now()');
  }

  async function paidByStatusQuery(): Promise<string> {
    const { id } = await makeCollection(db, await makeMerchant(db), 'prompted');
    const ref = {
      kind: 'collection',
      id,
      merchantId: (await oneRow<{ merchant: MerchantId }>(db, 'SELECT merchant_id AS merchant FROM payments', []))
        .merchant,
    } as const;
    const basis = basisOf({ status: { kind: 'paid', operatorReceipt: id }, queriedAtMs: Date.now() });
    const transition = { kind: 'paid', operatorReceipt: id } as const;
    await recordTransition(contextOf(db), { ref, transition, at: new Date(), basis, recordedBy: 'other' });
    return id;
  }

  it('is told so once, and is checked until its run has ended', async () => {
    const id = await paidByStatusQuery();
    const claimed = await claimUnstarted(db, 'collection', CLAIM);
    assert.deepEqual(idsOf(claimed), [id]);
    await markStarted(
      db,
      claimed.map((work) => ({ ...work, checkInMs: 0 })),
    );
    const terminated: string[] = [];
    await checksOf(db, () => ({ runId: 'stuck', taskAttempt: 3, quietSince: null }), terminated).check();
    assert.deepEqual(terminated, [id], 'its run cannot progress');
    await markAllStarted();
    await checksOf(db, () => 'closed', terminated).check();
    assert.equal(await findWork(db, id), null);
  });

  it('is told so once more when the process that told it died before it could say so', async () => {
    const id = await paidByStatusQuery();
    await claimUnstarted(db, 'collection', { ...CLAIM, leaseMs: 0 });
    assert.deepEqual(idsOf(await claimUnstarted(db, 'collection', CLAIM)), [id]);
  });
});

function idsOf(claimed: readonly { readonly id: string }[]): string[] {
  return claimed.map(({ id }) => id);
}
