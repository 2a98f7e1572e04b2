// Tests the attempts of a delivery: what is sent, what counts as success, and what is stored of every response.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { freePort } from '../../src/engines/process/ports.ts';
import { addEndpoint, attemptsOf, deliveriesOf, untilDelivery } from '../support/deliveries.ts';
import { eventually, PATIENT_ATTEMPTS, type TestEnvironment, type TestMerchant } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { pay } from '../support/payments.ts';
import type { ReceivedWebhook, Respond } from '../support/receiver.ts';
import { columnsOf, valuesOf } from '../support/values-of.ts';

const ATTEMPTS = 4;
/** The time limit of attempts without a complete answer, and how many of them are made. */
const TIMEOUT_MS = 2000;
const LATE_ATTEMPTS = 2;
const STORED_BYTES = 16 * 1024;

const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (_received, response) => {
    response.writeHead(status, headers).end(body);
  };

const settingsFor = (attempts: number) => ({
  MALIPO_DELIVERY_SCHEDULE_MS: ['0', ...Array<string>(attempts - 1).fill('50')].join(','),
  MALIPO_PROMPT_WINDOW_MS: '120000',
  MALIPO_POLL_SCHEDULE_MS: '120000',
});

/** A new merchant with exactly one event, whose receiver gives this answer. */
async function oneEventOf(testEnv: TestEnvironment, answer: Respond): Promise<TestMerchant> {
  const merchant = await testEnv.addMerchant();
  testEnv.receiver.answerWith(merchant.id, answer);
  await pay(testEnv, '010', { merchant });
  return merchant;
}

