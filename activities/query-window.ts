// How many queries by schedule may be in flight: as many as the operator answers in time.

export type QueryWindow = {
  /** From 1 to the most that are allowed. */
  size(): number;
  /** Call it after each query; without an answer in time there are too many in flight. */
  answered(isInTime: boolean): void;
};

export type QueryWindowOptions = {
  readonly max: number;
  /** The longest time of a call: what was in flight when the window was halved says no more about it. */
  readonly roundMs: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
};

const FIRST_SIZE = 4;

/** Grows by one for each window that is answered in time, and is halved, once a round, when an answer does not come. */
export function createQueryWindow({ max, roundMs, nowMs = () => performance.now() }: QueryWindowOptions): QueryWindow {
  let size = Math.min(FIRST_SIZE, max);
  let halvedAtMs = -Infinity;
  return {
    size: () => Math.floor(size),
    answered(isInTime) {
      if (isInTime) {
        size = Math.min(max, size + 1 / size);
      } else if (nowMs() - halvedAtMs >= roundMs) {
        halvedAtMs = nowMs();
        size = Math.max(1, size / 2);
      }
    },
  };
}
