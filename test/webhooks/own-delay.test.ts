// Tests what counts as the delay of our own process.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOwnDelay } from '../../src/webhooks/own-delay.ts';

/** As a process that has something else to do, or no CPU. */
function blockFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('the delay of our own process', () => {
  it('is how long callbacks waited, also before any of them ran', async () => {
    const delay = createOwnDelay();
    delay.watch();
    const beforeMs = delay.totalMs();
    blockFor(200);
    const blockedMs = delay.totalMs() - beforeMs;
    assert.ok(blockedMs >= 180 && blockedMs < 2000, `${blockedMs} ms`);
    await sleep(1);
    assert.ok(delay.totalMs() - beforeMs >= blockedMs, 'it stays counted');
    delay.rest();
  });

  it('does not count what happens while nothing is watched', () => {
    const delay = createOwnDelay();
    blockFor(50);
    assert.equal(delay.totalMs(), 0);
    delay.watch();
    delay.rest();
    const restingMs = delay.totalMs();
    blockFor(50);
    assert.equal(delay.totalMs(), restingMs);
  });
});
