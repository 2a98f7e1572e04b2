// The batcher: each item once, in its order, and no more batches at once than it may have.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../../src/db/batcher.ts';

describe('a batcher', () => {
  it('handles what arrives during a batch in the next one, at most so many items together', async () => {
    const batches: number[][] = [];
    const batcher = createBatcher<number, number>({
      maxItems: 3,
      async handle(items) {
        batches.push(items);
        await sleep(5);
        return batches.length;
      },
    });
    const first = batcher.add(1);
    await sleep(1);
    const others = [2, 3, 4, 5].map((item) => batcher.add(item));
    assert.deepEqual([await first, ...(await Promise.all(others))], [1, 2, 2, 2, 3]);
    assert.deepEqual(batches, [[1], [2, 3, 4], [5]]);
  });

  it('handles as many batches at once as it may, and none twice', async () => {
    let [running, most] = [0, 0];
    const handled: number[] = [];
    const batcher = createBatcher<number>({
      maxItems: 2,
      atOnce: 2,
      async handle(items) {
        most = Math.max(most, ++running);
        await sleep(1);
        handled.push(...items);
        running -= 1;
      },
    });
    const all = Array.from({ length: 41 }, (_, item) => item);
    await Promise.all(all.map((item) => batcher.add(item)));
    assert.equal(most, 2);
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
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
  });

  it('handles what is added right after a batch', async () => {
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

  it('rejects what has waited too long when its turn comes, and handles what came later', async () => {
    const handled: string[] = [];
    const batcher = createBatcher<string>({
      maxItems: 10,
      longestWait: { ms: 30, error: () => new Error('too late') },
      async handle(items) {
        handled.push(...items);
        await sleep(60);
      },
    });
    const first = batcher.add('first');
    await sleep(5);
    const late = batcher.add('late');
    late.catch(() => undefined);
    await sleep(50);
    const later = batcher.add('later');
    await Promise.all([first, later, assert.rejects(late, /too late/)]);
    assert.deepEqual(handled, ['first', 'later']);
  });

  it('handles what waits at once when it is drained', async () => {
    const handled: number[] = [];
    const batcher = createBatcher<number>({
      maxItems: 10,
      pauseMs: 60_000,
      async handle(items) {
        await sleep(1);
        handled.push(...items);
      },
    });
    const added = batcher.add(1);
    await batcher.drain();
    await added;
    assert.deepEqual(handled, [1]);
  });
});
