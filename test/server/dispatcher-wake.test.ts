// Tests who wakes the dispatchers after a commit: its own process at once, or one notification at a time for those of others.
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { createDispatcherWake } from '../../src/server/dispatcher-wake.ts';
import { DELIVERIES_CHANNEL } from '../../src/server/open-databases.ts';
import { testLog } from '../support/engines.ts';
import { untilDelivery } from '../support/deliveries.ts';
import { pay } from '../support/payments.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const OPEN_PAYMENTS = { MALIPO_PROMPT_WINDOW_MS: '120000', MALIPO_POLL_SCHEDULE_MS: '120000' };

/** A wake whose notifications end when the test says so. */
function openWake() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const wake = createDispatcherWake({
    notify: () =>
      new Promise<void>((resolve, reject) => {
        ends.push({ resolve, reject });
      }),
    log: testLog,
  });
  return { wake, ends };
}
/** Everything that a promise's end causes. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the wake of the dispatchers', () => {
  it('calls the dispatcher of its own process at once, and sends no notification', () => {
    const { wake, ends } = openWake();
    let calls = 0;
    wake.serve(() => (calls += 1));
    wake.wake();
    wake.wake();
    assert.deepEqual([calls, ends.length], [2, 0]);
  });

  it('notifies those of other processes if its own has no dispatcher, or none any more', async () => {
    const { wake, ends } = openWake();
    wake.wake();
    assert.equal(ends.length, 1);
    ends[0]!.resolve();
    await settled();
    const endServing = wake.serve(() => assert.fail('it has stopped'));
    endServing();
    wake.wake();
    assert.equal(ends.length, 2);
  });

  it('has one notification in progress at a time, and one more for all that is recorded meanwhile', async () => {
    const { wake, ends } = openWake();
    for (let more = 0; more < 5; more++) wake.wake();
    assert.equal(ends.length, 1);
    ends[0]!.resolve();
    await settled();
    assert.equal(ends.length, 2);
    ends[1]!.resolve();
    await settled();
    assert.equal(ends.length, 2);
  });

  it('notifies again after a notification that failed', async () => {
    const { wake, ends } = openWake();
    wake.wake();
    ends[0]!.reject(new Error('the database is unavailable'));
    await settled();
    wake.wake();
    assert.equal(ends.length, 2);
  });

  it('waits at its close for the notification in progress, and begins no other', async () => {
    const { wake, ends } = openWake();
    wake.wake();
    wake.wake();
    let isClosed = false;
    const closing = wake.close().then(() => (isClosed = true));
    await settled();
    assert.equal(isClosed, false);
    ends[0]!.resolve();
    await closing;
    wake.wake();
    assert.equal(ends.length, 1);
  });
});

async function listenTo(testEnv: TestEnvironment): Promise<{ notified: string[]; client: Client }> {
  const notified: string[] = [];
  const client = new Client({ connectionString: testEnv.config.settings.MALIPO_DATABASE_URL.reveal() });
  await client.connect();
  client.on('notification', ({ channel }) => notified.push(channel));
  await client.query(`LISTEN ${DELIVERIES_CHANNEL}`);
  return { notified, client };
}

describe('a process without a dispatcher', () => {
  const testEnv = useTestEnvironment({ environment: { ...OPEN_PAYMENTS, MALIPO_ROLES: 'api,worker' } });

  it('notifies the dispatchers of deliveries that it recorded, and they send them', async () => {
    const { notified, client } = await listenTo(testEnv);
    await pay(testEnv, '010');
    await eventually('a notification', () => notified.length > 0);
    assert.deepEqual([...new Set(notified)], [DELIVERIES_CHANNEL]);
    await testEnv.startServer({ MALIPO_ROLES: 'dispatcher' });
    await untilDelivery(testEnv, testEnv.merchant, 'delivered');
    await client.end();
  });
});

describe('a process with a dispatcher', () => {
  const testEnv = useTestEnvironment({ environment: OPEN_PAYMENTS });

  it('sends the deliveries that it recorded, and sends no notification', async () => {
    const { notified, client } = await listenTo(testEnv);
    await pay(testEnv, '010');
    await untilDelivery(testEnv, testEnv.merchant, 'delivered');
    // What was notified before this statement comes with it.
    await client.query('SELECT 1');
    assert.deepEqual(notified, []);
    await client.end();
  });
});
