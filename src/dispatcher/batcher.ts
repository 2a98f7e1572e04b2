// Collects items that arrive one by one and handles them in batches.
import { setTimeout as sleep } from 'node:timers/promises';

export type Batcher<Item> = {
  /** Resolves when the item's batch is handled; rejects when handling it fails. */
  add(item: Item): Promise<void>;
  /** Resolves when every waiting item is handled. */
  drain(): Promise<void>;
};

type Waiting<Item> = { item: Item; resolve: () => void; reject: (error: unknown) => void };

/**
 * Handles one batch at a time; items that arrive meanwhile form the next one, so batches grow with the load. With `pauseMs`
 * each batch waits so long for items, unless the batcher is being drained.
 */
export function createBatcher<Item>(options: {
  readonly maxItems: number;
  readonly handle: (items: Item[]) => Promise<void>;
  readonly pauseMs?: number;
}): Batcher<Item> {
  const draining = new AbortController();
  let waiting: Waiting<Item>[] = [];
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    // Lets every item that is added in this turn of the event loop join the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      if (options.pauseMs !== undefined) {
        await sleep(options.pauseMs, undefined, { signal: draining.signal }).catch(() => undefined);
      }
      const batch = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      try {
        await options.handle(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = null;
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        running ??= run();
      });
    },
    async drain() {
      draining.abort();
      while (running !== null) await running;
    },
  };
}
