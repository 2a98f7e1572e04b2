// Runs work when it is due, and tracks running work, so that a stop waits for all of it.

type DueWork = {
  /** Runs the work for `key` at `atMs` (Unix time), or at once. Replaces an earlier time for the key. */
  schedule(key: string, atMs: number): void;
  cancel(key: string): void;
  /** Runs the work now; settles with it. */
  run(key: string): Promise<void>;
  /** Makes a stop wait for this promise too, and reports its rejection. */
  follow(running: Promise<void>): void;
  /** Starts no more work; resolves when no work is running. */
  stop(): Promise<void>;
};

/** The longest delay a Node timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createDueWork(work: (key: string) => Promise<void>, onError: (error: unknown) => void): DueWork {
  // One timer per key is cheap: Node keeps timers of equal duration in one list, and nearly all here are equal.
  const timers = new Map<string, NodeJS.Timeout>();
  const underWay = new Set<Promise<void>>();
  let isStopped = false;

  async function run(key: string): Promise<void> {
    if (isStopped) return;
    await tracked(work(key));
  }

  async function tracked(running: Promise<void>): Promise<void> {
    underWay.add(running);
    try {
      await running;
    } finally {
      underWay.delete(running);
    }
  }

  function schedule(key: string, atMs: number): void {
    if (isStopped) return;
    cancel(key);
    const timer = setTimeout(
      () => {
        timers.delete(key);
        // A timer may fire slightly early, and one limited to LONGEST_TIMER_MS fires days early.
        if (Date.now() < atMs) schedule(key, atMs);
        else run(key).catch(onError);
      },
      Math.min(Math.max(0, atMs - Date.now()), LONGEST_TIMER_MS),
    );
    timers.set(key, timer);
  }

  function cancel(key: string): void {
    clearTimeout(timers.get(key));
    timers.delete(key);
  }

  return {
    schedule,
    cancel,
    run,
    follow(running) {
      tracked(running).catch(onError);
    },
    async stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await Promise.allSettled(underWay);
    },
  };
}
