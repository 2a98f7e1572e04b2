// Limits how many webhook attempts this process has in flight to each endpoint: first attempts and retries share one count.
import type { EndpointId } from '../domain/ids.ts';

export type EndpointConcurrency = {
  readonly perEndpoint: number;
  /**
   * Counts an attempt as in flight until the returned function is called. Does not enforce the limit: callers check
   * `hasCapacity` first.
   */
  begin(endpointId: EndpointId): () => void;
  /** Whether one more attempt to this endpoint stays within the limit. */
  hasCapacity(endpointId: EndpointId): boolean;
  /**
   * How many milliseconds an attempt must wait before it checks for capacity again, when it found none. However many
   * attempts wait for one endpoint, at most `perEndpoint` of them check again within one second: otherwise thousands that
   * wait for one slow receiver would keep the whole service busy.
   */
  nextCheckInMs(endpointId: EndpointId, nowMs?: number): number;
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
};

const CHECK_INTERVAL_MS = 1000;

export function createEndpointConcurrency(perEndpoint: number): EndpointConcurrency {
  const byEndpoint = new Map<EndpointId, number>();
  // The latest check that was promised to an attempt without capacity.
  const lastCheckMs = new Map<EndpointId, number>();
  return {
    perEndpoint,
    begin(endpointId) {
      changeCount(byEndpoint, endpointId, 1);
      return () => {
        changeCount(byEndpoint, endpointId, -1);
      };
    },
    hasCapacity: (endpointId) => (byEndpoint.get(endpointId) ?? 0) < perEndpoint,
    nextCheckInMs(endpointId, nowMs = performance.now()) {
      for (const [id, checkMs] of lastCheckMs) if (checkMs < nowMs) lastCheckMs.delete(id);
      const last = lastCheckMs.get(endpointId) ?? 0;
      const checkMs = Math.max(nowMs + CHECK_INTERVAL_MS, last + CHECK_INTERVAL_MS / perEndpoint);
      lastCheckMs.set(endpointId, checkMs);
      return Math.ceil(checkMs - nowMs);
    },
    byEndpoint,
  };
}

/** Removes an entry that reaches zero, so that the map stays as small as the number of keys in use. */
export function changeCount<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
