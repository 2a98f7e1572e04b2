// What the sweep does to rows: it requeues stale work, rechecks expired collections for a while, and removes old records.
import assert from 'node:assert/strict';
import { createReconciliationActivities } from '../../../activities/reconciliation.ts';
import { newId, type MerchantId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { claimUnstarted, markStarted } from '../../../src/db/work.ts';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { Work, WorkKind } from '../../../src/domain/work.ts';
import { purgeExpiredRecords } from '../../../src/operations/purge-expired-records.ts';
import { requeueStaleWork } from '../../../src/operations/requeue-stale-work.ts';
import { testLog } from '../../support/engines.ts';
import { makePayout, makeReversal, makeShop, queue, recordReversal, release } from './payout-rows.ts';
import { callBack, KEY_RING, makeCollection, makeEndpoint, makeMerchant, oneRow, tamper } from '../rows.ts';
import { useDatabase, useDatabasePerCase } from '../use-database.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOTHING = { collection: 0, payout: 0, reversal: 0, delivery: 0 };
const CLOCKS = { ...REAL_CLOCKS, staleAfterMs: 10 * MINUTE, lateCheckEveryMs: 60 * MINUTE, lateCheckForMs: 7 * DAY };

describe('recorded work', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
  });

  const inMs = (ms: number) => new Date(Date.now() + ms);
  const requeue = (at: Date, limit = 100) => requeueStaleWork(db, { at, clocks: CLOCKS, limit });
  const dueAt = async (id: string) =>
    (await oneRow<{ check_due_at: Date | null }>(db, 'SELECT check_due_at FROM collections WHERE id = $1', [id]))
      .check_due_at;
  // Without a lease: the claim changes nothing.
  const listed = (kind: WorkKind): Promise<Work[]> => claimUnstarted(db, kind, { limit: 100, graceMs: 0, leaseMs: 0 });
  const unstarted = async () => (await listed('collection')).map(({ id }) => id);

  it('is unstarted until it is marked as started', async () => {
    const { id } = await makeCollection(db, merchantId);
    assert.deepEqual(await unstarted(), [id]);
    await markStarted(db, 'collection', await listed('collection'), new Date());
    assert.deepEqual(await unstarted(), []);
  });

  it('is requeued when its check is due, and checked again after the next wait', async () => {
    const { id } = await makeCollection(db, merchantId, 'reconciling');
    assert.deepEqual(await requeue(new Date()), NOTHING);
    const at = inMs(2 * MINUTE);
    assert.deepEqual(await requeue(at), { ...NOTHING, collection: 1 });
    assert.deepEqual(await unstarted(), [id]);
    assert.equal((await dueAt(id))?.getTime(), at.getTime() + 10 * MINUTE);
  });

  it('is requeued by one of several sweeps at the same time', async () => {
    for (let i = 0; i < 20; i++) await makeCollection(db, merchantId, 'reconciling');
    const released = await Promise.all([1, 2, 3].map(() => requeue(inMs(2 * MINUTE))));
    const collections = released.reduce((sum, { collection }) => sum + collection, 0);
    assert.equal(collections, 20);
  });

  it('is rechecked now and then after it expired, and one last time when the wait is over', async () => {
    const { id } = await makeCollection(db, merchantId, 'expired');
    const first = inMs(2 * MINUTE);
    await requeue(first);
    assert.equal((await dueAt(id))?.getTime(), first.getTime() + 60 * MINUTE);
    assert.deepEqual(await requeue(inMs(8 * DAY)), { ...NOTHING, collection: 1 });
    assert.equal(await dueAt(id), null);
    assert.deepEqual(await requeue(inMs(30 * DAY)), NOTHING);
  });

  it('is never requeued once it is final', async () => {
    await makeCollection(db, merchantId, 'succeeded');
    await makeCollection(db, merchantId, 'failed');
    assert.deepEqual(await requeue(inMs(30 * DAY)), NOTHING);
  });

  it('is requeued once after callbacks for a failed collection, however many there were', async () => {
    const { id, operatorReference } = await makeCollection(db, merchantId, 'failed');
    await markStarted(db, 'collection', await listed('collection'), new Date());
    const call = () => callBack(db, operatorReference);
    // More callbacks than are stored: the collection's row records that one came.
    for (let i = 0; i < 25; i++) await call();
    assert.deepEqual(await requeue(inMs(1000)), { ...NOTHING, collection: 1 });
    assert.deepEqual(await unstarted(), [id]);
    await markStarted(db, 'collection', await listed('collection'), new Date());
    assert.deepEqual(await requeue(inMs(30 * DAY)), NOTHING);
    await call();
    assert.deepEqual(await requeue(inMs(1000)), { ...NOTHING, collection: 1 });
  });

  it('is requeued for a delivery whose workflow was started and whose next attempt is overdue', async () => {
    await makeEndpoint(db, merchantId);
    await makeCollection(db, merchantId, 'prompted');
    await db.pool.query("UPDATE deliveries SET state = 'retrying', workflow_started_at = now()");
    assert.equal((await requeue(inMs(5 * MINUTE))).delivery, 0);
    assert.equal((await requeue(inMs(11 * MINUTE))).delivery, 1);
    assert.equal((await requeue(inMs(11 * MINUTE))).delivery, 0);
  });

  it('waits for a workflow from a payout’s creation on, and again once people decided', async () => {
    const shop = await makeShop(db, 10_000n);
    const payout = await queue(db, shop, 1000n);
    const waiting = async () => (await listed('payout')).map(({ id }) => id);
    assert.deepEqual(await waiting(), [payout.id]);
    await markStarted(db, 'payout', [{ kind: 'payout', ...payout }], new Date());
    assert.deepEqual(await waiting(), []);
    await release(db, shop.approver, payout.id);
    assert.deepEqual(await waiting(), [payout.id]);
    // This marks the signal for the row before the release: the release still waits.
    await markStarted(db, 'payout', [{ kind: 'payout', ...payout }], new Date());
    assert.deepEqual(await waiting(), [payout.id]);
    await markStarted(db, 'payout', await listed('payout'), new Date());
    assert.deepEqual(await waiting(), []);
  });

  it('is requeued for an overdue payout, and never once the payout is final', async () => {
    const shop = await makeShop(db, 10_000n);
    for (const state of PAYOUT_STATES) await makePayout(db, shop, state);
    await db.pool.query('UPDATE payouts SET workflow_started_at = now()');
    assert.deepEqual(await requeue(inMs(2 * MINUTE)), { ...NOTHING, payout: 2 });
    assert.deepEqual(await requeue(inMs(8 * DAY)), { ...NOTHING, payout: 3 });
    const given = await listed('payout');
    assert.equal(given.length, 3);
  });

  it('waits for a workflow of a reversal, and is requeued until the reversal is final', async () => {
    const shop = await makeShop(db, 10_000n);
    const reversal = await makeReversal(db, shop.approver, await makeCollection(db, shop.merchantId, 'succeeded'));
    const waiting = async () => (await listed('reversal')).map(({ id }) => id);
    assert.deepEqual(await waiting(), [reversal.id]);
    await markStarted(db, 'reversal', [{ kind: 'reversal', ...reversal }], new Date());
    assert.deepEqual(await waiting(), []);
    assert.deepEqual(await requeue(inMs(6 * MINUTE)), { ...NOTHING, reversal: 1 });
    assert.deepEqual(await waiting(), [reversal.id]);
    await markStarted(db, 'reversal', [{ kind: 'reversal', ...reversal }], new Date());
    await recordReversal(db, reversal, { kind: 'refunded' });
    assert.deepEqual(await requeue(inMs(30 * DAY)), NOTHING);
  });

  it('is requeued in batches of at most the limit', async () => {
    for (let i = 0; i < 5; i++) await makeCollection(db, merchantId, 'reconciling');
    const counts = [];
    for (let i = 0; i < 3; i++) counts.push((await requeue(inMs(2 * MINUTE), 2)).collection);
    assert.deepEqual(counts, [2, 2, 1]);
  });
});

