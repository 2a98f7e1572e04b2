// The coalescing loop: one pass at a time, and one more for all wakes that come meanwhile.
import assert from 'node:assert/strict';
import { createCoalescingLoop } from '../../src/coalescing-loop.ts';

/** A loop whose passes end when the test says so. */
function openLoop(pauseMs?: number) {
  const passes: { readonly end: () => void; readonly fail: (error: Error) => void; readonly beganAtMs: number }[] = [];
  const errors: unknown[] = [];
  let onBegin: () => void = () => undefined;
  const loop = createCoalescingLoop({
    pass: () =>
      new Promise<void>((end, fail) => {
        passes.push({ end, fail, beganAtMs: performance.now() });
        onBegin();
      }),
    onError: (error) => errors.push(error),
    ...(pauseMs !== undefined && { pauseMs }),
  });
  return {
    loop,
    passes,
    errors,
    /** Resolves once this many passes have begun, including ended ones. */
    untilBegun: async (count: number) => {
      while (passes.length < count) await new Promise<void>((resolve) => (onBegin = resolve));
    },
  };
}

/** Lets everything happen that waits for nothing but its turn. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const FAILED = new Error('the database is unavailable');

describe('a coalescing loop', () => {
  it('begins a pass at its wake, and one more for all wakes during that pass', async () => {
    const { loop, passes } = openLoop();
    for (let wakes = 0; wakes < 5; wakes++) loop.wake();
    assert.equal(passes.length, 1);
    passes[0]!.end();
    await settled();
    assert.equal(passes.length, 2);
    passes[1]!.end();
    await settled();
    assert.deepEqual([passes.length, loop.isRunning()], [2, false]);
  });

  it('resolves a run when no other pass is due', async () => {
    const { loop, passes, untilBegun } = openLoop();
    let isDone = false;
    const done = loop.run().then(() => (isDone = true));
    loop.wake();
    passes[0]!.end();
    await untilBegun(2);
    await settled();
    assert.equal(isDone, false);
    passes[1]!.end();
    await done;
  });

  it('passes on the error of a pass once, and is woken again afterwards', async () => {
    const { loop, passes, errors } = openLoop();
    loop.wake();
    passes[0]!.fail(FAILED);
    await settled();
    assert.deepEqual([errors, passes.length, loop.isRunning()], [[FAILED], 1, false]);
    loop.wake();
    assert.equal(passes.length, 2);
  });

  it('begins another pass after a failed one if a wake came during it', async () => {
    const { loop, passes, errors } = openLoop();
    loop.wake();
    loop.wake();
    passes[0]!.fail(FAILED);
    await settled();
    assert.deepEqual([errors, passes.length], [[FAILED], 2]);
  });

  it('rejects a run whose pass fails, and passes the error to the waiting caller', async () => {
    const { loop, passes, errors } = openLoop();
    const run = loop.run();
    loop.wake();
    passes[0]!.fail(FAILED);
    await assert.rejects(run, FAILED);
    assert.deepEqual(errors, []);
  });

  it('begins the next pass no sooner than its pause after the last one', async () => {
    const pauseMs = 20;
    const { loop, passes, untilBegun } = openLoop(pauseMs);
    loop.wake();
    const endedAtMs = performance.now();
    passes[0]!.end();
    await settled();
    loop.wake();
    await untilBegun(2);
    assert.ok(passes[1]!.beganAtMs >= endedAtMs + pauseMs);
  });

  it('serves all wakes of its pause with one pass', async () => {
    const { loop, passes, untilBegun } = openLoop(20);
    loop.wakeSoon();
    assert.equal(passes.length, 0, 'it waits for what follows');
    for (let wakes = 0; wakes < 5; wakes++) loop.wake();
    await untilBegun(1);
    passes[0]!.end();
    await settled();
    assert.deepEqual([passes.length, loop.isRunning()], [1, false]);
  });

  it('waits at its stop for the pass in progress, and begins no other', async () => {
    const { loop, passes } = openLoop();
    loop.wake();
    loop.wake();
    let isStopped = false;
    const stopped = loop.stop().then(() => (isStopped = true));
    await settled();
    assert.equal(isStopped, false);
    passes[0]!.end();
    await stopped;
    loop.wake();
    await loop.run();
    assert.equal(passes.length, 1);
  });

  it('stops with a pass that fails, and in its pause', async () => {
    const failing = openLoop();
    failing.loop.wake();
    const stopped = failing.loop.stop();
    failing.passes[0]!.fail(FAILED);
    await stopped;
    const pausing = openLoop(20);
    pausing.loop.wakeSoon();
    await pausing.loop.stop();
    assert.equal(pausing.passes.length, 0);
  });
});
