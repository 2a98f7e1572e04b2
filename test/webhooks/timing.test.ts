// Tests when the next attempt of a delivery follows: after the schedule's step, or when `Retry-After` asks for it.
import assert from 'node:assert/strict';
import { decidedWaits, untilDelivery, watchWaits } from '../support/deliveries.ts';
import { PATIENT_ATTEMPTS, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { pay } from '../support/payments.ts';
import type { ReceivedWebhook } from '../support/receiver.ts';

const STEP_MS = 800;
// An attempt is never earlier than this; how late it is depends on the machine's load.
const EARLY_MS = 20;

/** `waitMs` is the least and the greatest wait that may be decided. */
type Case = readonly [
  title: string,
  status: number,
  retryAfter: () => string,
  waitMs: readonly [least: number, greatest: number],
];

const inSeconds = (seconds: number) => () => String(seconds);
// A date has whole seconds: this one is one to two seconds away.
const inTwoSeconds = () => new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString();
const aTenthAround = [STEP_MS * 0.9, STEP_MS * 1.1] as const;
const CASES: readonly Case[] = [
  ['follows when a 429 asks for it, between the step and twice the step', 429, inSeconds(1), [1000, 1000]],
  ['follows when a 503 asks for it with a date', 503, inTwoSeconds, [STEP_MS, 2 * STEP_MS]],
  [
    'follows after twice the step at the latest, whatever Retry-After asks for',
    429,
    inSeconds(3600),
    [2 * STEP_MS, 2 * STEP_MS],
  ],
  ['follows after the step at the earliest', 503, inSeconds(0), [STEP_MS, STEP_MS]],
  ['follows after the step, ±10 %, when another status has a Retry-After', 500, inSeconds(3600), aTenthAround],
  ['follows after the step when Retry-After is invalid', 429, () => 'soon', aTenthAround],
];

type Outcome = { readonly requests: readonly ReceivedWebhook[]; readonly waitsMs: readonly number[] };

describe('the next attempt of a delivery', () => {
  let testEnv: TestEnvironment;
  const outcomes = new Map<Case, Promise<Outcome>>();

  // All at once, because they only wait.
  before(async () => {
    testEnv = await startTestEnvironment({
      environment: {
        ...PATIENT_ATTEMPTS,
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
  async function deliverAgainst([, status, retryAfter]: Case): Promise<Outcome> {
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
    const [title, , , [leastMs, mostMs]] = one;
    it(title, async () => {
      const { requests, waitsMs } = await outcomes.get(one)!;
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
