// A crowd that waits at one endpoint: who finds no room comes back, and the crowd is no louder for being larger.
import assert from 'node:assert/strict';
import { createEndpointConcurrency } from '../../src/webhooks/endpoint-concurrency.ts';
import { newId } from '../../src/domain/ids.ts';

describe('who finds no room at an endpoint', () => {
  const [crowded, other] = [newId('whe'), newId('whe')];
  const SECOND_MS = 1000;

  it('asks again a second later while there are few, and with many no more ask in a second than there is room for', () => {
    const concurrency = createEndpointConcurrency(32);
    const asks = Array.from({ length: 3200 }, () => concurrency.retryInMs(crowded, 5000));
    assert.equal(asks[0], SECOND_MS);
    for (let second = 1; second < 100; second++) {
      const within = asks.filter((ms) => ms >= second * SECOND_MS && ms < (second + 1) * SECOND_MS);
      assert.ok(within.length >= 31 && within.length <= 33, `${within.length} in second ${second}`);
    }
    assert.ok(Math.max(...asks) <= 101 * SECOND_MS, 'and each of them comes to ask');
  });

  it('waits for no crowd at another endpoint, nor for one that is gone', () => {
    const concurrency = createEndpointConcurrency(2);
    for (let more = 0; more < 100; more++) concurrency.retryInMs(crowded, 5000);
    assert.equal(concurrency.retryInMs(other, 5000), SECOND_MS);
    assert.equal(concurrency.retryInMs(crowded, 5000), 51 * SECOND_MS);
    assert.equal(concurrency.retryInMs(crowded, 5000 + 52 * SECOND_MS), SECOND_MS);
  });
});
