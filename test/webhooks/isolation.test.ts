// Tests that no endpoint or merchant delays another: dead and slow receivers and bursts beside a healthy receiver.
import assert from 'node:assert/strict';
import { makeBacklog, type BacklogTarget } from '../../bench/backlog.ts';
import { eventually, PATIENT_ATTEMPTS, type TestEnvironment, type TestMerchant } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { countRows } from '../db/rows.ts';
import { backlogTarget } from '../support/deliveries.ts';

const EVENTS = 2000;
/** The last case also waits for what the burst before it left. */
const BURST_LIMIT_MS = 150_000;

const LIMITS = {
  MALIPO_DELIVERIES_UNDER_WAY: '120',
  MALIPO_DELIVERIES_PER_MERCHANT: '60',
  MALIPO_DELIVERIES_PER_ENDPOINT_MAX: '20',
};

type Target = BacklogTarget & { readonly merchant: TestMerchant };

async function addTarget(testEnv: TestEnvironment): Promise<Target> {
  const merchant = await testEnv.addMerchant();
  return { merchant, ...(await backlogTarget(testEnv, merchant.id)) };
}

const receivedFrom = (testEnv: TestEnvironment, { merchant }: Target) => testEnv.receiver.all(merchant.id).length;

describe('deliveries to a healthy endpoint', () => {
  const testEnv = useTestEnvironment({
    environment: {
      ...LIMITS,
      // A dead endpoint is detected within a second and retried soon: worse than in any real configuration.
      MALIPO_DELIVERY_TIMEOUT_MS: '1000',
      MALIPO_DELIVERY_SCHEDULE_MS: ['0', ...Array<string>(50).fill('1000')].join(','),
    },
  });

  const receivedBy = (target: Target) => receivedFrom(testEnv, target);

  /** Deliveries per second until the target has received all events. */
  async function rateOf(target: Target): Promise<number> {
    const before = receivedBy(target);
    const startedMs = performance.now();
    await makeBacklog(testEnv.db, [target], { count: EVENTS });
    await eventually('all events', () => receivedBy(target) >= before + EVENTS, BURST_LIMIT_MS);
    return (EVENTS * 1000) / (performance.now() - startedMs);
  }

  it('continue beside a dead endpoint with as many events', async () => {
    const [dead, healthy] = [await addTarget(testEnv), await addTarget(testEnv)];
    await rateOf(healthy);
    const alone = await rateOf(healthy);
    testEnv.receiver.answerWith(dead.merchant.id, () => undefined);
    await makeBacklog(testEnv.db, [dead], { count: EVENTS });
    await eventually('the dead endpoint to count as failing', async () => {
      return (
        (await countRows(testEnv.db, 'endpoints WHERE id = $1 AND failing_since IS NOT NULL', [dead.endpointId])) === 1
      );
    });
    const beside = await rateOf(healthy);
    console.log(
      `      throughput beside a dead endpoint / alone: ${(beside / alone).toFixed(2)}` +
        ` (${beside.toFixed(0)} / ${alone.toFixed(0)} per second)`,
    );
    const { rows } = await testEnv.db.pool.query<{ open: number }>(
      "SELECT count(*)::int AS open FROM deliveries WHERE endpoint_id = $1 AND state IN ('pending', 'retrying')",
      [dead.endpointId],
    );
    assert.equal(rows[0]?.open, EVENTS, 'the dead endpoint accepted nothing');
  });
});

describe('deliveries to a healthy endpoint beside others that answer', () => {
  const testEnv = useTestEnvironment({ environment: { ...LIMITS, ...PATIENT_ATTEMPTS } });
  const receivedBy = (target: Target) => receivedFrom(testEnv, target);

  it('arrive while slow endpoints of other merchants have more waiting than may be in flight', async () => {
    const slow = [await addTarget(testEnv), await addTarget(testEnv), await addTarget(testEnv)];
    const held: (() => void)[] = [];
    for (const { merchant } of slow) {
      testEnv.receiver.answerWith(merchant.id, (_received, response) => {
        held.push(() => response.writeHead(200).end());
      });
    }
    await makeBacklog(testEnv.db, slow, { count: 3 * 400 });
    await eventually('the slow endpoints to receive events', () => slow.every((target) => receivedBy(target) >= 20));
    const healthy = await addTarget(testEnv);
    await makeBacklog(testEnv.db, [healthy], { count: 50 });
    await eventually('the healthy endpoint to receive all events', () => receivedBy(healthy) >= 50);
    for (const target of slow) assert.ok(receivedBy(target) < 400, 'the slow endpoints still have a backlog');
    for (const { merchant } of slow) testEnv.receiver.answerWith(merchant.id, null);
    for (const answer of held) answer();
  });

  it('do not wait for an earlier burst of 10,000 events of another merchant', async () => {
    const [burst, healthy] = [await addTarget(testEnv), await addTarget(testEnv)];
    testEnv.receiver.answerWith(burst.merchant.id, (_received, response) => {
      setTimeout(() => response.writeHead(200).end(), 20);
    });
    await makeBacklog(testEnv.db, [burst], { count: 10_000 });
    await makeBacklog(testEnv.db, [healthy], { count: 20 });
    await eventually('the other merchant to receive all events', () => receivedBy(healthy) >= 20);
    const ahead = receivedBy(burst);
    assert.ok(ahead < 5000, `${ahead} of the burst came first`);
  });

  it('stay within the limit of concurrent attempts', async () => {
    const target = await addTarget(testEnv);
    let [now, most] = [0, 0];
    testEnv.receiver.answerWith(target.merchant.id, (_received, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.writeHead(200).end();
      }, 30);
    });
    await makeBacklog(testEnv.db, [target], { count: 300 });
    await eventually('all events', () => receivedBy(target) >= 300, BURST_LIMIT_MS);
    assert.ok(most <= 20, `${most} at once`);
    assert.ok(most > 1, 'the attempts were not concurrent');
  });
});

describe('a retry', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_DELIVERIES_UNDER_WAY: '4',
      // The dead endpoint holds a place so long that the other retry has many times what it needs.
      MALIPO_DELIVERY_TIMEOUT_MS: '2000',
      MALIPO_DELIVERY_SCHEDULE_MS: ['0', ...Array<string>(50).fill('600000')].join(','),
    },
  });

  it('does not wait for many earlier retries of a dead endpoint', async () => {
    const DEAD = 40;
    const [dead, healthy] = [await addTarget(testEnv), await addTarget(testEnv)];
    testEnv.receiver.answerWith(dead.merchant.id, () => undefined);
    await makeBacklog(testEnv.db, [dead], { count: DEAD, state: 'retrying' });
    await eventually('the retries to be in flight', () => testEnv.receiver.all(dead.merchant.id).length >= 4);
    await makeBacklog(testEnv.db, [healthy], { count: 1, state: 'retrying' });
    await eventually('the other retry to arrive', () => testEnv.receiver.all(healthy.merchant.id).length === 1);
    const before = testEnv.receiver.all(dead.merchant.id).length;
    assert.ok(before < DEAD - 10, `${before} of the dead endpoint's came first`);
  });
});
