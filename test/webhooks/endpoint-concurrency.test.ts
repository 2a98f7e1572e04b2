// Tests the limits of attempts to each endpoint, and how often those without capacity check again.
import assert from 'node:assert/strict';
import { createEndpointConcurrency } from '../../src/webhooks/endpoint-concurrency.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Attempt, AttemptResult } from '../../src/domain/webhooks/delivery.ts';

describe('an attempt without capacity at its endpoint', () => {
  const [crowded, other] = [newId('whe'), newId('whe')];
  const SECOND_MS = 1000;

  it('checks again after a second, or later so that no more checks come in a second than attempts are allowed', () => {
    const concurrency = createEndpointConcurrency(32);
    const checks = Array.from({ length: 3200 }, () => concurrency.nextCheckInMs(crowded, 5000));
    assert.equal(checks[0], SECOND_MS);
    for (let second = 1; second < 100; second++) {
      const within = checks.filter((ms) => ms >= second * SECOND_MS && ms < (second + 1) * SECOND_MS);
      assert.ok(within.length >= 31 && within.length <= 33, `${within.length} in second ${second}`);
    }
    assert.ok(Math.max(...checks) <= 101 * SECOND_MS, 'every attempt checks again');
  });

  it('is not delayed by attempts that wait for another endpoint or have stopped waiting', () => {
    const concurrency = createEndpointConcurrency(2);
    for (let more = 0; more < 100; more++) concurrency.nextCheckInMs(crowded, 5000);
    assert.equal(concurrency.nextCheckInMs(other, 5000), SECOND_MS);
    assert.equal(concurrency.nextCheckInMs(crowded, 5000), 51 * SECOND_MS);
    assert.equal(concurrency.nextCheckInMs(crowded, 5000 + 52 * SECOND_MS), SECOND_MS);
  });
});

describe('the limits of the endpoints', () => {
  const [slow, quick] = [newId('whe'), newId('whe')];
  const attempt = (result: AttemptResult): Attempt => ({ startedAt: new Date(), durationMs: 10, result });
  const refused = attempt({ kind: 'no_answer', error: 'connection refused' });

  it('follow the attempts to each endpoint alone', () => {
    const concurrency = createEndpointConcurrency(128);
    concurrency.begin(slow)(refused);
    assert.deepEqual([...concurrency.limits()], [[slow, 16]]);
    for (let more = 0; more < 16; more++) {
      assert.ok(concurrency.hasCapacity(slow));
      concurrency.begin(slow);
      concurrency.begin(quick);
    }
    assert.deepEqual([concurrency.hasCapacity(slow), concurrency.hasCapacity(quick)], [false, true]);
  });

  it('do not change for an attempt that was not made', () => {
    const concurrency = createEndpointConcurrency(128);
    concurrency.begin(slow)();
    assert.deepEqual([...concurrency.limits()], []);
    assert.equal(concurrency.byEndpoint.size, 0);
  });

  it('are forgotten a minute after the last attempt, and not while one is in flight', () => {
    let nowMs = 0;
    const concurrency = createEndpointConcurrency(128, () => nowMs);
    concurrency.begin(slow)(refused);
    concurrency.begin(quick)(refused);
    const end = concurrency.begin(quick);
    nowMs = 60_000;
    assert.deepEqual([...concurrency.limits()], [[quick, 16]]);
    end(refused);
    nowMs += 59_999;
    assert.deepEqual([...concurrency.limits()], [[quick, 8]]);
    nowMs += 1;
    assert.deepEqual([...concurrency.limits()], []);
  });

  it('are remembered of the last thousand endpoints at most', () => {
    const concurrency = createEndpointConcurrency(128, () => 0);
    const ids = Array.from({ length: 1200 }, () => newId('whe'));
    for (const id of ids) concurrency.begin(id)(refused);
    assert.deepEqual([...concurrency.limits().keys()], ids.slice(200));
  });
});
