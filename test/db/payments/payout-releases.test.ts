// Several payouts released by one call: in one transaction and each once, whatever runs beside it and at whatever point it breaks.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import type { StoredOutcome } from '../../../src/domain/payments/stored-outcome.ts';
import { codeOr, makeShop, queue, releaseMany, setPolicy, type Shop } from './payout-rows.ts';
import { oneRow, whileLocked } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { valuesOf } from '../../support/values-of.ts';

describe('a release of several payouts', () => {
  const db = useDatabase();
  let shop: Shop;
  let payouts: Payout[];
  let ids: string[];

  beforeEach(async () => {
    shop = await makeShop(db, 100_000n);
    payouts = [];
    for (let i = 0; i < 5; i++) payouts.push(await queue(db, shop, 1000n));
    ids = payouts.map(({ id }) => id);
  });

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
  const resultsOf = ({ response }: StoredOutcome) =>
    (
      JSON.parse(response.body) as {
        data: { id: string; payout: { state: string } | null; error: { code: string } | null }[];
      }
    ).data.map(({ payout, error }) => payout?.state ?? error?.code);

  const lockOnFourth = () => ({ sql: 'SELECT 1 FROM payments WHERE id = $1 FOR UPDATE', values: [ids[3]] });

  it('returns idempotency_key_in_flight to a second call with the same key, and replays its response later', async () => {
    const idempotencyKey = randomUUID();
    const send = () => releaseMany(db, shop.approver, ids, { idempotencyKey });
    const first = await whileLocked(db, lockOnFourth(), send, async () => {
      assert.equal(await codeOr(send()), 'idempotency_key_in_flight');
    });
    assert.deepEqual([first.kind, resultsOf(first)], ['accepted', payouts.map(() => 'released')]);
    assert.deepEqual(await send(), { kind: 'replayed', response: first.response });
    assert.deepEqual(await snapshot(), RELEASED);
  });

  it('is refused as a whole without a fresh second factor, and its key is good for a repeat with one', async () => {
    const idempotencyKey = randomUUID();
    const sendAs = (secondFactorAt: Date) =>
      releaseMany(db, { ...shop.approver, hasSecondFactor: true, secondFactorAt }, ids, { idempotencyKey });
    assert.equal(await codeOr(sendAs(new Date(Date.now() - 6 * 60_000))), 'permission_denied');
    assert.deepEqual(await snapshot(), QUEUED);
    assert.deepEqual(
      resultsOf(await sendAs(new Date())),
      payouts.map(() => 'released'),
    );
  });

  it('releases nothing and frees its key when its connection dies: a repeat releases each payout once', async () => {
    const idempotencyKey = randomUUID();
    const send = () => releaseMany(db, shop.approver, ids, { idempotencyKey });
    await whileLocked(
      db,
      lockOnFourth(),
      () => assert.rejects(send()),
      () =>
        db.pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
    );
    assert.deepEqual(await snapshot(), QUEUED);
    const repeat = await send();
    assert.deepEqual([repeat.kind, resultsOf(repeat)], ['accepted', payouts.map(() => 'released')]);
    assert.deepEqual(await snapshot(), RELEASED);
  });

  it('releases each payout once, without a deadlock, when two people send the ids in opposite orders', async () => {
    await Promise.all([
      releaseMany(db, shop.approver, ids),
      releaseMany(db, shop.otherApprover, [...ids].reverse()),
      releaseMany(db, shop.approver, [...ids].reverse()),
    ]);
    assert.deepEqual(await snapshot(), RELEASED);
  });

  it('reports the result of each payout, records nothing of refused ones, and returns the approved ones', async () => {
    await setPolicy(db, shop.merchantId, { approverDailyLimitMinor: 3000n });
    await releaseMany(db, shop.approver, [ids[0]!]);
    const released = await releaseMany(db, shop.approver, [...ids, 'pay_unknown']);
    assert.ok(released.kind === 'accepted');
    assert.deepEqual(resultsOf(released), [
      'released',
      'released',
      'released',
      'permission_denied',
      'permission_denied',
      'payout_not_found',
    ]);
    assert.deepEqual(valuesOf(released.payments, 'id'), ids.slice(1, 3));
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
