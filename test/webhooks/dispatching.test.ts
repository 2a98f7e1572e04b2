// Tests who sends what: the dispatcher makes first attempts, workflows make the others, and no receiver delays another.
import assert from 'node:assert/strict';
import { setWork } from '../db/work-rows.ts';
import { deliveryWorkflowId } from '../../src/temporal/workflow-ids.ts';
import {
  addEndpoint,
  attemptsOf,
  deliveriesOf,
  hasWorkflow,
  untilDelivery,
  type StoredDelivery,
} from '../support/deliveries.ts';
import { temporalClient } from '../support/engines.ts';
import { eventually, PATIENT_ATTEMPTS, type TestEnvironment, type TestMerchant } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { pay } from '../support/payments.ts';

const OPEN_PAYMENTS = {
  MALIPO_PROMPT_WINDOW_MS: '120000',
  MALIPO_POLL_SCHEDULE_MS: '120000',
  ...PATIENT_ATTEMPTS,
};

async function untilReceived(testEnv: TestEnvironment, { id }: TestMerchant, count: number): Promise<void> {
  await eventually(`${count} events`, () => testEnv.receiver.all(id).length >= count);
}

async function isFailing(testEnv: TestEnvironment, { id }: TestMerchant): Promise<boolean> {
  const { rows } = await testEnv.db.pool.query<{ is_failing: boolean }>(
    'SELECT failing_since IS NOT NULL AS is_failing FROM endpoints WHERE merchant_id = $1',
    [id],
  );
  return rows[0]!.is_failing;
}

// Long enough that a refused event is still being retried when the test checks.
const SCHEDULE_MS = ['0', ...Array.from({ length: 30 }, () => '300')].join(',');

describe('the dispatcher', () => {
  const testEnv = useTestEnvironment({
    environment: {
      ...OPEN_PAYMENTS,
      MALIPO_DELIVERIES_UNDER_WAY: '4',
      MALIPO_DELIVERY_SCHEDULE_MS: SCHEDULE_MS,
    },
  });

  it('starts no workflow for an event that is accepted at once', async () => {
    await pay(testEnv, '010');
    const delivery = await untilDelivery(testEnv, testEnv.merchant, 'delivered');
    assert.equal(await hasWorkflow(delivery.id), false);
  });

  it('leaves the events of a failing endpoint to workflows, until one is accepted', async () => {
    const merchant = await testEnv.addMerchant();
    const refused = new Set<string>();
    testEnv.receiver.answerWith(merchant.id, ({ event }, response) => {
      if (refused.size === 0) refused.add(event.id);
      response.writeHead(refused.has(event.id) ? 500 : 200).end();
    });
    await pay(testEnv, '010', { merchant });
    await eventually('the endpoint to count as failing', () => isFailing(testEnv, merchant));
    const second = await nextDelivered(merchant, 1);
    assert.equal(await hasWorkflow(second.id), true);
    assert.equal((await attemptsOf(testEnv.db, second.id)).length, 1);

    testEnv.receiver.answerWith(merchant.id, null);
    await eventually('the first to be delivered too', async () => {
      const [first] = await deliveriesOf(testEnv.db, merchant);
      return first?.state === 'delivered' && !(await isFailing(testEnv, merchant));
    });
    const third = await nextDelivered(merchant, 2);
    assert.equal(await hasWorkflow(third.id), false);
  });

  /** Creates an event and waits until it is delivered; `index` is its position among the merchant's deliveries. */
  async function nextDelivered(merchant: TestMerchant, index: number): Promise<StoredDelivery> {
    await pay(testEnv, '010', { merchant });
    return eventually('the event to be delivered', async () => {
      const delivery = (await deliveriesOf(testEnv.db, merchant))[index];
      return delivery?.state === 'delivered' && delivery;
    });
  }

  it('sends one event to each of a merchant’s endpoints', async () => {
    const merchant = await testEnv.addMerchant();
    await addEndpoint(testEnv, merchant, testEnv.receiver.urlFor(`${merchant.id}-second`));
    await pay(testEnv, '010', { merchant });
    await untilReceived(testEnv, merchant, 1);
    const [other] = await eventually('the other endpoint', () => {
      const received = testEnv.receiver.all(`${merchant.id}-second`);
      return received.length > 0 && received;
    });
    assert.equal(other?.event.id, testEnv.receiver.all(merchant.id)[0]?.event.id);
  });
});

