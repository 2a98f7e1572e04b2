// How many webhook attempts this process has under way, by endpoint and by merchant: one count for first attempts and for
// retries, so that together they keep to the bounds.
import type { EndpointId, MerchantId } from '../domain/ids.ts';

export type TrafficBounds = {
  readonly total: number;
  readonly perEndpoint: number;
  readonly perMerchant: number;
};

type Traveller = { readonly endpointId: EndpointId; readonly merchantId: MerchantId };

export type WebhookTraffic = {
  readonly bounds: TrafficBounds;
  /** Counts an attempt, over the bounds too: they are for who asks before. What it returns ends it. */
  enter(attempt: Traveller): () => void;
  /** Whether one more to this endpoint keeps to its bound. */
  hasRoom(endpointId: EndpointId): boolean;
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
  readonly byMerchant: ReadonlyMap<MerchantId, number>;
  readonly total: () => number;
};

export function createWebhookTraffic(bounds: TrafficBounds): WebhookTraffic {
  const byEndpoint = new Map<EndpointId, number>();
  const byMerchant = new Map<MerchantId, number>();
  let total = 0;

  return {
    bounds,
    enter({ endpointId, merchantId }) {
      total += 1;
      add(byEndpoint, endpointId, 1);
      add(byMerchant, merchantId, 1);
      return () => {
        total -= 1;
        add(byEndpoint, endpointId, -1);
        add(byMerchant, merchantId, -1);
      };
    },
    hasRoom: (endpointId) => (byEndpoint.get(endpointId) ?? 0) < bounds.perEndpoint,
    byEndpoint,
    byMerchant,
    total: () => total,
  };
}

function add<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
