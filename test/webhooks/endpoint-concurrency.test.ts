// Tests how often attempts without capacity check again, when many of them wait for one endpoint.
import assert from 'node:assert/strict';
import { createEndpointConcurrency } from '../../src/webhooks/endpoint-concurrency.ts';
import { newId } from '../../src/domain/ids.ts';

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

  it('is not delayed by attempts that wait for another endpoint or no longer wait', () => {
    const concurrency = createEndpointConcurrency(2);
    for (let more = 0; more < 100; more++) concurrency.nextCheckInMs(crowded, 5000);
    assert.equal(concurrency.nextCheckInMs(other, 5000), SECOND_MS);
    assert.equal(concurrency.nextCheckInMs(crowded, 5000), 51 * SECOND_MS);
    assert.equal(concurrency.nextCheckInMs(crowded, 5000 + 52 * SECOND_MS), SECOND_MS);
  });
});
