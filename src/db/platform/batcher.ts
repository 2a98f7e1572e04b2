// Collects items that arrive one by one and handles them in batches.
import { setTimeout as sleep } from 'node:timers/promises';

export type Batcher<Item, Result> = {
  /** Resolves to the result of the item's batch; rejects if handling the batch fails. */
  add(item: Item): Promise<Result>;
  /** Resolves when every waiting item is handled. */
  drain(): Promise<void>;
};

type Waiting<Item, Result> = {
  readonly item: Item;
  readonly sinceMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Handles `atOnce` batches at a time, by default one. Items that arrive meanwhile form the next batch, so batches grow
 * with the load. With `pauseMs` each batch first waits that long for items, unless the batcher is being drained. With
 * `longestWait` an item that has waited longer when a batch begins is rejected with that error, and never handled.
 */
export function createBatcher<Item, Result = void>(options: {
  readonly maxItems: number;
  readonly handle: (items: Item[]) => Promise<Result>;
  readonly atOnce?: number;
  readonly pauseMs?: number;
  readonly longestWait?: { readonly ms: number; readonly error: () => Error };
  /** The clock of `longestWait`, in milliseconds; by default the clock of the process. */
  readonly nowMs?: () => number;
}): Batcher<Item, Result> {
  const { maxItems, handle, atOnce = 1, pauseMs, longestWait, nowMs = () => performance.now() } = options;
  const draining = new AbortController();
  const running = new Set<Promise<void>>();
  const waiting: Waiting<Item, Result>[] = [];

  async function run(): Promise<void> {
    // Lets every item added in this turn of the event loop join the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      if (pauseMs !== undefined) await sleep(pauseMs, undefined, { signal: draining.signal }).catch(() => undefined);
      rejectLate();
      const batch = waiting.splice(0, maxItems);
      if (batch.length === 0) break;
      try {
        const result = await handle(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  // The first item has waited longest.
  function rejectLate(): void {
    if (!longestWait) return;
    const since = nowMs() - longestWait.ms;
    const inTime = waiting.findIndex(({ sinceMs }) => sinceMs > since);
    const late = inTime === -1 ? waiting.splice(0) : waiting.splice(0, inTime);
    for (const { reject } of late) reject(longestWait.error());
  }

  function start(): void {
    if (running.size >= atOnce) return;
    const one = run().finally(() => {
      running.delete(one);
      // Items may have been added after the last check, while this run still counted as running.
      if (waiting.length > 0) start();
    });
    running.add(one);
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, sinceMs: nowMs(), resolve, reject });
        start();
      });
    },
    async drain() {
      draining.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
