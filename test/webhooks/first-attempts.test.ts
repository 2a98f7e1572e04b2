// Tests when the dispatcher claims deliveries, and when an attempt gives its capacity to the next, with a database that is scripted.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import type { Database, Statement } from '../../src/db/platform/database.ts';
import type { DueDelivery } from '../../src/db/webhooks/delivery.ts';
import { createFirstAttempts, type FirstAttempts } from '../../src/dispatcher/first-attempts.ts';
import { newId, type EndpointId } from '../../src/domain/ids.ts';
import type { Attempt } from '../../src/domain/webhooks/delivery.ts';
import { createEndpointConcurrency } from '../../src/webhooks/endpoint-concurrency.ts';
import { eventually } from '../support/test-environment.ts';

/** Longer than the pause between two claims. */
const A_WHILE_MS = 50;
const endpointId = newId('whe');

function due(to: EndpointId = endpointId): DueDelivery {
  return {
    ...{ id: newId('dlv'), merchantId: newId('mer'), endpointId: to, eventId: newId('evt') },
    ...{ attemptCount: 0, replayCount: 0, attemptsBeforeReplay: 0, nextAttemptAt: null, isEndpointFailing: false },
    ...{
      url: 'https://shop.example',
      secretsSealed: ['sealed'] as const,
      body: '{}',
      eventType: 'endpoint.test' as const,
    },
    ...{ paymentId: null, requestId: null },
  };
}

describe('first attempts', () => {
  let pending: DueDelivery[];
  let claims: number;
  let claimMs: number;
  /** Of endpoints and of merchants, as the last claim was given them. */
  let inFlight: readonly [number, number];
  /** Of each attempt how long it takes. */
  let attemptMs: (attempt: number) => number;
  /** Resolves each record that waits. */
  let records: (() => void)[];
  let sent: number;
  let statusCode: number;

  beforeEach(() => {
    pending = [];
    [claims, claimMs, sent, statusCode] = [0, 0, 0, 200];
    attemptMs = () => 0;
    records = [];
    inFlight = [0, 0];
  });

  const db = {
    async run({ name }: Statement, values: readonly unknown[]) {
      if (name === 'delivery_claim') {
        claims += 1;
        const sumOf = (counts: unknown) => (counts as number[]).reduce((sum, count) => sum + count, 0);
        inFlight = [sumOf(values[5]), sumOf(values[7])];
        await sleep(claimMs);
        return pending.splice(0, Number(values[2]) - inFlight[0]);
      }
      if (name === 'delivery_record_attempts') await new Promise<void>((resolve) => records.push(resolve));
      return [];
    },
    withTransaction: (work: (tx: unknown) => Promise<unknown>) => work(db),
  };

  function create(mostToOneEndpoint = 32): FirstAttempts {
    return createFirstAttempts({
      db: db as unknown as Database,
      sender: {
        send: async () => {
          sent += 1;
          const ms = attemptMs(sent);
          await (ms === Infinity ? new Promise(() => undefined) : sleep(ms));
          const result = {
            kind: 'answered',
            statusCode,
            headers: {},
            body: Buffer.alloc(0),
            retryAfterMs: null,
          } as const;
          return { startedAt: new Date(), durationMs: 1, result } satisfies Attempt;
        },
        close: () => Promise.resolve(),
      },
      concurrency: createEndpointConcurrency(mostToOneEndpoint),
      ...{
        maxInFlight: 500,
        maxPerMerchant: 128,
        scheduleMs: [0, 1000],
        failingLimitMs: 1000,
        overdueMs: 1000,
        leaseMs: 1000,
      },
      onRetryOwed: () => undefined,
      log: pino({ level: 'silent' }),
    });
  }

  it('claim once for an event that comes alone', async () => {
    pending = [due()];
    await create().run();
    await sleep(A_WHILE_MS);
    assert.deepEqual([sent, claims], [1, 1]);
  });

  it('claim again where a claim may have left something, and once more for all that came meanwhile', async () => {
    const attempts = create();
    pending = Array.from({ length: 4 }, () => due());
    await Promise.all([attempts.run(), attempts.run(), attempts.run()]);
    assert.deepEqual([sent, claims], [4, 2]);
  });

  it('claim again for what ended while a claim was under way, which counted it as in flight', async () => {
    pending = [due(), due(), due(), due()];
    claimMs = A_WHILE_MS;
    // The second ends during the claim that the end of the first caused.
    attemptMs = (attempt) => (attempt === 1 ? 1 : attempt === 2 ? A_WHILE_MS / 2 : Infinity);
    await create(2).run();
    await eventually('two more beside each other', () => sent === 4);
  });

  it('give their capacity to the next as soon as the endpoint accepted, and before they are recorded', async () => {
    pending = [due(), due(), due()];
    await create(1).run();
    await eventually('all to be sent', () => sent === 3);
    assert.equal(records.length, 1, 'the first record is still being written, and the others wait for it');
  });

  it('keep the capacity of their merchant until they are recorded, so that others have theirs', async () => {
    pending = [due()];
    const attempts = create();
    await attempts.run();
    await eventually('the record', () => records.length === 1);
    await attempts.run();
    assert.deepEqual(inFlight, [0, 1]);
    records[0]?.();
    await eventually('the end of the attempt', async () => {
      await attempts.run();
      return inFlight[1] === 0;
    });
  });

  it('keep their capacity until they are recorded when the endpoint did not accept', async () => {
    statusCode = 500;
    pending = [due(), due()];
    await create(1).run();
    await eventually('the first record', () => records.length === 1);
    await sleep(A_WHILE_MS);
    assert.equal(sent, 1);
    records[0]?.();
    await eventually('the next to be sent', () => sent === 2);
  });
});