describe('a delivery', () => {
  const testEnv = useTestEnvironment({ environment: { ...settingsFor(ATTEMPTS), ...PATIENT_ATTEMPTS } });
  const oneEvent = (answer: Respond) => oneEventOf(testEnv, answer);

  it('carries the event’s exact bytes, its ids and a valid signature', async () => {
    const merchant = await oneEvent(answering(204));
    const delivery = await untilDelivery(testEnv, merchant, 'delivered');
    const [received] = testEnv.receiver.all(merchant.id);
    assert.ok(received?.isVerified);
    const { headers, event } = received;
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['malipo-event-id'], event.id);
    assert.equal(headers['malipo-delivery-id'], delivery.id);
    assert.equal(headers['malipo-attempt'], '1');
    assert.equal(headers['user-agent'], 'Malipo-Webhooks/1');
    const { rows } = await testEnv.db.pool.query<{ body: string }>('SELECT body FROM events WHERE id = $1', [event.id]);
    assert.equal(received.rawBody.toString('utf8'), rows[0]?.body);
  });

  it('is retried with the same bytes until the endpoint accepts it, and not again after that', async () => {
    let requests = 0;
    const merchant = await oneEvent((received, response) => {
      requests += 1;
      answering(requests < 3 ? 500 : 200)(received, response);
    });
    const delivery = await untilDelivery(testEnv, merchant, 'delivered');
    const received = testEnv.receiver.all(merchant.id);
    const numbers = received.map(({ headers }) => headers['malipo-attempt']);
    assert.deepEqual(numbers, ['1', '2', '3']);
    for (const { rawBody, headers, isVerified } of received) {
      assert.ok(isVerified);
      assert.deepEqual(rawBody, received[0]!.rawBody);
      assert.equal(headers['malipo-event-id'], received[0]!.headers['malipo-event-id']);
    }
    const attempts = await attemptsOf(testEnv.db, delivery.id);
    assert.deepEqual(columnsOf(attempts, 'number', 'status'), [
      [1, 500],
      [2, 500],
      [3, 200],
    ]);
  });

  it('is dead-lettered after the whole schedule, with every attempt stored', async () => {
    const body = 'x'.repeat(3 * STORED_BYTES);
    const beganMs = Date.now();
    const merchant = await oneEvent(answering(502, { 'x-from': 'a proxy' }, body));
    const delivery = await untilDelivery(testEnv, merchant, 'dead_lettered');
    assert.equal(delivery.attemptCount, ATTEMPTS);
    const attempts = await attemptsOf(testEnv.db, delivery.id);
    assert.deepEqual(valuesOf(attempts, 'number'), [1, 2, 3, 4]);
    for (const attempt of attempts) {
      assert.deepEqual([attempt.status, attempt.error], [502, null]);
      assert.equal(attempt.headers?.['x-from'], 'a proxy');
      assert.equal(attempt.body?.toString(), body.slice(0, STORED_BYTES));
      assert.ok(attempt.durationMs >= 0 && attempt.durationMs <= Date.now() - beganMs);
      assert.ok(attempt.startedAt.getTime() >= beganMs && attempt.startedAt.getTime() <= Date.now());
    }
    assert.equal(testEnv.receiver.all(merchant.id).length, ATTEMPTS);
  });

  it('is dead-lettered at once and disables the endpoint when the answer is 410', async () => {
    const merchant = await oneEvent(answering(410));
    const delivery = await untilDelivery(testEnv, merchant, 'dead_lettered');
    assert.equal(delivery.attemptCount, 1);
    const { rows } = await testEnv.db.pool.query<{ state: string; disabled_reason: string }>(
      'SELECT state, disabled_reason FROM endpoints WHERE id = $1',
      [delivery.endpointId],
    );
    assert.deepEqual(rows, [{ state: 'disabled', disabled_reason: 'answered_gone' }]);
    await pay(testEnv, '010', { merchant });
    await eventually('the next event', async () => {
      const events = await testEnv.db.pool.query('SELECT 1 FROM events WHERE merchant_id = $1', [merchant.id]);
      return events.rows.length === 2;
    });
    const [, next] = await deliveriesOf(testEnv.db, merchant);
    assert.deepEqual([next?.state, next?.attemptCount], ['withheld', 0]);
  });

  it('is recorded as not sent at every attempt when its signing secret cannot be opened, and delays no other delivery', async () => {
    const merchant = await testEnv.addMerchant();
    const endpointId = await addEndpoint(testEnv, merchant, testEnv.receiver.urlFor('nobody'));
    await testEnv.db.pool.query(
      "UPDATE endpoints SET secret_sealed = 'gone.' || split_part(secret_sealed, '.', 2) WHERE id = $1",
      [endpointId],
    );
    await pay(testEnv, '010', { merchant });
    const delivery = await eventually('the dead letter', async () => {
      const all = await deliveriesOf(testEnv.db, merchant);
      return all.find((candidate) => candidate.endpointId === endpointId && candidate.state === 'dead_lettered');
    });
    const attempts = await attemptsOf(testEnv.db, delivery.id);
    assert.deepEqual(
      valuesOf(attempts, 'error'),
      Array<string>(ATTEMPTS).fill('not sent: the signing secret cannot be opened'),
    );
    await eventually('the event at the other endpoint', () => testEnv.receiver.all(merchant.id).length === 1);
    assert.deepEqual(testEnv.receiver.all('nobody'), []);
  });

  it('does not follow a redirect, which counts as a failure', async () => {
    const location = testEnv.receiver.urlFor('elsewhere');
    const merchant = await oneEvent(answering(301, { location }));
    const delivery = await untilDelivery(testEnv, merchant, 'dead_lettered');
    const [attempt] = await attemptsOf(testEnv.db, delivery.id);
    assert.deepEqual([attempt?.status, attempt?.headers?.['location']], [301, location]);
    assert.deepEqual(testEnv.receiver.all('elsewhere'), []);
  });

  it('records a refused connection at every attempt when nothing listens on the port', async () => {
    const merchant = await testEnv.addMerchant();
    const endpointId = await addEndpoint(testEnv, merchant, `http://127.0.0.1:${await freePort()}/hook`);
    await pay(testEnv, '010', { merchant });
    const delivery = await eventually('the dead letter', async () => {
      const all = await deliveriesOf(testEnv.db, merchant);
      return all.find((candidate) => candidate.endpointId === endpointId && candidate.state === 'dead_lettered');
    });
    const attempts = await attemptsOf(testEnv.db, delivery.id);
    const expected = { status: null, error: 'the connection was refused', headers: null, body: null };
    assert.equal(attempts.length, ATTEMPTS);
    for (const { status, error, headers, body } of attempts)
      assert.deepEqual({ status, error, headers, body }, expected);
    await eventually('the event at the other endpoint', () => testEnv.receiver.all(merchant.id).length === 1);
  });

  it('reads no more of a response than it stores', async () => {
    const TEN_MB = 10 * 1024 * 1024;
    let sentBytes = 0;
    const merchant = await oneEvent((_received, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024, 'y');
      const send = (): void => {
        while (sentBytes < TEN_MB && !response.destroyed) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', send);
            return;
          }
        }
        response.end();
      };
      send();
    });
    const delivery = await untilDelivery(testEnv, merchant, 'delivered');
    const [attempt] = await attemptsOf(testEnv.db, delivery.id);
    assert.equal(attempt?.body?.length, STORED_BYTES);
    assert.ok(sentBytes < TEN_MB, `the receiver could send ${sentBytes} bytes`);
  });
});

describe('a delivery to a receiver without a complete answer', () => {
  const testEnv = useTestEnvironment({
    environment: { ...settingsFor(LATE_ATTEMPTS), MALIPO_DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS) },
  });

  const SLOW: readonly (readonly [
    string,
    (received: ReceivedWebhook, response: ServerResponse) => void,
    received: string,
  ])[] = [
    ['never answers', () => undefined, ''],
    [
      'begins to answer and never ends',
      (_received, response) => {
        response.writeHead(200).write('so far');
      },
      ': status 200 and 6 bytes of its body arrived',
    ],
  ];
  for (const [what, answer, receivedText] of SLOW) {
    it(`ends each attempt in time when the receiver ${what}`, async () => {
      const merchant = await oneEventOf(testEnv, answer);
      const delivery = await untilDelivery(testEnv, merchant, 'dead_lettered');
      const attempts = await attemptsOf(testEnv.db, delivery.id);
      assert.equal(attempts.length, LATE_ATTEMPTS);
      for (const { status, error, durationMs } of attempts) {
        assert.deepEqual([status, error], [null, `no complete answer within ${TIMEOUT_MS / 1000} s${receivedText}`]);
        assert.ok(durationMs >= TIMEOUT_MS - 50 && durationMs < TIMEOUT_MS + 10_000, `${durationMs} ms`);
      }
    });
  }
});
