// A server that is killed around the commit of a request, while a payer decides, or around a webhook.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DeliveryId } from '../../src/domain/ids.ts';
import { call, collectionFields } from '../support/api.ts';
import { attemptsOf, untilDelivery } from '../support/deliveries.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { assertLedgerIsSound, availableBalance, expireLeases, pay, phoneFor, untilState } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { transitionsOf, untilAllReceived, untilPaidOnce, PAID_TRANSITIONS } from '../support/payment-events.ts';
import type { ReceivedWebhook } from '../support/receiver.ts';
import { startServerChild } from '../support/server-child.ts';
import { inOwnEnvironment, useConcurrentTests } from '../support/concurrent-tests.ts';
import { columnsOf, valuesOf } from '../support/values-of.ts';

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
  assert.deepEqual(columnsOf(attempts, 'number', 'status'), [
    [1, 500],
    [2, 200],
  ]);
}

describe('a server that is killed', function () {
  this.timeout(400_000);
  // They wait until what the dead server had begun counts as lost.
  const test = useConcurrentTests(3);

  describe('around the commit of a request', () => {
    const body = collectionFields({ phone: phoneFor('000') });

    const post = (testEnv: TestEnvironment, idempotencyKey: string) =>
      call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key: testEnv.merchant.key, idempotencyKey, json: body });

    /** The server is killed `moment` the commit, and the request has no response. */
    async function postToDoomed(testEnv: TestEnvironment, moment: 'before' | 'after'): Promise<string> {
      const doomed = await startServerChild(testEnv, { crashPoint: { moment, commitOf: 'collection_insert' } });
      const idempotencyKey = randomUUID();
      await assert.rejects(post(testEnv, idempotencyKey));
      await doomed.dies();
      return idempotencyKey;
    }

    async function collections(testEnv: TestEnvironment): Promise<string[]> {
      const { rows } = await testEnv.db.pool.query<{ id: string }>("SELECT id FROM payments WHERE kind = 'collection'");
      return rows.map(({ id }) => id);
    }

    test('leaves a recorded payment to the next server when killed right after the commit', () =>
      withSoundLedger(optionsWith(), async (testEnv) => {
        const idempotencyKey = await postToDoomed(testEnv, 'after');
        const [id, ...others] = await collections(testEnv);
        assert.deepEqual([typeof id, others], ['string', []]);

        await testEnv.startServer();
        const repeated = await post(testEnv, idempotencyKey);
        assert.deepEqual([repeated.status, repeated.json['id']], [202, id]);
        assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
        const available = () => availableBalance(testEnv, testEnv.merchant);
        await eventually('the payment to succeed', async () => (await available()) === body['amount']);
        assert.equal(await promptsRaised(testEnv, String(body['phone'])), 1);
        assert.deepEqual(await collections(testEnv), [id]);
      }));

    test('records nothing when killed right before the commit, and the same key creates the payment', () =>
      withSoundLedger(optionsWith(), async (testEnv) => {
        const idempotencyKey = await postToDoomed(testEnv, 'before');
        assert.deepEqual(await collections(testEnv), []);

        await testEnv.startServer();
        const repeated = await post(testEnv, idempotencyKey);
        assert.deepEqual([repeated.status, repeated.headers.get('idempotent-replayed')], [202, null]);
        assert.deepEqual(await collections(testEnv), [repeated.json['id']]);
      }));
  });

  describe('while a payer decides or a webhook is sent', () => {
    test('misses the callback, and the next server queries the outcome', () =>
      withSoundLedger(optionsWith(), async (testEnv) => {
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
        await untilPaidOnce(testEnv, payment);
      }));

    test('sends the same bytes again, with the same attempt number, when killed before the attempt is recorded', () =>
      withSoundLedger(optionsWith(), async (testEnv) => {
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
        assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS.slice(0, 1));
      }));
  });

  describe('around a further attempt of a delivery', () => {
    for (const moment of ['before', 'after'] as const) {
      test(`leaves a delivery that arrives, with no attempt recorded twice, when killed ${moment} the attempt`, () =>
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
        }));
    }
  });

  describe('between sending a further attempt and recording it', () => {
    test('sends the same bytes again, with the same attempt number, and records one attempt', () =>
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

  describe('after it has recorded a further failed attempt', () => {
    test('keeps the scheduled time of the next attempt', () =>
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
});

/** As `inOwnEnvironment`; fails when the ledger is not sound at the end. */
function withSoundLedger(
  options: ReturnType<typeof optionsWith>,
  run: (testEnv: TestEnvironment) => Promise<void>,
): Promise<void> {
  return inOwnEnvironment(options, async (testEnv) => {
    await run(testEnv);
    await assertLedgerIsSound(testEnv.db);
  });
}
