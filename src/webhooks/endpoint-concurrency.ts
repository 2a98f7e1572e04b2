// Limits how many webhook attempts this process has in flight to each endpoint, first attempts and retries together.
import type { EndpointId } from '../domain/ids.ts';
import type { Attempt } from '../domain/webhooks/delivery.ts';
import { createOwnDelay } from './own-delay.ts';
import { afterAttempt, startingLimit, type EndpointLimit } from '../domain/webhooks/endpoint-limit.ts';

export type EndpointConcurrency = {
  /** The limit of every endpoint that `limits` does not name. */
  readonly startingCount: number;
  /**
   * Counts an attempt as in flight until the returned function is called: with the attempt, from which the limit of the endpoint
   * follows, or without, when none was made. Does not enforce the limit: callers check `hasCapacity` first.
   */
  begin(endpointId: EndpointId): (attempt?: Attempt) => void;
  /** Whether one more attempt to this endpoint stays within its limit. */
  hasCapacity(endpointId: EndpointId): boolean;
  /**
   * How many milliseconds an attempt must wait before it checks for capacity again, when it found none. However many
   * attempts wait for one endpoint, at most `startingCount` of them check again within one second: otherwise thousands that
   * wait for one slow receiver would keep the whole service busy.
   */
  nextCheckInMs(endpointId: EndpointId, nowMs?: number): number;
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
  /** The limits that are not the starting one, of endpoints with attempts in flight or a short time ago. */
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
  // Those without an attempt in flight, the longest idle first, with when their last attempt ended.
  const idle = new Map<EndpointId, number>();
  // The latest check that was promised to an attempt without capacity.
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
          // A retry is recorded before it ends here: only what was late while it was sent made it longer.
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
