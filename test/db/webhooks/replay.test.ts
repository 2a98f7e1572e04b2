// Replays: what is sent again, what is left, and what an attempt of before means.
import assert from 'node:assert/strict';
import type { Database } from '../../../src/db/database.ts';
import type { DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import { disableEndpoints } from '../../../src/db/webhooks/endpoint.ts';
import { countMatching, insertReplay, rearmDelivery } from '../../../src/db/webhooks/replay.ts';
import type { AttemptResult, NextStep } from '../../../src/domain/webhooks/delivery.ts';
import { newId, type EndpointId, type MerchantId, type UserId } from '../../../src/domain/ids.ts';
import { UNDELIVERED_STATES, type Replay } from '../../../src/domain/webhooks/replay.ts';
import { continueReplay } from '../../../src/operations/webhooks/continue-replay.ts';
import { getRetryingDelivery } from '../../../src/queries/webhooks/get-retrying-delivery.ts';
import { handOverDeliveries } from '../../../src/operations/webhooks/hand-over-deliveries.ts';
import { listUnstarted, markStarted } from '../../../src/db/work.ts';
import { withholdDeliveries } from '../../../src/operations/webhooks/withhold-deliveries.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import { claim, record } from './deliveries.ts';
import { makeCollection, makeEndpoint, makeMember, makeMerchant, oneRow } from '../rows.ts';

const DEAD: NextStep = { state: 'dead_lettered', disableEndpoint: false };
const RETRYING: NextStep = { state: 'retrying', delayMs: 5000 };
const DELIVERED: NextStep = { state: 'delivered' };
const REFUSED: AttemptResult = { kind: 'no_answer', error: 'the connection was refused' };

function attemptOf(delivery: DueDelivery, next: NextStep, attemptNumber = delivery.attemptCount + 1) {
  const attempt = { startedAt: new Date(), durationMs: 1, result: REFUSED };
  return { ...delivery, attemptNumber, attempt, next, at: new Date() };
}

describe('a replay', () => {
  let database: TestDatabase;
  let db: Database;
  let merchantId: MerchantId;
  let endpointId: EndpointId;
  let userId: UserId;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    merchantId = await makeMerchant(db);
    endpointId = await makeEndpoint(db, merchantId);
    userId = await makeMember(db, merchantId, ['owner']);
  });
  afterEach(() => database.drop());

  async function makeDead(count: number): Promise<void> {
    for (let made = 0; made < count; made++) await makeCollection(db, merchantId, 'prompted');
    const claimed = (await claim(db, 100)).filter((delivery) => delivery.merchantId === merchantId);
    await record(
      db,
      claimed.map((delivery) => attemptOf(delivery, DEAD)),
    );
    await db.pool.query('UPDATE endpoints SET failing_since = NULL');
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

  it('of many goes batch by batch, each delivery once, and ends', async () => {
    await makeDead(5);
    const { id } = await begin();
    assert.equal(await continueReplay(db, 2, new Date()), 2);
    // What failed again behind its back is not taken up once more.
    await record(
      db,
      (await claim(db, 5)).map((delivery) => attemptOf(delivery, DEAD)),
    );
    await db.pool.query('UPDATE endpoints SET failing_since = NULL');
    assert.equal(await continueReplay(db, 2, new Date()), 2);
    assert.deepEqual(await progress(id), { state: 'running', replayed: 4, skipped: 0 });
    assert.equal(await continueReplay(db, 2, new Date()), 1);
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 5, skipped: 0 });
    assert.equal(await continueReplay(db, 2, new Date()), null);
    assert.deepEqual(await states(), ['dead_lettered', 'dead_lettered', 'pending', 'pending', 'pending']);
  });

  it('of few among many goes on stretch by stretch, past all that does not match', async () => {
    await makeDead(6);
    await db.pool.query("UPDATE deliveries SET state = 'delivered' WHERE id <> (SELECT max(id) FROM deliveries)");
    const { id } = await begin();
    for (const replayed of [0, 0, 1, 0]) assert.equal(await continueReplay(db, 2, new Date()), replayed);
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 1, skipped: 0 });
  });

  it('takes what its filter says and nothing of others', async () => {
    await makeDead(1);
    const other = await makeEndpoint(db, merchantId);
    const stranger = await makeMerchant(db);
    await makeEndpoint(db, stranger);
    await makeCollection(db, stranger, 'prompted');
    await makeDead(1);
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

  it('counts what its filter says and nothing of others, up to a limit', async () => {
    await makeDead(3);
    const other = await makeEndpoint(db, merchantId);
    const stranger = await makeMerchant(db);
    await makeEndpoint(db, stranger);
    await makeCollection(db, stranger, 'prompted');
    await makeDead(1);
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

  it('leaves what its endpoint, being disabled, would not get, and counts it', async () => {
    await makeDead(3);
    await disableEndpoints(db, [endpointId], { reason: 'by_person', at: new Date() });
    const { id } = await begin();
    assert.equal(await continueReplay(db, 100, new Date()), 0);
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 0, skipped: 3 });
    assert.deepEqual([...new Set(await states())], ['dead_lettered']);
  });

  it('is continued by one at a time', async () => {
    await makeDead(20);
    const { id } = await begin();
    for (let round = 0; round < 10 && (await progress(id)).state === 'running'; round++) {
      await Promise.all([1, 2, 3].map(() => continueReplay(db, 5, new Date())));
    }
    assert.deepEqual(await progress(id), { state: 'completed', replayed: 20, skipped: 0 });
    const { rows } = await db.pool.query('SELECT DISTINCT replay_count FROM deliveries');
    assert.deepEqual(rows, [{ replay_count: 1 }]);
  });

  it('wakes the dispatchers', async () => {
    await makeDead(2);
    const attested: string[] = [];
    const client = await db.pool.connect();
    client.on('notification', ({ channel }) => attested.push(channel));
    await client.query('LISTEN malipo_deliveries');
    await begin();
    await continueReplay(db, 100, new Date());
    await client.query('SELECT 1');
    assert.deepEqual(attested, ['malipo_deliveries']);
    client.release(true);
  });

  describe('of a delivery that a workflow still had in hand', () => {
    const rearm = ({ id }: DueDelivery) => db.withTransaction((tx) => rearmDelivery(tx, id, new Date()));
    const rowOf = ({ id }: DueDelivery) =>
      oneRow<Record<string, unknown>>(
        db,
        `SELECT state, attempt_count, replay_count, attempts_before_replay, next_attempt_at IS NULL AS is_over,
           workflow_started_at FROM deliveries WHERE id = $1`,
        [id],
      );

    async function makeRetrying(): Promise<DueDelivery> {
      await makeCollection(db, merchantId, 'prompted');
      const [delivery] = await claim(db, 1);
      await record(db, [attemptOf(delivery!, RETRYING)]);
      await db.pool.query('UPDATE endpoints SET failing_since = NULL');
      return delivery!;
    }

    it('leaves that workflow nothing to do, and begins the schedule anew', async () => {
      const old = await makeRetrying();
      await rearm(old);
      assert.equal(await getRetryingDelivery(db, old.id, 0), null);
      const [again] = await claim(db, 1);
      assert.deepEqual([again?.attemptCount, again?.replayCount, again?.attemptsBeforeReplay], [1, 1, 1]);
      await record(db, [attemptOf(again!, RETRYING)]);
      assert.equal(await getRetryingDelivery(db, old.id, 0), null);
      assert.equal((await getRetryingDelivery(db, old.id, 1))?.attemptCount, 2);
    });

    it('keeps the attempt that was under way, which decides nothing', async () => {
      const old = { ...(await makeRetrying()), attemptCount: 1 };
      await rearm(old);
      await record(db, [attemptOf(old, DEAD)]);
      assert.deepEqual(await rowOf(old), {
        state: 'pending',
        attempt_count: 2,
        replay_count: 1,
        attempts_before_replay: 2,
        is_over: false,
        workflow_started_at: null,
      });
      const { rows } = await db.pool.query('SELECT attempt_number FROM delivery_attempts ORDER BY 1');
      assert.deepEqual(rows, [{ attempt_number: 1 }, { attempt_number: 2 }]);
    });
  });

  describe('of a delivery that is being sent by both, before and after it,', () => {
    for (const isOldFirst of [true, false]) {
      it(`keeps both attempts when that of ${isOldFirst ? 'before' : 'after'} ends first`, async () => {
        await makeCollection(db, merchantId, 'prompted');
        const [first] = await claim(db, 1);
        await record(db, [attemptOf(first!, RETRYING)]);
        await db.pool.query('UPDATE endpoints SET failing_since = NULL');
        const before = await getRetryingDelivery(db, first!.id, 0);
        await db.withTransaction((tx) => rearmDelivery(tx, first!.id, new Date()));
        const [after] = await claim(db, 1);
        const both = [attemptOf(before!, DEAD), attemptOf(after!, RETRYING)];
        for (const attempt of isOldFirst ? both : both.reverse()) await record(db, [attempt]);
        const { rows } = await db.pool.query('SELECT state, attempt_count, attempts_before_replay FROM deliveries');
        assert.deepEqual(rows, [{ state: 'retrying', attempt_count: 3, attempts_before_replay: 2 }]);
        const { rows: kept } = await db.pool.query('SELECT attempt_number FROM delivery_attempts ORDER BY 1');
        assert.deepEqual(
          kept.map((row: { attempt_number: number }) => row.attempt_number),
          [1, 2, 3],
        );
        assert.equal((await getRetryingDelivery(db, first!.id, 1))?.attemptCount, 3);
      });
    }

    it('goes by the one of after when both end at once', async () => {
      await makeCollection(db, merchantId, 'prompted');
      const [first] = await claim(db, 1);
      await record(db, [attemptOf(first!, RETRYING)]);
      await db.pool.query('UPDATE endpoints SET failing_since = NULL');
      const before = await getRetryingDelivery(db, first!.id, 0);
      await db.withTransaction((tx) => rearmDelivery(tx, first!.id, new Date()));
      const [after] = await claim(db, 1);
      await record(db, [attemptOf(before!, DEAD), attemptOf(after!, DELIVERED)]);
      assert.deepEqual(await states(), ['delivered']);
    });
  });

  it('is started as its own, also when the start of what was before is noted after it', async () => {
    await makeCollection(db, merchantId, 'prompted');
    const [first] = await claim(db, 1);
    await record(db, [attemptOf(first!, RETRYING)]);
    const unstarted = () => listUnstarted(db, 'delivery', new Date(Date.now() + 1000), 10);
    const old = await unstarted();
    await db.withTransaction((tx) => rearmDelivery(tx, first!.id, new Date()));
    await markStarted(db, 'delivery', old, new Date());
    await handOverDeliveries(db, 10);
    assert.deepEqual(
      (await unstarted()).map((work) => 'replayCount' in work && work.replayCount),
      [1],
    );
  });

  describe('an attempt that was under way when the endpoint was disabled', () => {
    for (const [next, state] of [
      [DELIVERED, 'delivered'],
      [RETRYING, 'withheld'],
      [DEAD, 'dead_lettered'],
    ] as const) {
      it(`makes it ${state} when it was to be ${next.state}`, async () => {
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
