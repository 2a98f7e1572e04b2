// Tests replays: which deliveries are sent again, which are skipped, and what earlier attempts still change.
import assert from 'node:assert/strict';
import {
  escalateDeliveries,
  findRetryingDelivery,
  withholdDeliveries,
  type DueDelivery,
} from '../../../src/db/webhooks/delivery.ts';
import { disableEndpoints } from '../../../src/db/webhooks/endpoint.ts';
import { countMatching, insertReplay, resetForReplay } from '../../../src/db/webhooks/replay.ts';
import type { NextStep } from '../../../src/domain/webhooks/delivery.ts';
import { newId, type EndpointId, type MerchantId, type UserId } from '../../../src/domain/ids.ts';
import { UNDELIVERED_STATES, type Replay } from '../../../src/domain/webhooks/replay.ts';
import { continueReplay } from '../../../src/operations/webhooks/replay-deliveries.ts';
import { claimUnstarted, markStarted } from '../../../src/db/work/work.ts';
import { attemptOf, claim, record } from './deliveries.ts';
import { makeCollection, makeEndpoint, makeMember, makeMerchant, oneRow, allRows } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const DEAD: NextStep = { state: 'dead_lettered', disableEndpoint: false };
const RETRYING: NextStep = { state: 'retrying', delayMs: 5000 };
const DELIVERED: NextStep = { state: 'delivered' };

