// How many queries by schedule may be in flight: as many as the operator answers in time.

export type QueryWindow = {
  /** From 1 to `max`. */
  size(): number;
  /** Called after each query; a query without an answer in time means that too many are in flight. */
  answered(isInTime: boolean): void;
};

export type QueryWindowOptions = {
  readonly max: number;
  /** The longest time of a call: queries that were in flight when the window was halved do not halve it again. */
  readonly roundMs: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
};

const FIRST_SIZE = 4;

/**
 * Grows by one for each window of queries answered in time. An answer that does not come in time halves the window, at most once a round.
 */
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
