// A server that is killed around the commit of a request, while a payer decides, or around a webhook.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DeliveryId } from '../../src/domain/ids.ts';
import { call, collectionFields } from '../support/api.ts';
import { attemptsOf, untilDelivery } from '../support/deliveries.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useTestEnvironmentPerCase } from '../support/use-test-environment.ts';
import {
  availableBalance,
  expireLeases,
  pay,
  phoneFor,
  promptsRaised,
  transitionsOf,
  untilAllReceived,
  untilState,
} from '../support/payments.ts';
import type { ReceivedWebhook } from '../support/receiver.ts';
import { startServerChild } from '../support/server-child.ts';
import { inOwnEnvironment, testConcurrently } from './crash-survival.ts';
import { valuesOf } from '../support/values-of.ts';

const PAID = ['initiated > prompted', 'prompted > succeeded'];

function optionsWith(environment: Readonly<Record<string, string>> = {}) {
  return {
    startsServer: false,
    environment: { MALIPO_PROMPT_WINDOW_MS: '30000', MALIPO_OPERATOR_TIMEOUT_MS: '3000', ...environment },
    sandboxTimes: { decisionMs: 1000 },
  };
}

/**
 * The second request is the same event, delivery and attempt as the first, with the same bytes and a valid signature.
 */
function assertIsRepetition(second: ReceivedWebhook | undefined, first: ReceivedWebhook | undefined): void {
  assert.deepEqual(second!.rawBody, first!.rawBody);
  for (const name of ['malipo-event-id', 'malipo-delivery-id', 'malipo-attempt'] as const) {
    assert.equal(second!.headers[name], first!.headers[name]);
  }
  assert.ok(second!.isVerified);
}

/** Attempt 1 got a 500, attempt 2 a 200. */
async function assertTwoAttempts({ db }: TestEnvironment, deliveryId: DeliveryId): Promise<void> {
  const attempts = await attemptsOf(db, deliveryId);
  assert.deepEqual(
    attempts.map(({ number, status }) => [number, status]),
    [
      [1, 500],
      [2, 200],
    ],
  );
}

describe('a server that is killed around the commit of a request', () => {
  const testEnv = useTestEnvironmentPerCase(optionsWith());
  const body = collectionFields({ phone: phoneFor('000') });

  const post = (idempotencyKey: string) =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key: testEnv.merchant.key, idempotencyKey, json: body });

  async function collections(): Promise<string[]> {
    const { rows } = await testEnv.db.pool.query<{ id: string }>('SELECT id FROM collections');
    return rows.map(({ id }) => id);
  }

  it('leaves a recorded payment to the next server when killed right after the commit', async () => {
    const doomed = await startServerChild(testEnv, { crashPoint: { moment: 'after', commitOf: 'collection_insert' } });
    const idempotencyKey = randomUUID();
    await assert.rejects(post(idempotencyKey));
    await doomed.dies();
    const [id, ...others] = await collections();
    assert.deepEqual([typeof id, others], ['string', []]);

    await testEnv.startServer();
    const repeated = await post(idempotencyKey);
    assert.deepEqual([repeated.status, repeated.json['id']], [202, id]);
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    const available = () => availableBalance(testEnv, testEnv.merchant);
    await eventually('the payment to succeed', async () => (await available()) === body['amount']);
    assert.equal(await promptsRaised(testEnv, String(body['phone'])), 1);
    assert.deepEqual(await collections(), [id]);
  });

  it('records nothing when killed right before the commit, and the same key creates the payment', async () => {
    const doomed = await startServerChild(testEnv, { crashPoint: { moment: 'before', commitOf: 'collection_insert' } });
    const idempotencyKey = randomUUID();
    await assert.rejects(post(idempotencyKey));
    await doomed.dies();
    assert.deepEqual(await collections(), []);

    await testEnv.startServer();
    const repeated = await post(idempotencyKey);
    assert.deepEqual([repeated.status, repeated.headers.get('idempotent-replayed')], [202, null]);
    assert.deepEqual(await collections(), [repeated.json['id']]);
  });
});

