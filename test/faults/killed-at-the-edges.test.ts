// A server that is killed where it meets the outside: at the API's commit, while a payer decides, and while it sends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, collectionFields } from '../support/api.ts';
import { attemptsOf, untilDelivery } from '../support/deliveries.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import {
  assertLedgerIsSound,
  availableBalance,
  expireLeases,
  pay,
  phoneFor,
  promptsRaised,
  transitionsOf,
  untilAllReceived,
  untilState,
} from '../support/payments.ts';
import { startServerChild } from '../support/server-child.ts';

const PAID = ['initiated > prompted', 'prompted > succeeded'];

async function environmentWithoutServer(environment: Readonly<Record<string, string>> = {}): Promise<TestEnvironment> {
  return startTestEnvironment({
    startsServer: false,
    environment: { MALIPO_PROMPT_WINDOW_MS: '30000', MALIPO_OPERATOR_TIMEOUT_MS: '800', ...environment },
    sandboxTimes: { decisionMs: 1000 },
  });
}

describe('a server that is killed around the commit of a request', () => {
  let testEnv: TestEnvironment;
  const body = collectionFields({ phone: phoneFor('000') });
  beforeEach(async () => {
    testEnv = await environmentWithoutServer();
  });
  afterEach(async () => {
    await assertLedgerIsSound(testEnv.db);
    await testEnv.stop();
  });

  const post = (idempotencyKey: string) =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key: testEnv.merchant.key, idempotencyKey, json: body });

  async function collections(): Promise<string[]> {
    const { rows } = await testEnv.db.pool.query<{ id: string }>('SELECT id FROM collections');
    return rows.map(({ id }) => id);
  }

  it('right after it has recorded a payment that nobody knows of yet: the next one starts it', async () => {
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

  it('right before it records one: nothing is kept, and the same key makes the payment', async () => {
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

describe('a server that is killed', () => {
  let testEnv: TestEnvironment;
  beforeEach(async () => {
    testEnv = await environmentWithoutServer();
  });
  afterEach(async () => {
    await assertLedgerIsSound(testEnv.db);
    await testEnv.stop();
  });

  it('while the payer decides misses the callback, and the next one learns the outcome by asking', async () => {
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

  it('between sending an event and recording that sends the same bytes again, under the same attempt number', async () => {
    const { merchant, receiver } = testEnv;
    const doomed = await startServerChild(testEnv);
    // No answer: the server dies before it can record anything.
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
    assert.deepEqual(second!.rawBody, first!.rawBody);
    for (const name of ['malipo-event-id', 'malipo-delivery-id', 'malipo-attempt'] as const) {
      assert.equal(second!.headers[name], first!.headers[name]);
    }
    assert.ok(second!.isVerified);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID.slice(0, 1));
  });
});

describe('a server that is killed around a further attempt of a delivery', () => {
  const MOMENTS = ['before', 'after'] as const;
  const outcomes = new Map<string, Promise<void>>();
  // Both at once: they wait until the attempt of the dead server counts as lost.
  before(() => {
    for (const moment of MOMENTS) outcomes.set(moment, survive(moment));
  });

  for (const moment of MOMENTS) {
    it(`${moment} it is made leaves a delivery that arrives, and no attempt recorded twice`, async () => {
      await outcomes.get(moment);
    });
  }
});

describe('a server that is killed between sending a further attempt and recording it', () => {
  it('sends the same bytes again, under the same attempt number, and records one attempt', async () => {
    const testEnv = await environmentWithoutServer();
    try {
      const { merchant, receiver } = testEnv;
      const doomed = await startServerChild(testEnv);
      let requests = 0;
      receiver.answerWith(merchant.id, (_received, response) => {
        requests += 1;
        if (requests === 1) response.writeHead(500).end();
        // No answer: the server dies before it can record anything.
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
      assert.deepEqual(repeated!.rawBody, lost!.rawBody);
      for (const name of ['malipo-event-id', 'malipo-delivery-id', 'malipo-attempt'] as const) {
        assert.equal(repeated!.headers[name], lost!.headers[name]);
      }
      assert.ok(repeated!.isVerified);
      const attempts = await attemptsOf(testEnv.db, delivery.id);
      assert.deepEqual(
        attempts.map(({ number, status }) => [number, status]),
        [
          [1, 500],
          [2, 200],
        ],
      );
    } finally {
      await testEnv.stop();
    }
  });
});

describe('a server that is killed when it has recorded a further attempt that failed', () => {
  it('leaves the wait before the next one as long as it was decided', async () => {
    const testEnv = await environmentWithoutServer({ MALIPO_DELIVERY_SCHEDULE_MS: '0,100,20000,100' });
    try {
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
      assert.deepEqual(
        attempts.map(({ status }) => status),
        [500, 500, 200],
      );
      // Not sooner; half a second is what clocks may differ by.
      assert.ok(attempts[2]!.startedAt.getTime() >= rows[0]!.due.getTime() - 500);
    } finally {
      await testEnv.stop();
    }
  });
});

async function survive(moment: 'before' | 'after'): Promise<void> {
  const testEnv = await environmentWithoutServer();
  try {
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
    const attempts = await attemptsOf(testEnv.db, delivery.id);
    assert.deepEqual(
      attempts.map(({ number, status }) => [number, status]),
      [
        [1, 500],
        [2, 200],
      ],
    );
    assert.equal(requests, 2);
  } finally {
    await testEnv.stop();
  }
}
