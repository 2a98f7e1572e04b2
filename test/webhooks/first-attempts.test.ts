// Tests when the dispatcher claims deliveries, and when an attempt gives its capacity to the next, with a database that is scripted.
import assert from 'node:assert/strict';
import pino from 'pino';
import { createCoalescingLoop } from '../../src/coalescing-loop.ts';
import type { Database, Statement } from '../../src/db/platform/database.ts';
import type { DueDelivery } from '../../src/db/webhooks/delivery.ts';
import { createFirstAttempts, PAUSE_BETWEEN_CLAIMS_MS } from '../../src/dispatcher/first-attempts.ts';
import { newId, type EndpointId } from '../../src/domain/ids.ts';
import type { Attempt } from '../../src/domain/webhooks/delivery.ts';
import { createEndpointConcurrency } from '../../src/webhooks/endpoint-concurrency.ts';
import { eventually } from '../support/test-environment.ts';

const silent = pino({ level: 'silent' });
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

/** Holds every caller until it releases them. */
function createGate(isOpenAtFirst: boolean) {
  const waiting: (() => void)[] = [];
  let isOpen = isOpenAtFirst;
  return {
    enter: () => (isOpen ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
    waiting: () => waiting.length,
    letOne: () => waiting.shift()?.(),
    close() {
      isOpen = false;
    },
    open() {
      isOpen = true;
      for (const goOn of waiting.splice(0)) goOn();
    },
  };
}

/** Resolves when every claim has been made that was already asked for: one that another loop is asked for now comes later. */
function untilClaimsAreMade(): Promise<void> {
  return new Promise((resolve, reject) => {
    const pass = () => {
      resolve();
      return Promise.resolve();
    };
    createCoalescingLoop({ pass, onError: reject, pauseMs: PAUSE_BETWEEN_CLAIMS_MS }).wakeSoon();
  });
}

type ScriptedOptions = {
  readonly pending: DueDelivery[];
  readonly mostToOneEndpoint?: number;
  readonly statusCode?: number;
};

/**
 * A dispatcher with a database and a receiver of its own, which no other case can reach. Its records are held, and its attempts and
 * claims as soon as a case says so.
 */
function createScripted({ pending, mostToOneEndpoint = 32, statusCode = 200 }: ScriptedOptions) {
  const [attempting, claiming, recording] = [createGate(true), createGate(true), createGate(false)];
  const seen = {
    sent: 0,
    claims: 0,
    recorded: 0,
    /** Of endpoints and of merchants, as the last claim was given them. */
    inFlight: [0, 0] as readonly [number, number],
  };
  const db = {
    async run({ name }: Statement, values: readonly unknown[]) {
      if (name === 'delivery_claim') {
        seen.claims += 1;
        const sumOf = (counts: unknown) => (counts as number[]).reduce((sum, count) => sum + count, 0);
        const inFlight = [sumOf(values[5]), sumOf(values[7])] as const;
        seen.inFlight = inFlight;
        await claiming.enter();
        return pending.splice(0, Number(values[2]) - inFlight[0]);
      }
      if (name === 'delivery_record_attempts') await recording.enter();
      return [];
    },
    withTransaction: (work: (tx: unknown) => Promise<unknown>) => work(db),
  };
  const concurrency = createEndpointConcurrency(mostToOneEndpoint);
  const attempts = createFirstAttempts({
    db: db as unknown as Database,
    sender: {
      send: async () => {
        seen.sent += 1;
        await attempting.enter();
        const answer = { headers: {}, body: Buffer.alloc(0), retryAfterMs: null };
        const result = { kind: 'answered', statusCode, ...answer } as const;
        return { startedAt: new Date(), durationMs: 1, result } satisfies Attempt;
      },
      close: () => Promise.resolve(),
    },
    concurrency,
    ...{
      maxInFlight: 500,
      maxPerMerchant: 128,
      scheduleMs: [0, 1000],
      failingLimitMs: 1000,
      overdueMs: 1000,
      leaseMs: 1000,
    },
    onRetryOwed: () => undefined,
    onAttempted: () => {
      seen.recorded += 1;
    },
    log: silent,
  });
  const inFlightTo = (endpoint: EndpointId) => concurrency.byEndpoint.get(endpoint) ?? 0;
  const end = async () => {
    for (const gate of [attempting, claiming, recording]) gate.open();
    await attempts.drain();
  };
  return { attempts, attempting, claiming, recording, seen, inFlightTo, end };
}

describe('first attempts', () => {
  const begun: ReturnType<typeof createScripted>[] = [];
  function create(options: ScriptedOptions) {
    const scripted = createScripted(options);
    begun.push(scripted);
    return scripted;
  }
  afterEach(async () => {
    for (const { end } of begun.splice(0)) await end();
  });

  it('claim once for an event that comes alone', async () => {
    const { attempts, recording, seen } = create({ pending: [due()] });
    await attempts.run();
    recording.open();
    await eventually('the record', () => seen.recorded === 1);
    await untilClaimsAreMade();
    assert.deepEqual([seen.sent, seen.claims], [1, 1]);
  });

  it('claim again if a claim may have left deliveries, and once more for all that came meanwhile', async () => {
    const { attempts, attempting, seen } = create({ pending: Array.from({ length: 4 }, () => due()) });
    attempting.close();
    await Promise.all([attempts.run(), attempts.run(), attempts.run()]);
    assert.deepEqual([seen.sent, seen.claims], [4, 2]);
  });

  it('claim again for attempts that ended during a claim, which counted them as in flight', async () => {
    const pending = [due(), due(), due(), due()];
    const { attempts, attempting, claiming, seen, inFlightTo } = create({ pending, mostToOneEndpoint: 2 });
    attempting.close();
    await attempts.run();
    claiming.close();
    attempting.letOne();
    await eventually('the claim that the end of the first caused', () => claiming.waiting() === 1);
    attempting.letOne();
    await eventually('the end of the second', () => inFlightTo(endpointId) === 0);
    claiming.open();
    await eventually('two more beside each other', () => seen.sent === 4);
  });

  it('give their capacity to the next as soon as the endpoint accepted, and before they are recorded', async () => {
    const { attempts, recording, seen } = create({ pending: [due(), due(), due()], mostToOneEndpoint: 1 });
    await attempts.run();
    await eventually('all to be sent', () => seen.sent === 3);
    await eventually('a record', () => recording.waiting() > 0);
    assert.equal(recording.waiting(), 1, 'the first record is still being written, and the others wait for it');
  });

  it('keep the capacity of their merchant until they are recorded, so that others have theirs', async () => {
    const { attempts, recording, seen } = create({ pending: [due()] });
    await attempts.run();
    await eventually('the record', () => recording.waiting() === 1);
    await attempts.run();
    assert.deepEqual(seen.inFlight, [0, 1]);
    recording.letOne();
    await eventually('the end of the attempt', async () => {
      await attempts.run();
      return seen.inFlight[1] === 0;
    });
  });

  it('keep their capacity until they are recorded when the endpoint did not accept', async () => {
    const options = { statusCode: 500, mostToOneEndpoint: 1 };
    const { attempts, recording, seen } = create({ pending: [due(), due()], ...options });
    await attempts.run();
    await eventually('the first record', () => recording.waiting() === 1);
    await attempts.run();
    await untilClaimsAreMade();
    assert.deepEqual([seen.sent, ...seen.inFlight], [1, 1, 1]);
    recording.letOne();
    await eventually('the next to be sent', () => seen.sent === 2);
  });
});
