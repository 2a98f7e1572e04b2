// What is late or due again: started work that is checked, and rechecks of final payments.
import assert from 'node:assert/strict';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { claimUnstarted, markStarted } from '../../../src/db/work/work.ts';
import { claimLate, markLost, markStuck, scheduleChecks } from '../../../src/db/work/work-checks.ts';
import { checksOf } from './late-work-checks.ts';
import type { PaymentKind } from '../../../src/domain/payments/payment.ts';
import type { Work, WorkKind } from '../../../src/domain/work.ts';
import { makePayout, makeShop, queue, release } from './payout-rows.ts';
import { makeReversal, recordReversal } from './refund-rows.ts';
import { makeCollection, makeEndpoint, makeMerchant, oneRow, record, tamper } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('started work', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
  });

  const late = (kind: WorkKind, { limit = 100, leaseMs = MINUTE } = {}) =>
    claimLate(db, kind, { limit, leaseMs, overdueMs: 10 * MINUTE });
  const idsOf = (works: readonly Work[]) => works.map(({ id }) => id as string);
  const lateIds = async (kind: WorkKind) => idsOf(await late(kind));
  /** Everything happened so much earlier than it did. */
  const age = (kind: WorkKind, ms: number, column = 'check_due_at') => {
    const [table, isOfKind] = kind === 'delivery' ? ['deliveries', 'true'] : ['payments', `kind = '${kind}'`];
    const older = `${column} = ${column} - make_interval(secs => $1)`;
    return tamper(db, `UPDATE ${table} SET ${older} WHERE ${isOfKind}`, [ms / 1000]);
  };
  const markAllStarted = (kind: PaymentKind) =>
    db.pool.query('UPDATE payments SET workflow_started_at = now() WHERE kind = $1 AND workflow_started_at IS NULL', [
      kind,
    ]);
  const unstarted = (kind: WorkKind): Promise<Work[]> =>
    claimUnstarted(db, kind, { limit: 100, graceMs: 0, leaseMs: 0 });

  it('is checked when its check is due, and by one of several dispatchers', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await makeCollection(db, merchantId, 'reconciling')).id);
    assert.deepEqual(await lateIds('collection'), []);
    await age('collection', 2 * MINUTE);
    const claims = await Promise.all([1, 2, 3].map(() => late('collection', { limit: 10 })));
    const claimed = idsOf([...claims.flat(), ...(await late('collection'))]);
    assert.deepEqual(claimed.sort(), ids.sort());
    assert.deepEqual(await lateIds('collection'), []);
  });

  it('is not checked while it is unstarted, because its start is due', async () => {
    await makeCollection(db, merchantId);
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
    for (const [id, deadlineAt] of dues) {
      const sql = 'SELECT check_due_at AS due FROM payments WHERE id = $1';
      const { due } = await oneRow<{ due: Date }>(db, sql, [id]);
      assert.ok(deadlineAt !== null && deadlineAt.getTime() - due.getTime() >= 200_000, `${id}: ${due.toISOString()}`);
    }
  });

  it('is left alone by a result of a check that it has overtaken', async () => {
    const { id } = await makeCollection(db, merchantId, 'prompted');
    await age('collection', 10 * MINUTE);
    const [work] = await late('collection');
    assert.ok(work);
    await record(db, { id, merchantId }, { kind: 'outcome_unknown' });
    await markLost(db, 'collection', [work]);
    await scheduleChecks(db, 'collection', [{ work, delayMs: 1 }]);
    assert.deepEqual(await unstarted('collection'), []);
    assert.equal(await db.withTransaction((tx) => markStuck(tx, work, MINUTE)), null);
    assert.deepEqual(await lateIds('collection'), []);
  });

  it('is unstarted and due at once when its workflow is lost', async () => {
    const { id } = await makeCollection(db, merchantId, 'reconciling');
    await age('collection', 10 * MINUTE);
    await markLost(db, 'collection', await late('collection'));
    assert.deepEqual(idsOf(await unstarted('collection')), [id]);
  });

  it('is unstarted, but not due while its stuck run is being terminated', async () => {
    const { id } = await makeCollection(db, merchantId, 'reconciling');
    await age('collection', 10 * MINUTE);
    const [work] = await late('collection');
    assert.equal(await db.withTransaction((tx) => markStuck(tx, work!, MINUTE)), 1);
    assert.deepEqual(await unstarted('collection'), []);
    await age('collection', 2 * MINUTE, 'start_due_at');
    assert.deepEqual(idsOf(await unstarted('collection')), [id]);
  });

  it('is checked before its deadline first: what is still to be sent goes before what the operator has', async () => {
    const { id } = await makeCollection(db, merchantId);
    await markAllStarted('collection');
    for (let i = 0; i < 3; i++) await makeCollection(db, merchantId, 'reconciling');
    await age('collection', DAY);
    await tamper(db, "UPDATE payments SET check_due_at = now() WHERE kind = 'collection' AND state = 'initiated'");
    assert.deepEqual(idsOf(await late('collection', { limit: 1 })), [id]);
  });

  it('is checked of each merchant in turn', async () => {
    for (let i = 0; i < 20; i++) await makeCollection(db, merchantId, 'reconciling');
    await age('collection', DAY);
    const { id } = await makeCollection(db, await makeMerchant(db), 'reconciling');
    await age('collection', 2 * MINUTE);
    const ids = idsOf(await late('collection', { limit: 10 }));
    assert.ok(ids.includes(id), 'the other merchant has its turn');
    assert.equal(ids.length, 10);
  });

  it('is checked as fast as it can be while much of it is late', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 25; i++) ids.push((await makeCollection(db, merchantId, 'reconciling')).id);
    await age('collection', DAY);
    const inspected: string[] = [];
    const checks = checksOf(db, (work) => {
      inspected.push(work.id);
      return { runId: 'run', taskAttempt: 1, quietSince: null };
    });
    await checks.check();
    assert.deepEqual(inspected.sort(), ids.sort());
  });

  it('is a delivery that a server of before the checks started', async () => {
    await makeEndpoint(db, merchantId);
    await makeCollection(db, merchantId, 'prompted');
    await db.pool.query(
      "UPDATE deliveries SET state = 'retrying', workflow_started_at = now(), check_due_at = NULL, next_attempt_at = now()",
    );
    assert.deepEqual(await lateIds('delivery'), [], 'its next attempt is not overdue');
    await age('delivery', 11 * MINUTE);
    await age('delivery', 11 * MINUTE, 'next_attempt_at');
    assert.equal((await late('delivery')).length, 1);
  });

  it('is a delivery whose next attempt is overdue', async () => {
    await makeEndpoint(db, merchantId);
    await makeCollection(db, merchantId, 'prompted');
    await db.pool.query("UPDATE deliveries SET state = 'retrying', start_due_at = now() - interval '1 hour'");
    await markStarted(db, 'delivery', await unstarted('delivery'), { at: new Date(), checkInMs: 10 * MINUTE });
    await age('delivery', 11 * MINUTE);
    // Its check is due, and its next attempt is not overdue.
    assert.equal((await late('delivery')).length, 0);
    await age('delivery', 11 * MINUTE);
    await age('delivery', 11 * MINUTE, 'next_attempt_at');
    assert.equal((await late('delivery', { leaseMs: MINUTE })).length, 1);
    assert.equal((await late('delivery')).length, 0);
  });

  it('is an overdue payout or reversal, and never a final one', async () => {
    const shop = await makeShop(db, 100_000n);
    for (const state of PAYOUT_STATES) await makePayout(db, shop, state);
    await markAllStarted('payout');
    await age('payout', 8 * DAY);
    assert.equal((await late('payout')).length, 3);
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
    const mark = async (works: readonly Work[]) =>
      markStarted(db, 'payout', works, { at: new Date(), checkInMs: MINUTE });
    assert.deepEqual(await waiting(), [payout.id]);
    await mark([payout]);
    assert.deepEqual(await waiting(), []);
    await release(db, shop.approver, payout.id);
    assert.deepEqual(await waiting(), [payout.id]);
    // This marks the signal for the row before the release: the release still waits.
    await mark([payout]);
    assert.deepEqual(await waiting(), [payout.id]);
    await mark(await unstarted('payout'));
    assert.deepEqual(await waiting(), []);
  });
});
