// Gathers items that come one by one and handles them many at a time.

export type Batcher<Item> = {
  /** Resolves when the item's batch was handled; rejects when handling it failed. */
  add(item: Item): Promise<void>;
  /** Handles what is waiting and resolves when nothing is under way any more. */
  drain(): Promise<void>;
};

type Waiting<Item> = { item: Item; resolve: () => void; reject: (error: unknown) => void };

/** One batch is under way at a time; what comes meanwhile makes the next one, so batches grow with the load. */
export function createBatcher<Item>(options: {
  readonly maxItems: number;
  readonly handle: (items: Item[]) => Promise<void>;
}): Batcher<Item> {
  let waiting: Waiting<Item>[] = [];
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    // Lets all that settles in this turn of the event loop join the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
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
      while (running !== null) await running;
    },
  };
}
