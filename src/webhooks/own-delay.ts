// How long this process itself kept callbacks waiting: its event loop was busy, or it had no CPU.

export type OwnDelay = {
  /** Milliseconds since the process began to watch, in all; only differences mean something. */
  totalMs(): number;
  watch(): void;
  /** What is late while nothing is watched is not counted. */
  rest(): void;
};

const EVERY_MS = 20;

/** By a timer: what it is late by, everything was late by. */
export function createOwnDelay(clock = () => performance.now()): OwnDelay {
  let timer: NodeJS.Timeout | null = null;
  let [dueMs, doneMs] = [0, 0];
  const lateMs = (): number => (timer === null ? 0 : Math.max(0, clock() - dueMs));

  function tick(): void {
    doneMs += lateMs();
    dueMs = clock() + EVERY_MS;
  }

  return {
    totalMs: () => doneMs + lateMs(),
    watch() {
      if (timer !== null) return;
      dueMs = clock() + EVERY_MS;
      timer = setInterval(tick, EVERY_MS);
      timer.unref();
    },
    rest() {
      if (timer === null) return;
      doneMs += lateMs();
      clearInterval(timer);
      timer = null;
    },
  };
}