describe('the dispatcher whose attempts have little time', () => {
  const testEnv = useTestEnvironment({
    environment: {
      ...OPEN_PAYMENTS,
      MALIPO_DELIVERIES_UNDER_WAY: '4',
      MALIPO_DELIVERY_SCHEDULE_MS: SCHEDULE_MS,
      MALIPO_DELIVERY_TIMEOUT_MS: '500',
    },
  });

  it('is not delayed by an endpoint that never answers', async () => {
    const [stuck, healthy] = [await testEnv.addMerchant(), await testEnv.addMerchant()];
    testEnv.receiver.answerWith(stuck.id, () => undefined);
    // More than may be in flight at once.
    await Promise.all(Array.from({ length: 12 }, () => pay(testEnv, '010', { merchant: stuck })));
    await pay(testEnv, '010', { merchant: healthy });
    await untilReceived(testEnv, healthy, 1);
    // Its first attempts may time out only after the event of the healthy one has arrived.
    await eventually('the other to be failing', () => isFailing(testEnv, stuck));
  });
});

describe('two dispatchers on one database', () => {
  const testEnv = useTestEnvironment({ environment: OPEN_PAYMENTS });
  before(async () => {
    await testEnv.startServer({ MALIPO_ROLES: 'dispatcher' });
    await testEnv.startServer({ MALIPO_ROLES: 'dispatcher' });
  });

  it('send each event once when nothing fails', async () => {
    const EVENTS = 60;
    const merchant = await testEnv.addMerchant();
    testEnv.receiver.answerWith(merchant.id, (_received, response) => {
      setTimeout(() => response.writeHead(200).end(), 50);
    });
    await Promise.all(Array.from({ length: EVENTS }, () => pay(testEnv, '010', { merchant })));
    await eventually('all to be delivered', async () => {
      const deliveries = await deliveriesOf(testEnv.db, merchant);
      return deliveries.length === EVENTS && deliveries.every(({ state }) => state === 'delivered');
    });
    const ids = testEnv.receiver.all(merchant.id).map(({ event }) => event.id);
    assert.equal(ids.length, EVENTS);
    assert.equal(new Set(ids).size, EVENTS);
  });
});

describe('a delivery whose workflow was terminated manually', () => {
  const testEnv = useTestEnvironment({
    environment: {
      ...OPEN_PAYMENTS,
      // No second attempt before the test makes it due.
      MALIPO_DELIVERY_SCHEDULE_MS: '0,600000,50',
      MALIPO_STALE_AFTER_MS: '100',
    },
  });

  it('gets a new workflow when its next attempt is overdue, and is delivered once', async () => {
    const { merchant, receiver } = testEnv;
    receiver.answerWith(merchant.id, (_received, response) => response.writeHead(500).end());
    await pay(testEnv, '010');
    const delivery = await untilDelivery(testEnv, merchant, 'retrying');
    await eventually('its workflow', () => hasWorkflow(delivery.id));
    const client = await temporalClient();
    await client.workflow.getHandle(deliveryWorkflowId(delivery.id)).terminate('terminated by the test');
    assert.equal(receiver.all(merchant.id).length, 1);
    receiver.answerWith(merchant.id, null);
    await testEnv.db.pool.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [delivery.id]);
    await setWork(testEnv.db, 'due_at = now()', 'id = $1', [delivery.id]);
    await untilDelivery(testEnv, merchant, 'delivered');
    assert.equal(receiver.all(merchant.id).length, 2);
  });
});
