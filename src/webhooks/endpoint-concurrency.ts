// How many webhook attempts this process has under way to each endpoint: one count for first attempts and for retries, so
// that together they keep to the bound.
import type { EndpointId } from '../domain/ids.ts';

export type EndpointConcurrency = {
  readonly perEndpoint: number;
  /** Counts an attempt, over the bound too: that is for who asks before. What it returns ends it. */
  enter(endpointId: EndpointId): () => void;
  /** Whether one more to this endpoint keeps to the bound. */
  hasRoom(endpointId: EndpointId): boolean;
  /**
   * For one that found no room: in how many milliseconds it may ask again. However many they are, no more of an endpoint
   * ask within a second than there may be under way: else a crowd at one slow receiver would keep the whole service busy.
   */
  retryInMs(endpointId: EndpointId, nowMs?: number): number;
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
};

const ROOM_WAIT_MS = 1000;

export function createEndpointConcurrency(perEndpoint: number): EndpointConcurrency {
  const byEndpoint = new Map<EndpointId, number>();
  // When the last of those who found no room asks again.
  const lastAskMs = new Map<EndpointId, number>();
  return {
    perEndpoint,
    enter(endpointId) {
      changeCount(byEndpoint, endpointId, 1);
      return () => {
        changeCount(byEndpoint, endpointId, -1);
      };
    },
    hasRoom: (endpointId) => (byEndpoint.get(endpointId) ?? 0) < perEndpoint,
    retryInMs(endpointId, nowMs = performance.now()) {
      for (const [id, askMs] of lastAskMs) if (askMs < nowMs) lastAskMs.delete(id);
      const last = lastAskMs.get(endpointId) ?? 0;
      const askMs = Math.max(nowMs + ROOM_WAIT_MS, last + ROOM_WAIT_MS / perEndpoint);
      lastAskMs.set(endpointId, askMs);
      return Math.ceil(askMs - nowMs);
    },
    byEndpoint,
  };
}

/** Without an entry for what is zero: such a map is as large as what goes on, and no larger. */
export function changeCount<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
