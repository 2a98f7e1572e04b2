// Collects items that arrive one by one and handles them in batches.
import { setTimeout as sleep } from 'node:timers/promises';

export type Batcher<Item, Result> = {
  /** Resolves to what handling the item's batch returned; rejects when handling it fails. */
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
 * Handles `atOnce` batches at a time, one unless it says otherwise; items that arrive meanwhile form the next one, so batches grow
 * with the load. With `pauseMs` each batch waits so long for items, unless the batcher is being drained. With
 * `longestWait` an item that has waited so long when a batch begins is rejected with that error, and never handled.
 */
export function createBatcher<Item, Result = void>(options: {
  readonly maxItems: number;
  readonly handle: (items: Item[]) => Promise<Result>;
  readonly atOnce?: number;
  readonly pauseMs?: number;
  readonly longestWait?: { readonly ms: number; readonly error: () => Error };
  /** The clock of `longestWait`, in milliseconds; the process's own by default. */
  readonly nowMs?: () => number;
}): Batcher<Item, Result> {
  const { maxItems, handle, atOnce = 1, pauseMs, longestWait, nowMs = () => performance.now() } = options;
  const draining = new AbortController();
  const running = new Set<Promise<void>>();
  const waiting: Waiting<Item, Result>[] = [];

  async function run(): Promise<void> {
    // Lets every item that is added in this turn of the event loop join the batch.
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

  // The longest waiting is the first.
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
      // Added after the last look, when this one still counted as running.
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
