// Several payouts released by one call: all of it or nothing, each once, whoever comes beside it and whatever breaks off.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/database.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { getPayout } from '../../../src/queries/payments/get-payout.ts';
import type { ReleasedPayouts } from '../../../src/operations/payments/release-payout.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import { codeOr, makeShop, queue, releaseMany, setPolicy, type Shop } from './payout-rows.ts';
import { oneRow, untilOneWaits } from '../rows.ts';

describe('a release of several payouts', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;
  let payouts: Payout[];
  let ids: string[];

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  beforeEach(async () => {
    shop = await makeShop(db, 100_000n);
    payouts = [];
    for (let i = 0; i < 5; i++) payouts.push(await queue(db, shop, 1000n));
    ids = payouts.map(({ id }) => id);
  });
  after(() => database.drop());

  /** State and version of each: version 1 is released once. */
  const snapshot = async () =>
    Promise.all(
      payouts.map(async ({ id }) => {
        const { state, version, approvals } = await getPayout(db, shop.merchantId, id);
        return `${state} ${version} ${approvals.length}`;
      }),
    );
  const RELEASED = Array.from({ length: 5 }, () => 'released 1 1');
  const QUEUED = Array.from({ length: 5 }, () => 'queued 0 0');
  const said = ({ answer }: ReleasedPayouts) =>
    (
      JSON.parse(answer.body) as {
        data: { id: string; payout: { state: string } | null; error: { code: string } | null }[];
      }
    ).data.map(({ payout, error }) => payout?.state ?? error?.code);

  /** Keeps the fourth payout from everybody while `work` runs; what `work` returns is awaited after it is let go. */
  async function whileOneIsLocked<Result>(work: () => Promise<{ answer: Promise<Result> }>): Promise<Result> {
    const client = await db.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM payouts WHERE id = $1 FOR UPDATE', [ids[3]]);
      const { answer } = await work();
      await client.query('ROLLBACK');
      return await answer;
    } finally {
      client.release();
    }
  }

  it('is in flight for a second call with the same key, which then is answered with what the first kept', async () => {
    const idempotencyKey = randomUUID();
    const first = await whileOneIsLocked(async () => {
      const answer = releaseMany(db, shop.approver, ids, { idempotencyKey });
      await untilOneWaits(db);
      const second = await codeOr(releaseMany(db, shop.approver, ids, { idempotencyKey }));
      assert.equal(second, 'idempotency_key_in_flight');
      return { answer };
    });
    assert.deepEqual([first.kind, said(first)], ['approved', payouts.map(() => 'released')]);
    const third = await releaseMany(db, shop.approver, ids, { idempotencyKey });
    assert.deepEqual(third, { kind: 'replayed', answer: first.answer });
    assert.deepEqual(await snapshot(), RELEASED);
  });

  it('that dies in the middle leaves nothing released and its key free: the repeat releases each once', async () => {
    const idempotencyKey = randomUUID();
    await whileOneIsLocked(async () => {
      const answer = assert.rejects(releaseMany(db, shop.approver, ids, { idempotencyKey }));
      await untilOneWaits(db);
      await db.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return { answer };
    });
    assert.deepEqual(await snapshot(), QUEUED);
    const repeat = await releaseMany(db, shop.approver, ids, { idempotencyKey });
    assert.deepEqual([repeat.kind, said(repeat)], ['approved', payouts.map(() => 'released')]);
    assert.deepEqual(await snapshot(), RELEASED);
  });

  it('by two people in opposite order releases each once, and neither waits for the other for ever', async () => {
    await Promise.all([
      releaseMany(db, shop.approver, ids),
      releaseMany(db, shop.otherApprover, [...ids].reverse()),
      releaseMany(db, shop.approver, [...ids].reverse()),
    ]);
    assert.deepEqual(await snapshot(), RELEASED);
  });

  it('says of each what became of it, leaves nothing of what is refused, and tells of those it approved alone', async () => {
    await setPolicy(db, shop.merchantId, { approverDailyLimitMinor: 3000n });
    await releaseMany(db, shop.approver, [ids[0]!]);
    const released = await releaseMany(db, shop.approver, [...ids, 'pay_unknown']);
    assert.ok(released.kind === 'approved');
    assert.deepEqual(said(released), [
      'released',
      'released',
      'released',
      'permission_denied',
      'permission_denied',
      'payout_not_found',
    ]);
    assert.deepEqual(
      released.payouts.map(({ id }) => id),
      ids.slice(1, 3),
    );
    assert.deepEqual(await snapshot(), [...RELEASED.slice(0, 3), ...QUEUED.slice(0, 2)]);
    const { refused, done } = await oneRow<{ refused: number; done: number }>(
      db,
      `SELECT count(*) FILTER (WHERE outcome = 'refused')::int AS refused,
              count(*) FILTER (WHERE outcome = 'done')::int AS done
       FROM audit_entries WHERE subject_id = ANY($1)`,
      [ids],
    );
    assert.deepEqual([refused, done], [2, 3]);
  });
});
