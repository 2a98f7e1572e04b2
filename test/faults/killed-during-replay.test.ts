// A server that is killed during a replay of many deliveries: the next one continues, and each is sent again once.
import assert from 'node:assert/strict';
import { makeBacklog } from '../../bench/backlog.ts';
import type { Person } from '../../src/domain/accounts/member.ts';
import { UNDELIVERED_STATES } from '../../src/domain/webhooks/replay.ts';
import { createReplay } from '../../src/operations/webhooks/replay-deliveries.ts';
import { getReplay } from '../../src/db/webhooks/replay.ts';
import { actedBy, makePerson } from '../db/payments/payout-rows.ts';
import { oneRow } from '../db/rows.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironmentPerCase } from '../support/use-test-environment.ts';
import { expireLeases } from '../support/payments.ts';
import { startServerChild } from '../support/server-child.ts';
import { backlogTarget } from '../support/deliveries.ts';

// More than one batch, the last one incomplete.
const EVENTS = 1200;

describe('a server that is killed while it replays', () => {
  const testEnv = useTestEnvironmentPerCase({ startsServer: false });
  let person: Person;
  beforeEach(async () => {
    person = await makePerson(testEnv.db, testEnv.merchant.id, ['owner']);
  });

  /** Creates many withheld deliveries for the merchant's endpoint. */
  async function createWithheldDeliveries(): Promise<void> {
    await makeBacklog(testEnv.db, [await backlogTarget(testEnv, testEnv.merchant.id)], { count: EVENTS });
    await testEnv.db.pool.query("UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL");
  }

  for (const moment of ['before', 'after'] as const) {
    it(`leaves a replay that the next server completes exactly once, when killed ${moment} a batch is recorded`, async () => {
      await createWithheldDeliveries();
      // Ids of this process may be slightly ahead of its clock.
      const madeBefore = new Date(Date.now() + 60_000);
      const filter = { endpointId: null, states: UNDELIVERED_STATES, madeFrom: null, madeBefore };
      const { id, total } = await createReplay(testEnv.db, { filter, by: actedBy(person), at: new Date() });
      assert.equal(total, EVENTS);
      const doomed = await startServerChild(testEnv, { crashPoint: { moment, commitOf: 'replay_record_progress' } });
      await doomed.dies();
      const broken = await getReplay(testEnv.db, testEnv.merchant.id, id);
      assert.deepEqual([broken.state, broken.replayed], ['running', moment === 'before' ? 0 : 500]);
      const again = await oneRow<{ count: number }>(
        testEnv.db,
        'SELECT count(*)::int AS count FROM deliveries WHERE replay_count > 0',
      );
      assert.equal(again.count, broken.replayed, 'the count matches the deliveries');
      await expireLeases(testEnv.db);
      await testEnv.startServer();
      const done = await eventually('the replay to be completed', async () => {
        const replay = await getReplay(testEnv.db, testEnv.merchant.id, id);
        return replay.state === 'completed' && replay;
      });
      assert.deepEqual([done.replayed, done.skipped], [EVENTS, 0]);
      await eventually(
        'all of it to be delivered',
        async () => {
          const sql = `SELECT count(*)::int AS count FROM deliveries WHERE state = 'delivered' AND replay_count = 1`;
          return (await oneRow<{ count: number }>(testEnv.db, sql)).count === EVENTS;
        },
        60_000,
      );
      const received = testEnv.receiver.all(testEnv.merchant.id);
      assert.equal(new Set(received.map(({ event }) => event.id)).size, EVENTS);
      assert.ok(received.every(({ isVerified }) => isVerified));
    });
  }
});
