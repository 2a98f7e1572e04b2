// Tests when the next attempt of a delivery follows: after the schedule's step, or when `Retry-After` asks for it.
import assert from 'node:assert/strict';
import { decidedWaits, untilDelivery, watchWaits } from '../support/deliveries.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { pay } from '../support/payments.ts';
import type { ReceivedWebhook } from '../support/receiver.ts';

const STEP_MS = 800;
// An attempt is never earlier than this; how late it is depends on the machine's load.
const EARLY_MS = 20;

type Case = {
  readonly title: string;
  readonly status: number;
  readonly retryAfter: () => string;
  /** The least and the greatest wait that may be decided. */
  readonly waitMs: readonly [number, number];
};

const inSeconds = (seconds: number) => () => String(seconds);
const aTenthAround = [STEP_MS * 0.9, STEP_MS * 1.1] as const;
const CASES: readonly Case[] = [
  {
    title: 'follows when a 429 asks for it, between the step and twice the step',
    status: 429,
    retryAfter: inSeconds(1),
    waitMs: [1000, 1000],
  },
  {
    title: 'follows when a 503 asks for it with a date',
    status: 503,
    // A date has whole seconds: this one is one to two seconds away.
    retryAfter: () => new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString(),
    waitMs: [STEP_MS, 2 * STEP_MS],
  },
  {
    title: 'follows after twice the step at the latest, whatever Retry-After asks for',
    status: 429,
    retryAfter: inSeconds(3600),
    waitMs: [2 * STEP_MS, 2 * STEP_MS],
  },
  {
    title: 'follows after the step at the earliest',
    status: 503,
    retryAfter: inSeconds(0),
    waitMs: [STEP_MS, STEP_MS],
  },
  {
    title: 'follows after the step, ±10 %, when another status has a Retry-After',
    status: 500,
    retryAfter: inSeconds(3600),
    waitMs: aTenthAround,
  },
  {
    title: 'follows after the step when Retry-After is invalid',
    status: 429,
    retryAfter: () => 'soon',
    waitMs: aTenthAround,
  },
];

type Outcome = { readonly requests: readonly ReceivedWebhook[]; readonly waitsMs: readonly number[] };

describe('the next attempt of a delivery', () => {
  let testEnv: TestEnvironment;
  const outcomes = new Map<Case, Promise<Outcome>>();

  // All at once, because they only wait.
  before(async () => {
    testEnv = await startTestEnvironment({
      environment: {
        MALIPO_DELIVERY_SCHEDULE_MS: `0,${STEP_MS},${STEP_MS}`,
        MALIPO_PROMPT_WINDOW_MS: '120000',
        MALIPO_POLL_SCHEDULE_MS: '120000',
      },
    });
    await watchWaits(testEnv.db);
    for (const one of CASES) outcomes.set(one, deliverAgainst(one));
  });
  after(async () => {
    await Promise.allSettled(outcomes.values());
    await testEnv.stop();
  });

  /** A delivery whose first two attempts get this response, and whose third is accepted. */
  async function deliverAgainst({ status, retryAfter }: Case): Promise<Outcome> {
    const merchant = await testEnv.addMerchant();
    let requests = 0;
    testEnv.receiver.answerWith(merchant.id, (_received, response) => {
      requests += 1;
      if (requests < 3) response.writeHead(status, { 'retry-after': retryAfter() }).end();
      else response.writeHead(200).end();
    });
    await pay(testEnv, '010', { merchant });
    const delivery = await untilDelivery(testEnv, merchant, 'delivered');
    const waits = await decidedWaits(testEnv.db, delivery.id);
    return { requests: testEnv.receiver.all(merchant.id), waitsMs: waits.map(({ waitMs }) => waitMs) };
  }

  for (const one of CASES) {
    it(one.title, async () => {
      const { requests, waitsMs } = await outcomes.get(one)!;
      const [leastMs, mostMs] = one.waitMs;
      assert.deepEqual([requests.length, waitsMs.length], [3, 2]);
      for (const [index, waitMs] of waitsMs.entries()) {
        assert.ok(waitMs >= leastMs - 1 && waitMs <= mostMs + 1, `wait ${index + 1} is ${waitMs} ms`);
        const waitedMs = requests[index + 1]!.receivedAtMs - requests[index]!.receivedAtMs;
        assert.ok(waitedMs >= waitMs - EARLY_MS, `${waitedMs} ms, not ${waitMs}`);
      }
    });
  }

  it('is signed again, with its own time', async () => {
    const { requests } = await outcomes.get(CASES[0]!)!;
    const times = requests.map(({ headers }) => Number(/^t=(\d+),/.exec(String(headers['malipo-signature']))?.[1]));
    assert.equal(new Set(times).size, requests.length);
    for (const [index, { receivedAtMs, isVerified }] of requests.entries()) {
      assert.ok(isVerified);
      assert.ok(Math.abs(receivedAtMs / 1000 - times[index]!) < 60);
    }
  });
});
