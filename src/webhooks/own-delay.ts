// How long this process itself delayed callbacks: its event loop was busy, or it had no CPU.

export type OwnDelay = {
  /** The longest delay, in milliseconds, that overlaps these times of the clock; 0 if none was noticed. */
  longestMs(fromMs: number, toMs: number): number;
  watch(): void;
  /** Forgets the noticed delays. */
  rest(): void;
};

const EVERY_MS = 20;
/** Timers are never quite on time. */
const LEAST_MS = 5;
/** Longer than an attempt may take. */
const KEPT_MS = 60_000;

/** Measured by a timer: other callbacks were delayed at most as long as the timer. */
export function createOwnDelay(clock = () => performance.now()): OwnDelay {
  let timer: NodeJS.Timeout | null = null;
  let dueMs = 0;
  let waits: { readonly beganMs: number; readonly endedMs: number }[] = [];

  const isNoticed = (nowMs: number): boolean => timer !== null && nowMs - dueMs >= LEAST_MS;

  function tick(): void {
    const nowMs = clock();
    if (isNoticed(nowMs)) waits.push({ beganMs: dueMs, endedMs: nowMs });
    const oldest = waits[0];
    if (oldest !== undefined && oldest.endedMs < nowMs - KEPT_MS) waits.shift();
    dueMs = nowMs + EVERY_MS;
  }

  return {
    longestMs(fromMs, toMs) {
      const nowMs = clock();
      let longest = isNoticed(nowMs) && dueMs < toMs ? nowMs - dueMs : 0;
      for (let index = waits.length - 1; index >= 0; index--) {
        const wait = waits[index];
        if (wait === undefined || wait.endedMs < fromMs) break;
        if (wait.beganMs < toMs) longest = Math.max(longest, wait.endedMs - wait.beganMs);
      }
      return longest;
    },
    watch() {
      if (timer !== null) return;
      dueMs = clock() + EVERY_MS;
      timer = setInterval(tick, EVERY_MS);
      timer.unref();
    },
    rest() {
      if (timer !== null) clearInterval(timer);
      timer = null;
      waits = [];
    },
  };
}
