// Tests deliveries: claimed by one dispatcher at a time under a lease, with each attempt recorded once.
import assert from 'node:assert/strict';
import { escalateDeliveries, findRetryingDelivery, type DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import { disableEndpoints, lockMerchant, setEndpointsFailing } from '../../../src/db/webhooks/endpoint.ts';
import type { AttemptResult, NextStep } from '../../../src/domain/webhooks/delivery.ts';
import type { EndpointId, MerchantId } from '../../../src/domain/ids.ts';
import { open } from '../../../src/security/sealing.ts';
import type { DeliveryAttempt } from '../../../src/operations/webhooks/record-delivery-attempts.ts';
import { registerEndpoint } from '../../../src/operations/webhooks/register-endpoint.ts';
import { claim, record } from './deliveries.ts';
import { KEY_RING, makeCollection, makeEndpoint, makeMerchant, oneRow, allRows, inOpenTransaction } from '../rows.ts';
import { valuesOf } from '../../support/values-of.ts';
import { useDatabasePerCase } from '../use-database.ts';

const DELIVERED: NextStep = { state: 'delivered' };
const RETRYING: NextStep = { state: 'retrying', delayMs: 5000 };

function attemptOf(delivery: DueDelivery, statusCode: number, next: NextStep, attemptNumber = 1): DeliveryAttempt {
  const result: AttemptResult = {
    kind: 'answered',
    statusCode,
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from('ok'),
    retryAfterMs: null,
  };
  const attempt = { startedAt: new Date(), durationMs: 12, result };
  return { ...delivery, attemptNumber, attempt, next, at: new Date() };
}

describe('deliveries', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;
  let endpointId: EndpointId;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
    endpointId = await makeEndpoint(db, merchantId);
  });

  /** Creates `count` pending deliveries, each of a payment of its own. */
  async function createPending(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => makeCollection(db, merchantId, 'prompted')));
  }
  const rowOf = (id: string) =>
    oneRow<{ state: string; attempt_count: number; leased_until: Date | null; next_attempt_at: Date | null }>(
      db,
      'SELECT state, attempt_count, leased_until, next_attempt_at FROM deliveries WHERE id = $1',
      [id],
    );
  const claimOne = async () => {
    const [delivery] = await claim(db, 1);
    assert.ok(delivery);
    return delivery;
  };
  const claimNew = async (count: number) => {
    await createPending(count);
    return claim(db, count);
  };
  const claimNewOne = async () => {
    await createPending(1);
    return claimOne();
  };

  it('are claimed with everything that an attempt needs', async () => {
    const delivery = await claimNewOne();
    const event = await oneRow<{ id: string; body: string }>(db, 'SELECT id, body FROM events');
    assert.equal(delivery.body, event.body);
    assert.equal(delivery.eventId, event.id);
    assert.deepEqual([delivery.merchantId, delivery.endpointId, delivery.attemptCount], [merchantId, endpointId, 0]);
    assert.equal(delivery.url, 'https://merchant.example/hook');
    assert.match(open(delivery.secretsSealed[0], endpointId, KEY_RING), /^whsec_/);
  });

  it('are never claimed by two dispatchers at the same time', async () => {
    await createPending(60);
    const claims = await Promise.all(Array.from({ length: 12 }, () => claim(db, 10)));
    const ids = claims.flat().map(({ id }) => id);
    assert.equal(ids.length, 60);
    assert.equal(new Set(ids).size, 60);
    assert.deepEqual(await claim(db, 10), []);
  });

  it('are claimed past rows that another transaction is changing', async () => {
    await createPending(3);
    await inOpenTransaction(db, async (client) => {
      const { rows } = await client.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id LIMIT 1 FOR UPDATE');
      const claimed = (await claim(db, 10)).map(({ id }) => id);
      assert.equal(claimed.length, 2);
      assert.ok(!claimed.includes(rows[0]!.id as DueDelivery['id']));
    });
  });

  it('are claimed oldest first, up to the limit', async () => {
    await createPending(5);
    const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM deliveries ORDER BY id');
    const claimed = (await claim(db, 3)).map(({ id }) => id);
    assert.deepEqual(claimed.sort(), valuesOf(rows.slice(0, 3), 'id'));
  });

  it('can be claimed again when their lease has expired, and not before', async () => {
    const delivery = await claimNewOne();
    assert.deepEqual(await claim(db, 1), []);
    await db.pool.query("UPDATE deliveries SET leased_until = now() - interval '1 ms'");
    assert.equal((await claimOne()).id, delivery.id);
  });

  it('are not claimed while their endpoint is failing, but escalated to workflows up to a limit', async () => {
    await createPending(3);
    await setEndpointsFailing(db, [endpointId], new Date());
    assert.deepEqual(await claim(db, 10), []);
    assert.equal(await escalateDeliveries(db, 2), 2);
    assert.deepEqual(
      await allRows(db, 'SELECT state, leased_until FROM deliveries ORDER BY id'),
      ['retrying', 'retrying', 'pending'].map((state) => ({ state, leased_until: null })),
    );
    assert.equal(await escalateDeliveries(db, 2), 1);
    assert.equal(await escalateDeliveries(db, 2), 0);
  });

  it('notify nobody in their transaction, which would have to wait for others to commit', async () => {
    const notified: string[] = [];
    const client = await db.pool.connect();
    client.on('notification', ({ channel }) => notified.push(channel));
    await client.query('LISTEN malipo_deliveries');
    await createPending(1);
    await client.query('SELECT 1');
    assert.deepEqual(notified, []);
    client.release(true);
  });

  describe('after an attempt', () => {
    it('are delivered, and the attempt is stored', async () => {
      const delivery = await claimNewOne();
      await record(db, [attemptOf(delivery, 200, DELIVERED)]);
      assert.deepEqual(await rowOf(delivery.id), {
        state: 'delivered',
        attempt_count: 1,
        leased_until: null,
        next_attempt_at: null,
      });
      const stored = await oneRow<Record<string, unknown>>(db, 'SELECT * FROM delivery_attempts');
      assert.equal(stored['status_code'], 200);
      assert.deepEqual(stored['response_headers'], { 'content-type': 'text/plain' });
      assert.deepEqual(stored['response_body'], Buffer.from('ok'));
    });

    it('are owed another attempt at the decided time', async () => {
      const delivery = await claimNewOne();
      const attempt = attemptOf(delivery, 500, RETRYING);
      await record(db, [attempt]);
      const { state, next_attempt_at } = await rowOf(delivery.id);
      assert.equal(state, 'retrying');
      assert.equal(next_attempt_at?.getTime(), attempt.at.getTime() + 5000);
      assert.equal((await findRetryingDelivery(db, delivery.id, 0))?.attemptCount, 1);
    });

    it('have the error stored when there was no response', async () => {
      const delivery = await claimNewOne();
      const base = attemptOf(delivery, 500, RETRYING);
      const result: AttemptResult = { kind: 'no_answer', error: 'connection refused' };
      await record(db, [{ ...base, attempt: { ...base.attempt, result } }]);
      const stored = await oneRow<Record<string, unknown>>(db, 'SELECT * FROM delivery_attempts');
      assert.deepEqual([stored['status_code'], stored['error']], [null, 'connection refused']);
    });

    it('keep the state of the first record when the attempt is recorded again', async () => {
      const delivery = await claimNewOne();
      await record(db, [attemptOf(delivery, 200, DELIVERED)]);
      await record(db, [attemptOf(delivery, 500, RETRYING)]);
      assert.equal((await rowOf(delivery.id)).state, 'delivered');
      assert.equal(
        (await oneRow<{ status_code: number }>(db, 'SELECT status_code FROM delivery_attempts')).status_code,
        200,
      );
    });

    it('keep the state of the first of two records in one batch', async () => {
      const deliveries = await claimNew(10);
      const firsts = deliveries.map((delivery) => attemptOf(delivery, 200, DELIVERED));
      const seconds = deliveries.map((delivery) => attemptOf(delivery, 500, RETRYING));
      await record(db, [...firsts, ...seconds]);
      const { rows } = await db.pool.query(
        'SELECT DISTINCT state, status_code FROM deliveries JOIN delivery_attempts ON delivery_id = id',
      );
      assert.deepEqual(rows, [{ state: 'delivered', status_code: 200 }]);
    });

    it('take the state of one of two records made at the same time', async () => {
      const deliveries = await claimNew(20);
      const [one, two] = [deliveries, [...deliveries].reverse()];
      await Promise.all([
        record(
          db,
          one.map((delivery) => attemptOf(delivery, 200, DELIVERED)),
        ),
        record(
          db,
          two.map((delivery) => attemptOf(delivery, 500, RETRYING)),
        ),
      ]);
      const { rows } = await db.pool.query<{ state: string; status_code: number; attempt_count: number }>(
        'SELECT state, attempt_count, status_code FROM deliveries JOIN delivery_attempts ON delivery_id = id',
      );
      assert.equal(rows.length, 20);
      for (const row of rows) {
        assert.equal(row.state, row.status_code === 200 ? 'delivered' : 'retrying');
        assert.equal(row.attempt_count, 1);
      }
    });

    it('do not record a third attempt before the second', async () => {
      const delivery = await claimNewOne();
      await record(db, [attemptOf(delivery, 500, RETRYING)]);
      await record(db, [attemptOf(delivery, 200, DELIVERED, 3)]);
      assert.deepEqual([(await rowOf(delivery.id)).state, (await rowOf(delivery.id)).attempt_count], ['retrying', 1]);
    });
  });

  describe('results of attempts', () => {
    const endpoint = () =>
      oneRow<{ state: string; is_failing: boolean; reason: string | null }>(
        db,
        'SELECT state, failing_since IS NOT NULL AS is_failing, disabled_reason AS reason FROM endpoints WHERE id = $1',
        [endpointId],
      );

    it('mark the endpoint as failing after a failure, and as healthy after a success', async () => {
      const [first, second] = await claimNew(2);
      await record(db, [attemptOf(first!, 500, RETRYING)]);
      assert.equal((await endpoint()).is_failing, true);
      await record(db, [{ ...attemptOf(second!, 200, DELIVERED), isEndpointFailing: true }]);
      assert.equal((await endpoint()).is_failing, false);
    });

    it('mark the endpoint as healthy when one of a batch succeeds', async () => {
      const [first, second] = await claimNew(2);
      await record(db, [attemptOf(first!, 200, DELIVERED), attemptOf(second!, 500, RETRYING)]);
      assert.equal((await endpoint()).is_failing, false);
    });

    it('mark the endpoint as healthy after a success that began before another attempt failed', async () => {
      const [first, second] = await claimNew(2);
      await record(db, [attemptOf(first!, 500, RETRYING)]);
      await record(db, [attemptOf(second!, 200, DELIVERED)]);
      assert.equal((await endpoint()).is_failing, false);
    });

    it('disable the endpoint when it answers 410', async () => {
      await createPending(1);
      const gone: NextStep = { state: 'dead_lettered', disableEndpoint: true };
      const disabled = await record(db, [attemptOf(await claimOne(), 410, gone)]);
      assert.deepEqual(disabled, [{ id: endpointId, merchantId, reason: 'answered_gone' }]);
      assert.deepEqual(await endpoint(), { state: 'disabled', is_failing: true, reason: 'answered_gone' });
    });

    it('neither mark nor disable the endpoint when they come from its previous URL', async () => {
      const [first, second] = await claimNew(2);
      await db.pool.query("UPDATE endpoints SET url = 'https://merchant.example/new'");
      const gone: NextStep = { state: 'dead_lettered', disableEndpoint: true };
      assert.deepEqual(await record(db, [attemptOf(first!, 410, gone)]), []);
      await record(db, [attemptOf(second!, 500, RETRYING)]);
      assert.deepEqual(await endpoint(), { state: 'enabled', is_failing: false, reason: null });
      assert.equal((await rowOf(first!.id)).state, 'dead_lettered');
    });

    it('disable the endpoint when every attempt has failed for the limit, with an entry in the audit log', async () => {
      const [first, second] = await claimNew(2);
      const dayMs = 86_400_000;
      const began = new Date();
      const limits = { failingLimitMs: 5 * dayMs };
      await record(db, [attemptOf(first!, 500, RETRYING)], { ...limits, at: began });
      const almost = new Date(began.getTime() + 5 * dayMs - 1);
      await record(db, [attemptOf(first!, 500, RETRYING, 2)], { ...limits, at: almost });
      assert.equal((await endpoint()).state, 'enabled');
      const then = new Date(began.getTime() + 5 * dayMs);
      const disabled = await record(db, [attemptOf(second!, 500, RETRYING)], { ...limits, at: then });
      assert.deepEqual(disabled, [{ id: endpointId, merchantId, reason: 'failing' }]);
      assert.equal((await endpoint()).reason, 'failing');
      const entry = await oneRow<Record<string, unknown>>(db, 'SELECT * FROM audit_entries');
      assert.deepEqual(
        [entry['merchant_id'], entry['user_id'], entry['action'], entry['subject_id'], entry['after']],
        [merchantId, null, 'endpoint.disabled', endpointId, { state: 'disabled', disabled_reason: 'failing' }],
      );
    });

    it('do not disable the endpoint while an attempt succeeds now and then', async () => {
      const [first, second, third] = await claimNew(3);
      const at = (days: number) => ({ failingLimitMs: 5 * 86_400_000, at: new Date(Date.now() + days * 86_400_000) });
      await record(db, [attemptOf(first!, 500, RETRYING)], at(0));
      await record(db, [{ ...attemptOf(second!, 200, DELIVERED), isEndpointFailing: true }], at(3));
      await record(db, [attemptOf(third!, 500, RETRYING)], at(6));
      assert.equal((await endpoint()).state, 'enabled');
    });
  });

  describe('when an event is recorded', () => {
    const targets = async () =>
      (await allRows<{ endpoint_id: string }>(db, 'SELECT endpoint_id FROM deliveries')).map((row) => row.endpoint_id);

    it('are created for each endpoint of the merchant that selects the type, withheld when it is disabled, and for no others', async () => {
      const at = new Date();
      const input = { merchantId, url: 'https://merchant.example/2', description: null, keyRing: KEY_RING, at };
      const selecting = await registerEndpoint(db, { ...input, eventTypes: ['collection.prompted'] });
      await registerEndpoint(db, { ...input, eventTypes: ['collection.succeeded'] });
      const disabled = await registerEndpoint(db, { ...input, eventTypes: null });
      await disableEndpoints(db, [disabled.id], { reason: 'by_person', at });
      const deleted = await registerEndpoint(db, { ...input, eventTypes: null });
      await db.pool.query(
        `UPDATE endpoints SET state = 'disabled', disabled_reason = 'deleted', disabled_at = now(), deleted_at = now(),
           secret_sealed = NULL WHERE id = $1`,
        [deleted.id],
      );
      await makeEndpoint(db, await makeMerchant(db));
      await createPending(1);
      assert.deepEqual((await targets()).sort(), [endpointId, selecting.id, disabled.id].sort());
      const { rows } = await db.pool.query("SELECT endpoint_id FROM deliveries WHERE state = 'withheld'");
      assert.deepEqual(rows, [{ endpoint_id: disabled.id }]);
    });

    it('are created for at most sixteen endpoints, the limit per merchant, however many register at once', async () => {
      const register = () => makeEndpoint(db, merchantId);
      const results = await Promise.allSettled(Array.from({ length: 20 }, register));
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 15);
      for (const result of results) {
        if (result.status === 'rejected') assert.match(String(result.reason), /can have 16 endpoints/);
      }
      await createPending(1);
      assert.equal((await targets()).length, 16);
    });

    it('are created without waiting for a transaction that counts the merchant’s endpoints or deliveries', async () => {
      await db.withTransaction(async (tx) => {
        await lockMerchant(tx, merchantId);
        await createPending(1);
      });
      assert.equal((await targets()).length, 1);
    });
  });
});
