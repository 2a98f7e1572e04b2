// Tests what counts as the delay of our own process.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createOwnDelay } from '../../src/webhooks/own-delay.ts';

/** How often it looks, as its timer has it. */
const EVERY_MS = 20;

describe('the delay of our own process', () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 1000;
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => {
    mock.timers.reset();
  });

  /** Time passes, and callbacks run only at its end. */
  function blockFor(ms: number): void {
    nowMs += ms;
  }
  const runCallbacks = (): void => {
    mock.timers.tick(EVERY_MS);
  };
  function passQuietly(ms: number): void {
    for (let passedMs = 0; passedMs < ms; passedMs += EVERY_MS) {
      blockFor(EVERY_MS);
      runCallbacks();
    }
  }

  it('is the longest that callbacks waited, also before any of them ran', () => {
    const delay = createOwnDelay(() => nowMs);
    delay.watch();
    blockFor(300);
    assert.equal(delay.longestMs(1000, Infinity), 300 - EVERY_MS);
    runCallbacks();
    passQuietly(40);
    blockFor(70);
    runCallbacks();
    passQuietly(40);
    assert.equal(delay.longestMs(1000, Infinity), 300 - EVERY_MS, 'two waits do not add up');
    delay.rest();
  });

  it('does not count delays before or after, nor while nothing is measured', () => {
    const delay = createOwnDelay(() => nowMs);
    blockFor(100);
    assert.equal(delay.longestMs(0, Infinity), 0);
    delay.watch();
    const beforeMs = nowMs;
    blockFor(300);
    runCallbacks();
    passQuietly(40);
    assert.equal(delay.longestMs(0, beforeMs), 0);
    assert.equal(delay.longestMs(nowMs, Infinity), 0);
    assert.equal(delay.longestMs(beforeMs, Infinity), 300 - EVERY_MS);
    delay.rest();
    assert.equal(delay.longestMs(0, Infinity), 0);
  });
});
