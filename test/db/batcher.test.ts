// The batcher: each item once, in its order, and no more batches at once than it may have.
import assert from 'node:assert/strict';
import { createBatcher } from '../../src/db/platform/batcher.ts';
import { valuesOf } from '../support/values-of.ts';

/** Each batch begins, and ends when the test lets it. */
function createGate() {
  const begun: { readonly end: () => void }[] = [];
  let onBegin: () => void = () => undefined;
  return {
    pass: () =>
      new Promise<void>((end) => {
        begun.push({ end });
        onBegin();
      }),
    /** Resolves once this many batches have begun, including ended ones. */
    async untilBegun(count: number): Promise<void> {
      while (begun.length < count) await new Promise<void>((resolve) => (onBegin = resolve));
    },
    end: (batch: number) => begun[batch]?.end(),
  };
}

/** Lets everything happen that waits for nothing but its turn. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a batcher', () => {
  it('handles items that arrive during a batch in the next one, up to its size limit', async () => {
    const gate = createGate();
    const batches: number[][] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 3,
      async handle(items) {
        const number = batches.push(items);
        await gate.pass();
        return number;
      },
    });
    const first = batcher.add(1);
    await gate.untilBegun(1);
    const others = [2, 3, 4, 5].map((item) => batcher.add(item));
    for (const batch of [0, 1, 2]) {
      await gate.untilBegun(batch + 1);
      gate.end(batch);
    }
    assert.deepEqual([await first, ...(await Promise.all(others))], [1, 2, 2, 2, 3]);
    assert.deepEqual(batches, [[1], [2, 3, 4], [5]]);
  });

  it('handles as many batches at once as it may, and none twice', async () => {
    const gate = createGate();
    const handled: number[] = [];
    let begun = 0;
    const batcher = createBatcher<number>({
      maxItems: 2,
      atOnce: 2,
      async handle(items) {
        begun += 1;
        await gate.pass();
        handled.push(...items);
      },
    });
    const all = Array.from({ length: 41 }, (_, item) => item);
    const added = Promise.all(all.map((item) => batcher.add(item)));
    for (let ended = 0; ended < 21; ended += 1) {
      await gate.untilBegun(Math.min(21, ended + 2));
      await turns();
      assert.equal(begun, Math.min(21, ended + 2));
      gate.end(ended);
    }
    await added;
    assert.deepEqual(
      handled.sort((a, b) => a - b),
      all,
    );
  });

  it('rejects the items of a batch that fails, and goes on with the next', async () => {
    const batcher = createBatcher<string>({
      maxItems: 1,
      handle: ([item]) => (item === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve()),
    });
    const outcomes = await Promise.allSettled(['good', 'bad', 'good'].map((item) => batcher.add(item)));
    assert.deepEqual(valuesOf(outcomes, 'status'), ['fulfilled', 'rejected', 'fulfilled']);
  });

  it('handles items that are added right after a batch', async () => {
    const handled: number[] = [];
    const batcher = createBatcher<number>({
      maxItems: 10,
      handle: (items) => {
        handled.push(...items);
        return Promise.resolve();
      },
    });
    for (let item = 0; item < 5; item++) await batcher.add(item);
    assert.deepEqual(handled, [0, 1, 2, 3, 4]);
  });

  it('rejects items that have waited too long when their turn comes, and handles later ones', async () => {
    const gate = createGate();
    const handled: string[] = [];
    let nowMs = 0;
    const batcher = createBatcher<string>({
      maxItems: 10,
      longestWait: { ms: 30, error: () => new Error('too late') },
      nowMs: () => nowMs,
      async handle(items) {
        handled.push(...items);
        await gate.pass();
      },
    });
    const first = batcher.add('first');
    await gate.untilBegun(1);
    const late = assert.rejects(batcher.add('late'), /too late/);
    nowMs = 1;
    const later = batcher.add('later');
    nowMs = 30;
    gate.end(0);
    await Promise.all([first, late]);
    await gate.untilBegun(2);
    gate.end(1);
    await later;
    assert.deepEqual(handled, ['first', 'later']);
  });

  it('handles waiting items at once when it is drained', async () => {
    const gate = createGate();
    const handled: number[] = [];
    const batcher = createBatcher<number>({
      maxItems: 10,
      pauseMs: 60_000,
      async handle(items) {
        await gate.pass();
        handled.push(...items);
      },
    });
    const added = batcher.add(1);
    const drained = batcher.drain().then(() => {
      assert.deepEqual(handled, [1]);
    });
    await gate.untilBegun(1);
    gate.end(0);
    await Promise.all([drained, added]);
  });
});
