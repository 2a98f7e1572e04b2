// The places that first attempts take while they are in flight: among those to their endpoint, and among those of their merchant.
import { changeCount, type EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { DueDelivery, InFlight } from '../db/webhooks/delivery.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Attempt } from '../domain/webhooks/delivery.ts';

export type AttemptPlaces = {
  readonly inFlight: InFlight;
  /**
   * Takes a place, whether or not the limits have room. The returned function gives it back, once, however often it is called: with
   * the attempt, or without when none was made.
   */
  take(delivery: Pick<DueDelivery, 'endpointId' | 'merchantId'>): (attempt?: Attempt) => void;
};

export type AttemptPlacesOptions = {
  readonly concurrency: EndpointConcurrency;
  readonly maxPerMerchant: number;
  /** Called after a place was given back that other deliveries may be waiting for. */
  readonly onFreed: () => void;
};

export function createAttemptPlaces({ concurrency, maxPerMerchant, onFreed }: AttemptPlacesOptions): AttemptPlaces {
  const byMerchant = new Map<MerchantId, number>();
  return {
    inFlight: { byEndpoint: concurrency.byEndpoint, byMerchant },
    take({ endpointId, merchantId }) {
      const end = concurrency.begin(endpointId);
      changeCount(byMerchant, merchantId, 1);
      let isHeld = true;
      return (attempt) => {
        if (!isHeld) return;
        isHeld = false;
        const isMerchantAtLimit = (byMerchant.get(merchantId) ?? 0) >= maxPerMerchant;
        const mayOthersWait = isMerchantAtLimit || !concurrency.hasCapacity(endpointId);
        end(attempt);
        changeCount(byMerchant, merchantId, -1);
        if (mayOthersWait) onFreed();
      };
    },
  };
}
