// The stream of state changes: each change is folded once, in whatever order transactions end, and removed when it is old.
import assert from 'node:assert/strict';
import type { PoolClient } from 'pg';
import { findHorizon } from '../../src/db/live-updates.ts';
import { listTotals } from '../../src/db/payments/totals.ts';
import { listPaymentFigures } from '../../src/db/service-figures.ts';
import { deleteStateChanges, foldStateChanges, renumberRestoredChanges } from '../../src/db/state-changes.ts';
import { rebuildTotals } from '../../src/db/payments/totals.ts';
import { countRows, countUnfolded, foldAll, makeCollection, tamper, untilOneWaits } from './rows.ts';
import { useDatabasePerCase, useMerchantPerCase } from './use-database.ts';

const ANY_TIME = { from: new Date(0), to: new Date('2100-01-01') };
const DAY_MS = 86_400_000;

describe('the stream of state changes', () => {
  // Before the hook that drops the database, which waits until no client is in use.
  const clients = new Set<PoolClient>();
  afterEach(() => {
    for (const client of clients) client.release(true);
    clients.clear();
  });
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  async function connect(): Promise<PoolClient> {
    const client = await db.pool.connect();
    clients.add(client);
    await client.query('BEGIN');
    return client;
  }

  /** A transaction that has written a change and is still in progress. */
  async function begin(): Promise<{ readonly client: PoolClient; readonly xid: bigint; readonly id: bigint }> {
    const client = await connect();
    const { rows } = await client.query<{ xid: string; id: bigint }>(
      `INSERT INTO state_changes (merchant_id, kind, object_id, to_state, operator, amount_minor, payment_created_at)
       VALUES ($1, 'collection', 'col', 'initiated', 'mtn-momo', 5000, now()) RETURNING xid::text, id`,
      [merchant.id],
    );
    assert.ok(rows[0]);
    return { client, xid: BigInt(rows[0].xid), id: rows[0].id };
  }

  const commit = ({ client }: { readonly client: PoolClient }) => client.query('COMMIT');

  const countInTotals = async () =>
    (await listTotals(db, merchant.id, ANY_TIME)).reduce((sum, { count }) => sum + count, 0);
  const countInFigures = async () => (await listPaymentFigures(db)).reduce((sum, { present }) => sum + present, 0);

  it('loses and repeats no change of a transaction that began first and commits last', async () => {
    const first = await begin();
    const second = await begin();
    assert.ok(first.xid < second.xid && first.id < second.id);
    await commit(second);
    for (let folds = 0; folds < 3; folds++) {
      assert.equal(await countInTotals(), 1);
      await foldStateChanges(db, 1);
    }
    // The later change is read, and is not folded before the earlier one can be.
    assert.equal(await countInFigures(), 0);
    await commit(first);
    assert.equal(await countInTotals(), 2);
    await foldAll(db, 1);
    assert.deepEqual([await countInTotals(), await countInFigures()], [2, 2]);
    await foldStateChanges(db, 1);
    assert.deepEqual([await countInTotals(), await countInFigures()], [2, 2]);
  });

  it('goes on after a transaction that is rolled back', async () => {
    const failing = await begin();
    await commit(await begin());
    await failing.client.query('ROLLBACK');
    await foldAll(db);
    assert.deepEqual([await countInTotals(), await countInFigures()], [1, 1]);
  });

  it('folds a transaction whole, however few changes a fold takes', async () => {
    const open = await begin();
    await open.client.query(
      `INSERT INTO state_changes (merchant_id, kind, object_id, to_state, operator, amount_minor, payment_created_at)
       SELECT $1, 'payout', 'pay', 'queued', 'mtn-momo', 5000, now() FROM generate_series(1, 9)`,
      [merchant.id],
    );
    await commit(open);
    await commit(await begin());
    await foldAll(db, 1);
    assert.deepEqual([await countInTotals(), await countInFigures()], [11, 11]);
  });

  it('folds nothing twice when a fold begins while another one is in progress', async () => {
    await makeCollection(db, merchant.id, 'initiated');
    await foldAll(db);
    await makeCollection(db, merchant.id, 'succeeded');
    const last = await greatestXid();
    while ((await findHorizon(db)) <= last);
    const blocker = await connect();
    await blocker.query('UPDATE payment_figures SET entered = entered');
    const folding = foldStateChanges(db, 1000);
    await untilOneWaits(db);
    assert.equal(await foldStateChanges(db, 1000), 0);
    await blocker.query('COMMIT');
    assert.ok((await folding) > 0);
    await foldAll(db);
    assert.deepEqual([await countInTotals(), await countInFigures()], [2, 2]);
  });

  const greatestXid = async () => {
    const { rows } = await db.pool.query<{ xid: string }>('SELECT max(xid)::text AS xid FROM state_changes');
    return BigInt(rows[0]?.xid ?? 0);
  };

  it('counts changes for pages alone in no total and no figure', async () => {
    await db.pool.query(
      `INSERT INTO state_changes (merchant_id, kind, object_id, to_state)
       VALUES ($1, 'payout', 'pay', 'queued'), ($1, 'delivery', 'dlv', 'delivered'), ($1, 'endpoint', 'whe', 'enabled')`,
      [merchant.id],
    );
    await foldAll(db);
    assert.deepEqual([await countInTotals(), await countInFigures()], [0, 0]);
  });

  it('counts dead-lettered deliveries in the figures, and no payments with them', async () => {
    await db.pool.query(
      `INSERT INTO state_changes (merchant_id, kind, object_id, to_state) VALUES ($1, 'delivery', 'dlv', 'dead_lettered')`,
      [merchant.id],
    );
    await foldAll(db);
    assert.deepEqual(await listPaymentFigures(db), [
      { kind: 'delivery', operator: '', state: 'dead_lettered', present: 1, entered: 1 },
    ]);
    assert.equal(await countInTotals(), 0);
  });

  it('takes no change off the totals that a rebuild made from later payments', async () => {
    await makeCollection(db, merchant.id, 'failed');
    await db.withTransaction((tx) => rebuildTotals(tx, merchant.id));
    await makeCollection(db, merchant.id, 'succeeded');
    assert.equal(await countInTotals(), 2);
    await foldAll(db);
    assert.equal(await countInTotals(), 2);
  });

  it('is removed after its retention once it is folded, oldest first', async () => {
    for (const state of ['failed', 'succeeded'] as const) await makeCollection(db, merchant.id, state);
    await tamper(db, `UPDATE state_changes SET changed_at = now() - interval '2 days'`);
    const over = new Date(Date.now() - DAY_MS);
    assert.equal(await deleteStateChanges(db, over, 100), 0);
    await foldAll(db);
    const kept = await countRows(db, 'state_changes');
    await makeCollection(db, merchant.id, 'initiated');
    await foldAll(db);
    assert.equal(await deleteStateChanges(db, over, 2), 2);
    assert.equal(await deleteStateChanges(db, over, 100), kept - 2);
    assert.equal(await deleteStateChanges(db, over, 100), 0);
    assert.equal(await countRows(db, 'state_changes'), 1);
    assert.equal(await countInTotals(), 3);
  });

  it('counts each change once after a restore into a server whose transactions have lower numbers', async () => {
    await makeCollection(db, merchant.id, 'succeeded');
    await foldAll(db);
    await makeCollection(db, merchant.id, 'failed');
    // As if all until now had been written by a server that was further on.
    await tamper(db, `UPDATE state_changes SET xid = (xid::text::bigint + 1000000000)::text::xid8`);
    await tamper(db, `UPDATE fold_position SET xid = (xid::text::bigint + 1000000000)::text::xid8`);
    await makeCollection(db, merchant.id, 'succeeded');
    await foldStateChanges(db, 1000);
    for (let times = 0; times < 2; times++) {
      await renumberRestoredChanges(db, 1);
      await foldAll(db);
      assert.deepEqual([await countInTotals(), await countInFigures()], [3, 3]);
    }
    await makeCollection(db, merchant.id, 'failed');
    await foldAll(db);
    assert.deepEqual([await countInTotals(), await countInFigures(), await countUnfolded(db)], [4, 4, 0]);
  });
});