describe('the sweep', () => {
  const db = useDatabase();

  it('requeues everything overdue, even thousands, each once', async () => {
    const OVERDUE = 1700;
    const { id } = await makeCollection(db, await makeMerchant(db), 'reconciling');
    await tamper(
      db,
      `INSERT INTO collections SELECT (jsonb_populate_record(c, jsonb_build_object(
         'id', 'col_0' || lpad(n::text, 25, '0'), 'operator_reference', gen_random_uuid(), 'idempotency_key', n))).*
       FROM collections c, generate_series(1, $2::int - 1) n WHERE c.id = $1`,
      [id, OVERDUE],
    );
    await tamper(db, 'UPDATE collections SET workflow_started_at = now(), check_due_at = now()');
    const activities = createReconciliationActivities({
      db,
      clocks: CLOCKS,
      callbacksKeptForMs: 90 * DAY,
      keyRing: KEY_RING,
      log: testLog,
    });
    assert.deepEqual(await activities.requeueStaleWork(), { ...NOTHING, collection: OVERDUE });
    assert.deepEqual(await activities.requeueStaleWork(), NOTHING);
  });
});

describe('the removal of old records', () => {
  const db = useDatabase();

  it('removes keys and callbacks past their retention in batches, and no younger ones', async () => {
    const merchantId = await makeMerchant(db);
    const { id } = await makeCollection(db, merchantId);
    const days = [29, 31, 32, 33].map((age) => new Date(Date.now() - age * DAY));
    for (const at of days) {
      const values = [merchantId, newId('req'), Buffer.alloc(32), at];
      await db.pool.query("INSERT INTO idempotency_keys VALUES ($1, $2, $3, 202, '{}', $4)", values);
      await db.pool.query(
        `INSERT INTO operator_callbacks (operator, collection_id, body, content_type, source_address, received_at)
         VALUES ('mtn-momo', $1, '{}', '', '127.0.0.1', $2)`,
        [id, at],
      );
    }
    const before = new Date(Date.now() - 30 * DAY);
    const purge = () =>
      purgeExpiredRecords(db, {
        idempotencyKeysBefore: before,
        callbacksBefore: before,
        endedBefore: before,
        limit: 2,
      });
    assert.deepEqual([await purge(), await purge(), await purge()], [4, 2, 0]);
    const left =
      'SELECT (SELECT count(*) FROM idempotency_keys)::int AS keys, count(*)::int AS calls FROM operator_callbacks';
    assert.deepEqual(await oneRow(db, left), { keys: 1, calls: 1 });
  });
});
