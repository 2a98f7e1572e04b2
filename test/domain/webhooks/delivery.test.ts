// Tests what follows a delivery attempt: every branch of the schedule, with its bounds.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DEMO_CLOCKS, REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import {
  isResponseTruncated,
  isSuccess,
  nextStep,
  RESPONSE_KEPT_BYTES,
  type AttemptResult,
} from '../../../src/domain/webhooks/delivery.ts';

const { deliveryScheduleMs: SCHEDULE_MS } = REAL_CLOCKS;
const SECOND = 1000;
const HOUR = 3_600_000;
const NO_ANSWER: AttemptResult = { kind: 'no_answer', error: 'connection refused' };

function answered(statusCode: number, retryAfterMs: number | null = null): AttemptResult {
  return { kind: 'answered', statusCode, headers: {}, body: Buffer.alloc(0), retryAfterMs };
}

const anyAttempt = fc.integer({ min: 1, max: SCHEDULE_MS.length - 1 });
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true });
const anyFailure = fc.oneof(
  fc.constant(NO_ANSWER),
  fc
    .integer({ min: 100, max: 999 })
    .filter((status) => (status < 200 || status > 299) && status !== 410)
    .map((status) => answered(status)),
);

describe('the delivery schedule', () => {
  it('is the documented one: ten attempts over about 75 hours', () => {
    const seconds = SCHEDULE_MS.map((ms) => ms / SECOND);
    assert.deepEqual(seconds, [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    const hours = SCHEDULE_MS.reduce((sum, ms) => sum + ms, 0) / HOUR;
    assert.ok(hours > 75 && hours < 76, `${hours} h`);
  });

  it('has the same number of attempts in the demonstration', () => {
    assert.equal(DEMO_CLOCKS.deliveryScheduleMs.length, SCHEDULE_MS.length);
  });
});

describe('after an attempt', () => {
  it('a delivery is delivered when the status is 2xx, and only then', () => {
    for (let status = 100; status <= 999; status++) {
      const isIn200s = status >= 200 && status <= 299;
      assert.equal(isSuccess(answered(status)), isIn200s);
      assert.equal(nextStep(1, answered(status), SCHEDULE_MS, 0.5).state === 'delivered', isIn200s, `${status}`);
    }
    assert.ok(!isSuccess(NO_ANSWER));
  });

  it('a redirect counts as a failure and is retried', () => {
    assert.deepEqual(nextStep(1, answered(302), [0, 100], 0.5), { state: 'retrying', delayMs: 100 });
  });

  it('the wait is the schedule’s step ±10 %', () => {
    fc.assert(
      fc.property(anyAttempt, anyFailure, anyRandom, (attemptNumber, result, random) => {
        const step = nextStep(attemptNumber, result, SCHEDULE_MS, random);
        const stepMs = SCHEDULE_MS[attemptNumber]!;
        assert.ok(step.state === 'retrying');
        assert.ok(Math.abs(step.delayMs - stepMs) <= stepMs * 0.1 + 1, `${step.delayMs} for ${stepMs}`);
        assert.ok(Number.isInteger(step.delayMs));
      }),
    );
  });

  it('the wait reaches both ends of that range', () => {
    const delay = (random: number) => nextStep(2, NO_ANSWER, SCHEDULE_MS, random);
    assert.deepEqual(delay(0), { state: 'retrying', delayMs: 270_000 });
    assert.deepEqual(delay(0.5), { state: 'retrying', delayMs: 300_000 });
    assert.deepEqual(delay(1), { state: 'retrying', delayMs: 330_000 });
  });

  it('the delivery is dead-lettered when the last attempt fails, and the endpoint stays enabled', () => {
    fc.assert(
      fc.property(anyFailure, anyRandom, fc.integer({ min: 0, max: 5 }), (result, random, beyond) => {
        const attemptNumber = SCHEDULE_MS.length + beyond;
        const step = nextStep(attemptNumber, result, SCHEDULE_MS, random);
        assert.deepEqual(step, { state: 'dead_lettered', disableEndpoint: false });
      }),
    );
  });

  it('the delivery is delivered when the last attempt succeeds', () => {
    assert.deepEqual(nextStep(10, answered(204), SCHEDULE_MS, 0), { state: 'delivered' });
  });

  it('the delivery is dead-lettered and the endpoint disabled by a 410, at any attempt', () => {
    for (const attemptNumber of [1, 5, 10]) {
      const step = nextStep(attemptNumber, answered(410), SCHEDULE_MS, 0.5);
      assert.deepEqual(step, { state: 'dead_lettered', disableEndpoint: true });
    }
  });
});

describe('Retry-After', () => {
  const schedule = [0, 10_000, 20_000];

  it('is honoured on 429 and 503 between the step and twice the step', () => {
    const wish = fc.integer({ min: 0, max: 200_000 });
    fc.assert(
      fc.property(fc.constantFrom(429, 503), wish, anyRandom, (status, retryAfterMs, random) => {
        const step = nextStep(1, answered(status, retryAfterMs), schedule, random);
        const expected = Math.min(Math.max(retryAfterMs, 10_000), 20_000);
        assert.deepEqual(step, { state: 'retrying', delayMs: expected });
      }),
    );
  });

  it('is ignored on any other status', () => {
    for (const status of [301, 400, 404, 500, 502]) {
      const step = nextStep(1, answered(status, 15_000), schedule, 0.5);
      assert.deepEqual(step, { state: 'retrying', delayMs: 10_000 });
    }
  });

  it('adds no attempt to the schedule', () => {
    const step = nextStep(3, answered(503, 15_000), schedule, 0.5);
    assert.deepEqual(step, { state: 'dead_lettered', disableEndpoint: false });
  });
});

describe('the stored part of a response', () => {
  const isTruncated = (bytes: number | null, headers: Record<string, string> = {}) =>
    isResponseTruncated({
      number: 1,
      startedAt: new Date(0),
      durationMs: 1,
      statusCode: bytes === null ? null : 200,
      error: bytes === null ? 'refused' : null,
      responseHeaders: bytes === null ? null : headers,
      responseBody: bytes === null ? null : Buffer.alloc(bytes),
    });

  it('is complete when it is shorter than the limit', () => {
    assert.deepEqual([isTruncated(0), isTruncated(RESPONSE_KEPT_BYTES - 1)], [false, false]);
  });

  it('is complete or truncated by the declared length when it is as long as the limit', () => {
    const length = (bytes: number) => ({ 'content-length': String(bytes) });
    assert.equal(isTruncated(RESPONSE_KEPT_BYTES, length(RESPONSE_KEPT_BYTES)), false);
    assert.equal(isTruncated(RESPONSE_KEPT_BYTES, length(RESPONSE_KEPT_BYTES + 1)), true);
  });

  it('has no known completeness when the response declared no length or there was no response', () => {
    assert.equal(isTruncated(RESPONSE_KEPT_BYTES), null);
    assert.equal(isTruncated(RESPONSE_KEPT_BYTES, { 'content-length': 'long' }), null);
    assert.equal(isTruncated(null), null);
  });
});
