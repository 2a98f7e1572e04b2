// What is late or due again: started work that is checked, and rechecks of final payments.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { claimUnstarted, markStarted, type ClaimedWork } from '../../../src/db/work/work.ts';
import type { DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import { claimLate, markLost, markStuck, scheduleChecks } from '../../../src/db/work/work-checks.ts';
import { checksOf } from './late-work-checks.ts';
import { PAYMENT_KINDS, type PaymentKind } from '../../../src/domain/payments/payment.ts';
import { firstCheckMs, type Work, type WorkKind } from '../../../src/domain/work.ts';
import { makePayout, makeShop, queue, release } from './payout-rows.ts';
import { makeReversal, recordReversal } from './refund-rows.ts';
import { makeCollection, makeEndpoint, makeMerchant, record, TEST_CLOCKS } from '../rows.ts';
import { useDatabasePerCase, useMerchantPerCase } from '../use-database.ts';
import { attemptOf, claim, record as recordAttempts } from '../webhooks/deliveries.ts';
import { dueOf, setWork } from '../work-rows.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('started work', () => {
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  const late = (kind: WorkKind, { limit = 100, leaseMs = MINUTE } = {}) => claimLate(db, kind, { limit, leaseMs });
  const idsOf = (works: readonly Work[]) => works.map(({ id }) => id as string);
  const lateIds = async (kind: WorkKind) => idsOf(await late(kind));
  /** Everything happened so much earlier than it did. */
  const age = (kind: WorkKind, ms: number) =>
    setWork(db, 'due_at = due_at - make_interval(secs => $2)', 'kind = $1', [kind, ms / 1000]);
  const markAllStarted = (kind: PaymentKind) => setWork(db, 'is_started = true', 'kind = $1', [kind]);
  const unstarted = (kind: WorkKind) => claimUnstarted(db, kind, { limit: 100, graceMs: 0, leaseMs: 0 });
  const mark = (works: readonly ClaimedWork[], checkInMs = MINUTE) =>
    markStarted(
      db,
      works.map((work) => ({ ...work, checkInMs })),
    );

  it('is checked when its check is due, and by one of several dispatchers', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await makeCollection(db, merchant.id, 'reconciling')).id);
    assert.deepEqual(await lateIds('collection'), []);
    await age('collection', 2 * MINUTE);
    const claims = await Promise.all([1, 2, 3].map(() => late('collection', { limit: 10 })));
    const claimed = idsOf([...claims.flat(), ...(await late('collection'))]);
    assert.deepEqual(claimed.sort(), ids.sort());
    assert.deepEqual(await lateIds('collection'), []);
  });

  it('is not checked while it is unstarted, because its start is due', async () => {
    await makeCollection(db, merchant.id);
    await age('collection', 10 * MINUTE);
    assert.deepEqual(await lateIds('collection'), []);
  });

  it('is checked well before the deadline of its send', async () => {
    const shop = await makeShop(db, 10_000n);
    const collection = await makeCollection(db, shop.merchantId);
    const payout = await makePayout(db, shop, 'released');
    const reversal = await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    const dues = [
      [collection.id, collection.promptDeadlineAt],
      [payout.id, payout.sendDeadlineAt],
      [reversal.id, reversal.sendDeadlineAt],
    ] as const;
    for (const kind of PAYMENT_KINDS) {
      const works = await unstarted(kind);
      await markStarted(
        db,
        works.map((work) => ({ ...work, checkInMs: firstCheckMs(work, new Date(), TEST_CLOCKS) })),
      );
    }
    for (const [id, deadlineAt] of dues) {
      const due = await dueOf(db, id);
      assert.ok(deadlineAt !== null && deadlineAt.getTime() - due.getTime() >= 200_000, `${id}: ${due.toISOString()}`);
    }
  });

  it('is left alone by a result of a check that it has overtaken', async () => {
    const { id } = await makeCollection(db, merchant.id, 'prompted');
    await age('collection', 10 * MINUTE);
    const [work] = await late('collection');
    assert.ok(work);
    await record(db, { id, merchantId: merchant.id }, { kind: 'outcome_unknown' });
    await markLost(db, [work]);
    await scheduleChecks(db, [{ work, delayMs: 1 }]);
    assert.deepEqual(await unstarted('collection'), []);
    assert.equal(await db.withTransaction((tx) => markStuck(tx, work, MINUTE)), null);
    assert.deepEqual(await lateIds('collection'), []);
  });

  it('is unstarted and due at once when its workflow is lost', async () => {
    const { id } = await makeCollection(db, merchant.id, 'reconciling');
    await age('collection', 10 * MINUTE);
    await markLost(db, await late('collection'));
    assert.deepEqual(idsOf(await unstarted('collection')), [id]);
  });

  it('is unstarted, but not due while its stuck run is being terminated', async () => {
    const { id } = await makeCollection(db, merchant.id, 'reconciling');
    await age('collection', 10 * MINUTE);
    const [work] = await late('collection');
    assert.equal((await db.withTransaction((tx) => markStuck(tx, work!, MINUTE)))?.workflowFailures, 1);
    assert.deepEqual(await unstarted('collection'), []);
    await age('collection', 2 * MINUTE);
    assert.deepEqual(idsOf(await unstarted('collection')), [id]);
  });

  it('is checked before its deadline first: what is still to be sent goes before what the operator has', async () => {
    const { id } = await makeCollection(db, merchant.id);
    await markAllStarted('collection');
    for (let i = 0; i < 3; i++) await makeCollection(db, merchant.id, 'reconciling');
    await age('collection', DAY);
    await setWork(db, 'due_at = now()', 'priority = 0');
    assert.deepEqual(idsOf(await late('collection', { limit: 1 })), [id]);
  });

  it('is checked of each merchant in turn', async () => {
    for (let i = 0; i < 20; i++) await makeCollection(db, merchant.id, 'reconciling');
    await age('collection', DAY);
    const { id } = await makeCollection(db, await makeMerchant(db), 'reconciling');
    await age('collection', 2 * MINUTE);
    const ids = idsOf(await late('collection', { limit: 10 }));
    assert.ok(ids.includes(id), 'the other merchant has its turn');
    assert.equal(ids.length, 10);
  });

  it('is checked as fast as it can be while much of it is late', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 25; i++) ids.push((await makeCollection(db, merchant.id, 'reconciling')).id);
    await age('collection', DAY);
    const inspected: string[] = [];
    const checks = checksOf(db, (work) => {
      inspected.push(work.id);
      return { runId: 'run', taskAttempt: 1, quietSince: null };
    });
    await checks.check();
    assert.deepEqual(inspected.sort(), ids.sort());
  });

  it('is a delivery whose next attempt is overdue', async () => {
    await makeEndpoint(db, merchant.id);
    await makeCollection(db, merchant.id, 'prompted');
    const [delivery] = await claim(db, 1);
    assert.ok(delivery);
    const fail = (attempt: DueDelivery) =>
      recordAttempts(db, [attemptOf(attempt, { state: 'retrying', delayMs: MINUTE })], { overdueMs: 10 * MINUTE });
    await fail(delivery);
    await mark(await unstarted('delivery'), 10 * MINUTE);
    await age('delivery', 11 * MINUTE);
    assert.equal((await late('delivery', { leaseMs: MINUTE })).length, 1);
    assert.equal((await late('delivery')).length, 0);
    // Its workflow makes an attempt: then its next attempt is not overdue.
    await age('delivery', DAY);
    await fail({ ...delivery, attemptCount: 1 });
    await age('delivery', 10 * MINUTE);
    assert.equal((await late('delivery')).length, 0);
    await age('delivery', 2 * MINUTE);
    assert.equal((await late('delivery')).length, 1);
  });

  it('is an overdue payout or reversal, and a final one only while its workflow, which was told so, may still run', async () => {
    const shop = await makeShop(db, 100_000n);
    for (const state of PAYOUT_STATES) await makePayout(db, shop, state);
    await markAllStarted('payout');
    await age('payout', 8 * DAY);
    const states = (await late('payout')).map((work) => ('state' in work ? work.state : null));
    assert.deepEqual(states.sort(), ['cancelled', 'queued', 'reconciling', 'rejected', 'released']);
    const reversal = await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    await markAllStarted('reversal');
    await age('reversal', 8 * DAY);
    assert.deepEqual(await lateIds('reversal'), [reversal.id]);
    await recordReversal(db, reversal, { kind: 'refunded' });
    await age('reversal', 8 * DAY);
    assert.deepEqual(await lateIds('reversal'), []);
  });

  it('waits for a signal again once people decided', async () => {
    const shop = await makeShop(db, 10_000n);
    const payout = await queue(db, shop, 1000n);
    const waiting = async () => idsOf(await unstarted('payout'));
    const started = { id: payout.id, dueAt: payout.updatedAt, checkInMs: MINUTE };
    await markStarted(db, [started]);
    assert.deepEqual(await waiting(), []);
    await release(db, shop.approver, payout.id);
    // This marks the signal for the row before the release: the release still waits.
    await markStarted(db, [started]);
    assert.deepEqual(await waiting(), [payout.id]);
    // So does a start whose claim ended with another claim.
    const old = await unstarted('payout');
    await sleep(2);
    await unstarted('payout');
    await mark(old);
    assert.deepEqual(await waiting(), [payout.id]);
    await mark(await unstarted('payout'));
    assert.deepEqual(await waiting(), []);
  });
});
