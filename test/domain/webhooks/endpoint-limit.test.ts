// Tests how the limit of attempts to one endpoint follows what the endpoint can take.
import assert from 'node:assert/strict';
import type { AttemptResult } from '../../../src/domain/webhooks/delivery.ts';
import {
  afterAttempt,
  startingLimit,
  type EndedAttempt,
  type EndpointLimit,
} from '../../../src/domain/webhooks/endpoint-limit.ts';

const MOST = 128;
const NO_RESPONSE: AttemptResult = { kind: 'no_answer', error: 'no response within 30000 ms' };
const answered = (statusCode: number): AttemptResult => ({
  kind: 'answered',
  statusCode,
  headers: {},
  body: Buffer.alloc(0),
  retryAfterMs: null,
});

type Given = Partial<Omit<EndedAttempt, 'attempt' | 'fallsBefore'>> & {
  readonly result?: AttemptResult;
  readonly durationMs?: number;
};

/** The limit after an attempt that used it, unless the case says otherwise. */
function after(limit: EndpointLimit, given: Given = {}, begun = limit): EndpointLimit {
  const { result = answered(200), durationMs = 50, inFlight = limit.count, ownDelayMs = 0 } = given;
  const attempt = { startedAt: new Date(), durationMs, result };
  return afterAttempt(limit, { attempt, fallsBefore: begun.falls, inFlight, ownDelayMs }, MOST);
}

/** The limit after as many attempts as make a round. */
function afterRound(limit: EndpointLimit, given: Given = {}): EndpointLimit {
  let now = limit;
  for (let ended = 0; ended < limit.count; ended++) now = after(now, given);
  return now;
}

function afterRounds(limit: EndpointLimit, rounds: number, given: Given = {}): EndpointLimit {
  let now = limit;
  for (let round = 0; round < rounds; round++) now = afterRound(now, given);
  return now;
}

describe('the limit of attempts to one endpoint', () => {
  it('begins with 32, or with the most that is allowed', () => {
    assert.equal(startingLimit(MOST).count, 32);
    assert.equal(startingLimit(8).count, 8);
  });

  it('grows by half for each round of accepted attempts that used it, up to the most', () => {
    let limit = startingLimit(MOST);
    for (let ended = 1; ended < 32; ended++) limit = after(limit);
    assert.equal(limit.count, 32);
    assert.equal(after(limit).count, 48);
    assert.equal(afterRounds(startingLimit(MOST), 3).count, 108);
    assert.equal(afterRounds(startingLimit(MOST), 4).count, MOST);
  });

  it('grows by one for each such round from its first fall on', () => {
    const fallen = after(startingLimit(MOST), { result: NO_RESPONSE });
    assert.equal(afterRound(fallen).count, 17);
    assert.equal(afterRounds(fallen, 10).count, 26);
    assert.equal(afterRounds(fallen, 200).count, MOST);
  });

  it('stays unchanged while less than half of it is in use', () => {
    assert.equal(afterRounds(startingLimit(MOST), 10, { inFlight: 15 }).count, 32);
    assert.equal(afterRound(startingLimit(MOST), { inFlight: 16 }).count, 48);
  });

  for (const [what, result] of [
    ['had no response', NO_RESPONSE],
    ['was answered 429', answered(429)],
    ['was answered 503', answered(503)],
  ] as const) {
    it(`falls by half after an attempt that ${what}, once for all attempts in flight with it`, () => {
      const begun = afterRounds(startingLimit(MOST), 8);
      const fallen = after(begun, { result });
      assert.equal(fallen.count, 64);
      assert.equal(after(fallen, { result }, begun).count, 64);
      assert.equal(after(fallen, { result }).count, 32);
    });
  }

  it('never falls below four', () => {
    let limit = startingLimit(MOST);
    for (let more = 0; more < 10; more++) limit = after(limit, { result: NO_RESPONSE });
    assert.equal(limit.count, 4);
  });

  it('does not depend on other answers, nor on how soon they come', () => {
    let limit = afterRound(startingLimit(MOST));
    for (const statusCode of [301, 400, 404, 410, 500, 502]) {
      limit = afterRounds(limit, 2, { result: answered(statusCode), durationMs: 1 });
    }
    assert.deepEqual(limit, afterRound(startingLimit(MOST)));
  });

  it('falls when the attempts of a round are well above the smallest', () => {
    const quick = afterRound(startingLimit(MOST), { durationMs: 20 });
    assert.equal(afterRound(quick, { durationMs: 120 }).count, 72, 'by 100 ms is noise');
    assert.equal(afterRound(quick, { durationMs: 121 }).count, 24);
    const slow = afterRound(startingLimit(MOST), { durationMs: 500 });
    assert.equal(afterRound(slow, { durationMs: 1000 }).count, 72, 'twice as long is little');
    assert.equal(afterRound(slow, { durationMs: 1001 }).count, 24);
  });

  it('does not depend on a few attempts that are slow or quick', () => {
    let limit = afterRound(startingLimit(MOST), { durationMs: 200 });
    for (const durationMs of [...Array<number>(23).fill(9000), 1, ...Array<number>(24).fill(200)]) {
      limit = after(limit, { durationMs });
    }
    assert.deepEqual([limit.count, limit.smallestMs], [72, 200]);
  });

  it('does not fall for delays of our own process, and does not count a receiver as faster because of them', () => {
    const quick = afterRound(startingLimit(MOST), { durationMs: 20 });
    assert.equal(afterRound(quick, { durationMs: 520, ownDelayMs: 400 }).count, 72);
    assert.equal(afterRound(quick, { durationMs: 520, ownDelayMs: 399 }).count, 24);
    const late = afterRound(startingLimit(MOST), { durationMs: 300, ownDelayMs: 1000 });
    assert.equal(late.smallestMs, 300);
    assert.equal(afterRound(late, { durationMs: 300 }).count, 72);
  });

  it('does not fall for slow attempts that had no others beside them', () => {
    const quick = afterRound(startingLimit(MOST), { durationMs: 20 });
    assert.equal(afterRounds(quick, 5, { durationMs: 5000, inFlight: 1 }).count, quick.count);
  });

  it('accepts the speed of an endpoint that stays slow at the lowest limit, and grows again', () => {
    let limit = afterRound(startingLimit(MOST), { durationMs: 20 });
    for (let round = 0; round < 5; round++) limit = afterRound(limit, { durationMs: 400 });
    assert.deepEqual([limit.count, limit.smallestMs], [4, 400]);
    assert.equal(afterRounds(limit, 60, { durationMs: 400 }).count, 64);
  });

  it('keeps a receiver busy that works on 40 at once, and lets few wait there', () => {
    const [workers, workMs] = [40, 100];
    let limit = startingLimit(MOST);
    const counts: number[] = [];
    for (let round = 0; round < 1000; round++) {
      // What does not find a worker waits until one is free.
      limit = afterRound(limit, { durationMs: workMs * Math.max(1, limit.count / workers) });
      counts.push(limit.count);
    }
    const later = counts.slice(200);
    assert.ok(Math.min(...later) >= workers, `${Math.min(...later)} at least`);
    assert.ok(Math.max(...later) <= 2 * workers + 1, `${Math.max(...later)} at most`);
  });
});