describe('a replay', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;
  let endpointId: EndpointId;
  let userId: UserId;
  beforeEach(async () => {
    merchantId = await makeMerchant(db);
    endpointId = await makeEndpoint(db, merchantId);
    userId = await makeMember(db, merchantId, ['owner']);
  });

  const recordDead = (deliveries: readonly DueDelivery[]) => {
    const attempts = deliveries.map((delivery) => attemptOf(delivery, DEAD));
    return record(db, attempts);
  };

  async function createDeadLetters(count: number): Promise<void> {
    for (let created = 0; created < count; created++) await makeCollection(db, merchantId, 'prompted');
    const claimed = (await claim(db, 100)).filter((delivery) => delivery.merchantId === merchantId);
    await recordDead(claimed);
    await db.pool.query('UPDATE endpoints SET failing_since = NULL');
  }

  /** Dead letters at the merchant's two endpoints, and a delivery of another merchant; returns the second endpoint. */
  async function createDeadLettersOfTwoEndpoints(countOfFirst: number): Promise<EndpointId> {
    await createDeadLetters(countOfFirst - 1);
    const other = await makeEndpoint(db, merchantId);
    const otherMerchant = await makeMerchant(db);
    await makeEndpoint(db, otherMerchant);
    await makeCollection(db, otherMerchant, 'prompted');
    await createDeadLetters(1);
    return other;
  }

  /** A delivery after its first attempt, as it was when that attempt was made. */
  async function createRetrying(): Promise<DueDelivery> {
    await makeCollection(db, merchantId, 'prompted');
    const [delivery] = await claim(db, 1);
    await record(db, [attemptOf(delivery!, RETRYING)]);
    await db.pool.query('UPDATE endpoints SET failing_since = NULL');
    return delivery!;
  }

  const states = async () =>
    (await db.pool.query<{ state: string }>('SELECT state FROM deliveries ORDER BY id')).rows.map(({ state }) => state);

  async function begin(filter: Partial<Replay> = {}): Promise<Replay> {
    const replay: Replay = {
      id: newId('rpl'),
      merchantId,
      endpointId: null,
      states: UNDELIVERED_STATES,
      madeFrom: null,
      madeBefore: new Date(Date.now() + 1000),
      state: 'running',
      total: 0,
      replayed: 0,
      skipped: 0,
      requestedBy: userId,
      createdAt: new Date(),
      completedAt: null,
      ...filter,
    };
    await db.withTransaction((tx) => insertReplay(tx, replay));
    return replay;
  }

  const progress = (id: string) =>
    oneRow<{ state: string; replayed: number; skipped: number }>(
      db,
      'SELECT state, replayed, skipped FROM replays WHERE id = $1',
      [id],
    );

  it('proceeds in batches, takes each of many deliveries once, and completes', async () => {
    await createDeadLetters(5);
    const { id } = await begin();
    assert.equal(await continueReplay(db, 2, new Date()), 2);
    // A delivery that fails again behind its position is not replayed a second time.
    await recordDead(await claim(db, 5));
    await db.pool.query('UPDATE endpoints SET failing_since = NULL');
    assert.equal(await continueReplay(db, 2, new Date()), 2);
    assert.deepEqual(await progress(id), { state: 'running', replayed: 4, skipped: 0 });
    assert.equal(await continueReplay(db, 2, new Date()), 1);
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 5, skipped: 0 });
    assert.equal(await continueReplay(db, 2, new Date()), null);
    assert.deepEqual(await states(), ['dead_lettered', 'dead_lettered', 'pending', 'pending', 'pending']);
  });

  it('proceeds in batches past the deliveries that do not match', async () => {
    await createDeadLetters(6);
    await db.pool.query("UPDATE deliveries SET state = 'delivered' WHERE id <> (SELECT max(id) FROM deliveries)");
    const { id } = await begin();
    for (const replayed of [0, 0, 1, 0]) assert.equal(await continueReplay(db, 2, new Date()), replayed);
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 1, skipped: 0 });
  });

  it('resets only the deliveries that match its filter', async () => {
    const other = await createDeadLettersOfTwoEndpoints(2);
    assert.deepEqual((await states()).sort(), ['dead_lettered', 'dead_lettered', 'dead_lettered', 'pending'].sort());
    await begin({ endpointId: other });
    await begin({ states: ['delivered'] });
    await begin({ madeBefore: new Date(Date.now() - 60_000) });
    assert.equal(await continueReplay(db, 100, new Date()), 1);
    assert.equal(await continueReplay(db, 100, new Date()), 0);
    assert.equal(await continueReplay(db, 100, new Date()), 0);
    const { rows } = await db.pool.query('SELECT endpoint_id FROM deliveries WHERE replay_count > 0');
    assert.deepEqual(rows, [{ endpoint_id: other }]);
  });

  it('counts only the deliveries that match its filter, up to a limit', async () => {
    const other = await createDeadLettersOfTwoEndpoints(4);
    const everything = { endpointId: null, madeFrom: null, madeBefore: new Date(Date.now() + 1000) };
    const count = (filter: Partial<Replay>, limit = 100) =>
      db.withTransaction((tx) =>
        countMatching(tx, merchantId, { ...everything, states: ['dead_lettered', 'withheld'], ...filter }, limit),
      );
    assert.deepEqual([await count({}), await count({ endpointId: other }), await count({ endpointId })], [5, 1, 4]);
    assert.deepEqual([await count({}, 5), await count({}, 4), await count({ endpointId }, 2)], [5, 4, 2]);
    assert.deepEqual([await count({ states: ['delivered'] }), await count({ states: ['withheld'] })], [0, 0]);
    await db.pool.query("UPDATE deliveries SET state = 'withheld' WHERE endpoint_id = $1", [other]);
    assert.deepEqual([await count({ states: ['withheld'] }), await count({}), await count({}, 4)], [1, 5, 4]);
    const aMinuteAgo = new Date(Date.now() - 60_000);
    assert.deepEqual([await count({ madeBefore: aMinuteAgo }), await count({ madeFrom: aMinuteAgo })], [0, 5]);
  });

  it('skips deliveries of a disabled endpoint, and counts them', async () => {
    await createDeadLetters(3);
    await disableEndpoints(db, [endpointId], { reason: 'by_person', at: new Date() });
    const { id } = await begin();
    assert.equal(await continueReplay(db, 100, new Date()), 0);
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 0, skipped: 3 });
    assert.deepEqual([...new Set(await states())], ['dead_lettered']);
  });

  it('is continued by one process at a time', async () => {
    await createDeadLetters(20);
    const { id } = await begin();
    for (let round = 0; round < 10 && (await progress(id)).state === 'running'; round++) {
      await Promise.all([1, 2, 3].map(() => continueReplay(db, 5, new Date())));
    }
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 20, skipped: 0 });
    assert.deepEqual(await allRows(db, 'SELECT DISTINCT replay_count FROM deliveries'), [{ replay_count: 1 }]);
  });

  describe('of a delivery with a running workflow', () => {
    const reset = ({ id }: DueDelivery) => db.withTransaction((tx) => resetForReplay(tx, id, new Date()));
    const rowOf = ({ id }: DueDelivery) =>
      oneRow<Record<string, unknown>>(
        db,
        `SELECT state, attempt_count, replay_count, attempts_before_replay, next_attempt_at IS NULL AS is_over,
           EXISTS (SELECT FROM work WHERE work.id = deliveries.id) AS has_work FROM deliveries WHERE id = $1`,
        [id],
      );

    it('leaves that workflow nothing to send, and starts the schedule again', async () => {
      const old = await createRetrying();
      await reset(old);
      assert.equal(await findRetryingDelivery(db, old.id, 0), null);
      const [again] = await claim(db, 1);
      assert.deepEqual([again?.attemptCount, again?.replayCount, again?.attemptsBeforeReplay], [1, 1, 1]);
      await record(db, [attemptOf(again!, RETRYING)]);
      assert.equal(await findRetryingDelivery(db, old.id, 0), null);
      assert.equal((await findRetryingDelivery(db, old.id, 1))?.attemptCount, 2);
    });

    it('stores an attempt that was in flight, which no longer changes the state', async () => {
      const old = { ...(await createRetrying()), attemptCount: 1 };
      await reset(old);
      await record(db, [attemptOf(old, DEAD)]);
      assert.deepEqual(await rowOf(old), {
        state: 'pending',
        attempt_count: 2,
        replay_count: 1,
        attempts_before_replay: 2,
        is_over: false,
        has_work: false,
      });
      const { rows } = await db.pool.query('SELECT attempt_number FROM delivery_attempts ORDER BY 1');
      assert.deepEqual(rows, [{ attempt_number: 1 }, { attempt_number: 2 }]);
    });
  });

  describe('of a delivery with attempts in flight from before and after it', () => {
    async function sendBeforeAndAfter() {
      const { id } = await createRetrying();
      const before = await findRetryingDelivery(db, id, 0);
      await db.withTransaction((tx) => resetForReplay(tx, id, new Date()));
      const [after] = await claim(db, 1);
      return { id, before: before!, after: after! };
    }

    for (const isOldFirst of [true, false]) {
      it(`stores both attempts when the ${isOldFirst ? 'earlier' : 'later'} one ends first`, async () => {
        const { id, before, after } = await sendBeforeAndAfter();
        const both = [attemptOf(before, DEAD), attemptOf(after, RETRYING)];
        for (const attempt of isOldFirst ? both : both.reverse()) await record(db, [attempt]);
        const { rows } = await db.pool.query('SELECT state, attempt_count, attempts_before_replay FROM deliveries');
        assert.deepEqual(rows, [{ state: 'retrying', attempt_count: 3, attempts_before_replay: 2 }]);
        const { rows: stored } = await db.pool.query('SELECT attempt_number FROM delivery_attempts ORDER BY 1');
        const numbers = stored.map((row: { attempt_number: number }) => row.attempt_number);
        assert.deepEqual(numbers, [1, 2, 3]);
        assert.equal((await findRetryingDelivery(db, id, 1))?.attemptCount, 3);
      });
    }

    it('takes the state of the later attempt when both end at once', async () => {
      const { before, after } = await sendBeforeAndAfter();
      await record(db, [attemptOf(before, DEAD), attemptOf(after, DELIVERED)]);
      assert.deepEqual(await states(), ['delivered']);
    });
  });

  it('gets a separate workflow, even when the start of the previous workflow is recorded late', async () => {
    await makeCollection(db, merchantId, 'prompted');
    const [first] = await claim(db, 1);
    await record(db, [attemptOf(first!, RETRYING)]);
    const unstarted = () => claimUnstarted(db, 'delivery', { limit: 10, graceMs: 0, leaseMs: 0 });
    const old = await unstarted();
    await db.withTransaction((tx) => resetForReplay(tx, first!.id, new Date()));
    await markStarted(
      db,
      old.map((work) => ({ ...work, checkInMs: 60_000 })),
    );
    await escalateDeliveries(db, 10);
    const counts = (await unstarted()).map((work) => 'replayCount' in work && work.replayCount);
    assert.deepEqual(counts, [1]);
  });

  describe('an attempt that was in flight when the endpoint was disabled', () => {
    for (const [next, state] of [
      [DELIVERED, 'delivered'],
      [RETRYING, 'withheld'],
      [DEAD, 'dead_lettered'],
    ] as const) {
      it(`leaves the delivery ${state} when its result is ${next.state}`, async () => {
        await makeCollection(db, merchantId, 'prompted');
        const [delivery] = await claim(db, 1);
        await disableEndpoints(db, [endpointId], { reason: 'by_person', at: new Date() });
        await withholdDeliveries(db, 10, new Date());
        assert.deepEqual(await states(), ['withheld']);
        await record(db, [attemptOf(delivery!, next)]);
        assert.deepEqual(await states(), [state]);
        const { rows } = await db.pool.query('SELECT attempt_count, next_attempt_at FROM deliveries');
        assert.deepEqual(rows, [{ attempt_count: 1, next_attempt_at: null }]);
      });
    }
  });
});