describe('a server that is killed while a payer decides or a webhook is sent', () => {
  const testEnv = useTestEnvironmentPerCase(optionsWith());

  it('misses the callback, and the next server queries the outcome', async () => {
    const doomed = await startServerChild(testEnv);
    const payment = await pay(testEnv, '008');
    await untilState(testEnv, payment, 'prompted');
    await doomed.kill();
    await eventually('the payer to decide meanwhile', async () => {
      const response = await fetch(`${testEnv.sandbox.url}/sandbox/transactions?phone=${payment.phone}`);
      const [transaction] = (await response.json()) as { state: string; callbacksSent: number }[];
      return transaction?.state === 'SUCCESSFUL' && transaction.callbacksSent === 3;
    });
    await expireLeases(testEnv.db);
    await testEnv.startServer();
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });

  it('sends the same bytes again, with the same attempt number, when killed before the attempt is recorded', async () => {
    const { merchant, receiver } = testEnv;
    const doomed = await startServerChild(testEnv);
    // No response: the server dies before it can record anything.
    receiver.answerWith(merchant.id, () => void doomed.kill());
    const payment = await pay(testEnv, '010');
    await doomed.exited;
    receiver.answerWith(merchant.id, null);
    assert.equal(receiver.all(merchant.id).length, 1);

    await expireLeases(testEnv.db);
    await testEnv.startServer();
    const [first, second] = await eventually('the event to come again', () => {
      const received = receiver.all(merchant.id).filter(({ event }) => event.type === 'collection.prompted');
      return received.length > 1 && received;
    });
    assertIsRepetition(second, first);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID.slice(0, 1));
  });
});

describe('a server that is killed around a further attempt of a delivery', () => {
  // Both at once: they wait until the attempt of the dead server counts as lost.
  const cases = (['before', 'after'] as const).map((moment) => ({
    title: `leaves a delivery that arrives, with no attempt recorded twice, when killed ${moment} the attempt`,
    moment,
  }));
  testConcurrently(cases, 2, ({ moment }) =>
    inOwnEnvironment(optionsWith(), async (testEnv) => {
      const { merchant, receiver } = testEnv;
      const doomed = await startServerChild(testEnv, { crashPoint: { moment, activity: 'sendDelivery' } });
      let requests = 0;
      receiver.answerWith(merchant.id, (_received, response) => {
        requests += 1;
        response.writeHead(requests === 1 ? 500 : 200).end();
      });
      await pay(testEnv, '010');
      await doomed.dies();
      assert.equal(requests, moment === 'before' ? 1 : 2);

      await testEnv.startServer();
      const delivery = await untilDelivery(testEnv, merchant, 'delivered');
      await assertTwoAttempts(testEnv, delivery.id);
      assert.equal(requests, 2);
    }),
  );
});

describe('a server that is killed between sending a further attempt and recording it', () => {
  it('sends the same bytes again, with the same attempt number, and records one attempt', () =>
    inOwnEnvironment(optionsWith(), async (testEnv) => {
      const { merchant, receiver } = testEnv;
      const doomed = await startServerChild(testEnv);
      let requests = 0;
      receiver.answerWith(merchant.id, (_received, response) => {
        requests += 1;
        if (requests === 1) response.writeHead(500).end();
        // No response: the server dies before it can record anything.
        else if (requests === 2) void doomed.kill();
        else response.writeHead(200).end();
      });
      await pay(testEnv, '010');
      await doomed.exited;
      assert.equal(requests, 2);

      await testEnv.startServer();
      const delivery = await untilDelivery(testEnv, merchant, 'delivered');
      const [, lost, repeated, ...others] = receiver.all(merchant.id);
      assert.deepEqual(others, []);
      assertIsRepetition(repeated, lost);
      await assertTwoAttempts(testEnv, delivery.id);
    }));
});

describe('a server that is killed after it has recorded a further failed attempt', () => {
  it('keeps the scheduled time of the next attempt', () =>
    inOwnEnvironment(optionsWith({ MALIPO_DELIVERY_SCHEDULE_MS: '0,100,20000,100' }), async (testEnv) => {
      const { merchant, receiver } = testEnv;
      const doomed = await startServerChild(testEnv, { crashPoint: { moment: 'after', activity: 'sendDelivery' } });
      receiver.answerWith(merchant.id, (_received, response) => response.writeHead(500).end());
      await pay(testEnv, '010');
      await doomed.dies();
      const { rows } = await testEnv.db.pool.query<{ due: Date }>('SELECT next_attempt_at AS due FROM deliveries');
      receiver.answerWith(merchant.id, null);
      await testEnv.startServer();
      const delivery = await untilDelivery(testEnv, merchant, 'delivered', 50_000);
      const attempts = await attemptsOf(testEnv.db, delivery.id);
      assert.deepEqual(valuesOf(attempts, 'status'), [500, 500, 200]);
      // Not earlier; clocks may differ by half a second.
      assert.ok(attempts[2]!.startedAt.getTime() >= rows[0]!.due.getTime() - 500);
    }));
});
