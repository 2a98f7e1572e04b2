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
  it('is the longest that callbacks waited, also before any of them ran', async () => {
    const delay = createOwnDelay();
    delay.watch();
    const [fromMs, toMs] = [performance.now(), Infinity];
    blockFor(300);
    const blockedMs = delay.longestMs(fromMs, toMs);
    assert.ok(blockedMs >= 270 && blockedMs < 2000, `${blockedMs} ms`);
    await sleep(50);
    blockFor(50);
    await sleep(50);
    const longestMs = delay.longestMs(fromMs, toMs);
    assert.ok(longestMs >= blockedMs && longestMs < 2000, `${longestMs} ms: two waits do not add up`);
    delay.rest();
  });

  it('does not count what was late before or after, nor while nothing is watched', async () => {
    const delay = createOwnDelay();
    blockFor(100);
    assert.equal(delay.longestMs(0, Infinity), 0);
    delay.watch();
    const beforeMs = performance.now();
    blockFor(300);
    await sleep(50);
    assert.equal(delay.longestMs(0, beforeMs), 0);
    assert.ok(delay.longestMs(performance.now(), Infinity) < 250);
    assert.ok(delay.longestMs(beforeMs, Infinity) >= 270);
    delay.rest();
    assert.equal(delay.longestMs(0, Infinity), 0);
  });
});
