// Limits how many webhook attempts this process has in flight to each endpoint, first attempts and retries together.
import type { EndpointId } from '../domain/ids.ts';
import type { Attempt } from '../domain/webhooks/delivery.ts';
import { createOwnDelay } from './own-delay.ts';
import { afterAttempt, startingLimit, type EndpointLimit } from '../domain/webhooks/endpoint-limit.ts';

export type EndpointConcurrency = {
  /** The limit of every endpoint that is missing in `limits`. */
  readonly startingCount: number;
  /**
   * Counts an attempt as in flight until the returned function is called: with the attempt, which changes the
   * endpoint's limit, or without one if none was made. Does not enforce the limit: callers check `hasCapacity` first.
   */
  begin(endpointId: EndpointId): (attempt?: Attempt) => void;
  /** Whether one more attempt to this endpoint stays within its limit. */
  hasCapacity(endpointId: EndpointId): boolean;
  /**
   * How many milliseconds an attempt without capacity must wait before its next check. At most `startingCount` of the
   * attempts that wait for one endpoint check within one second: otherwise thousands that wait for one slow receiver
   * would occupy the whole service.
   */
  nextCheckInMs(endpointId: EndpointId, nowMs?: number): number;
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
  /** The limits that differ from the starting one, of endpoints with recent attempts. */
  limits(): ReadonlyMap<EndpointId, number>;
};

const CHECK_INTERVAL_MS = 1000;
/** How long the limit of an endpoint without attempts is remembered, and of how many such endpoints at most. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;

/** `most`: the highest limit that an endpoint can reach. */
export function createEndpointConcurrency(
  most: number,
  clock = () => performance.now(),
  ownDelay = createOwnDelay(clock),
): EndpointConcurrency {
  const start = startingLimit(most);
  const byEndpoint = new Map<EndpointId, number>();
  const changed = new Map<EndpointId, EndpointLimit>();
  // Endpoints without an attempt in flight, longest idle first, with the end of their last attempt.
  const idle = new Map<EndpointId, number>();
  // The latest check that an attempt without capacity was given.
  const lastCheckMs = new Map<EndpointId, number>();
  const limitOf = (endpointId: EndpointId): EndpointLimit => changed.get(endpointId) ?? start;

  function forgetIdle(): void {
    for (const [endpointId, sinceMs] of idle) {
      if (idle.size <= MAX_REMEMBERED && clock() - sinceMs < REMEMBERED_MS) return;
      idle.delete(endpointId);
      changed.delete(endpointId);
    }
  }

  return {
    startingCount: start.count,
    begin(endpointId) {
      changeCount(byEndpoint, endpointId, 1);
      idle.delete(endpointId);
      const { falls } = limitOf(endpointId);
      ownDelay.watch();
      const beganMs = clock();
      return (attempt) => {
        const inFlight = byEndpoint.get(endpointId) ?? 0;
        if (attempt) {
          // A retry is recorded before it ends here: only a delay during its sending made it longer.
          const ownDelayMs = ownDelay.longestMs(beganMs, beganMs + attempt.durationMs);
          const ended = { attempt, fallsBefore: falls, inFlight, ownDelayMs };
          changed.set(endpointId, afterAttempt(limitOf(endpointId), ended, most));
        }
        changeCount(byEndpoint, endpointId, -1);
        if (byEndpoint.size === 0) ownDelay.rest();
        if (inFlight === 1) idle.set(endpointId, clock());
        forgetIdle();
      };
    },
    hasCapacity: (endpointId) => (byEndpoint.get(endpointId) ?? 0) < limitOf(endpointId).count,
    nextCheckInMs(endpointId, nowMs = performance.now()) {
      for (const [id, checkMs] of lastCheckMs) if (checkMs < nowMs) lastCheckMs.delete(id);
      const last = lastCheckMs.get(endpointId) ?? 0;
      const checkMs = Math.max(nowMs + CHECK_INTERVAL_MS, last + CHECK_INTERVAL_MS / start.count);
      lastCheckMs.set(endpointId, checkMs);
      return Math.ceil(checkMs - nowMs);
    },
    byEndpoint,
    limits() {
      forgetIdle();
      const counts = [...changed].map(([endpointId, { count }]) => [endpointId, count] as const);
      return new Map(counts.filter(([, count]) => count !== start.count));
    },
  };
}

/** Removes an entry that reaches zero, so that the map stays as small as the number of keys in use. */
export function changeCount<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
