// The cost of a backlog in calls to Temporal: each workflow is started once, and then only checked, in batches.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createLateWorkChecks } from '../../src/dispatcher/late-work.ts';
import { createWorkStarter } from '../../src/dispatcher/work-starter.ts';
import { REAL_CLOCKS } from '../../src/domain/clocks.ts';
import { createTemporalClient, type TemporalClient } from '../../src/temporal/client.ts';
import { makeCollection, makeMerchant } from '../db/rows.ts';
import { useDatabase } from '../db/use-database.ts';
import { NAMESPACE, prepareRuntime, temporal, testLog } from '../support/engines.ts';
import { setWork } from '../db/work-rows.ts';

const BACKLOG = 120;
const ROUNDS = 5;
const CHECKS_PER_PASS = 100;

describe('a backlog that waits for workers', () => {
  const db = useDatabase();
  let client: TemporalClient;

  before(async () => {
    await prepareRuntime();
    client = createTemporalClient({
      target: { address: (await temporal()).address },
      namespace: NAMESPACE,
      // Nobody works on this queue.
      taskQueuePrefix: `t-${randomBytes(5).toString('hex')}`,
      workflowTaskTimeoutMs: 10_000,
      callTimeoutMs: 30_000,
      log: testLog,
    });
    await client.whenConnected();
  });
  after(() => client.close());

  it('is started with one call each, and is not offered again while its workflows are open', async () => {
    const merchantId = await makeMerchant(db);
    for (let i = 0; i < BACKLOG; i++) await makeCollection(db, merchantId);
    const calls = { start: 0, inspect: 0, terminate: 0 };
    const counted: TemporalClient = {
      ...client,
      start(work) {
        calls.start += 1;
        return client.start(work);
      },
      inspect(work) {
        calls.inspect += 1;
        return client.inspect(work);
      },
      terminate(...args) {
        calls.terminate += 1;
        return client.terminate(...args);
      },
    };
    const options = { db, temporal: counted, clocks: REAL_CLOCKS, startGraceMs: 1, log: testLog };
    const starter = createWorkStarter({ ...options, batchSize: 50, maxInFlight: 50 });
    const checks = createLateWorkChecks({ ...options, onLost: () => undefined });
    const startAll = async () => {
      while ((await starter.startRecorded()) > 0);
    };
    await startAll();
    assert.deepEqual(calls, { start: BACKLOG, inspect: 0, terminate: 0 });
    for (let round = 0; round < ROUNDS; round++) {
      await setWork(db, "due_at = now() - interval '1 hour'");
      assert.equal(await checks.check(), 0);
      await startAll();
    }
    assert.deepEqual(calls, { start: BACKLOG, inspect: CHECKS_PER_PASS * ROUNDS, terminate: 0 });
    await starter.drain();
  });
});
