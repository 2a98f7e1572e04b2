// The capacity that first attempts use while they are in flight: of their endpoint, and of their merchant.
import { changeCount, type EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { DueDelivery, InFlight } from '../db/webhooks/delivery.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Attempt } from '../domain/webhooks/delivery.ts';

export type AttemptCapacity = {
  readonly inFlight: InFlight;
  /** Takes capacity for one attempt, whether or not the limits allow it. */
  take(delivery: Pick<DueDelivery, 'endpointId' | 'merchantId'>): CapacityReservation;
};

/** Given back once, however often the functions are called. */
export type CapacityReservation = {
  /** Gives back the endpoint's capacity: with the attempt, or without one if none was made. */
  readonly giveBackEndpoint: (attempt?: Attempt) => void;
  /** Gives back the merchant's capacity, and the endpoint's if that is still taken. */
  readonly giveBack: () => void;
};

export type AttemptCapacityOptions = {
  readonly concurrency: EndpointConcurrency;
  readonly maxPerMerchant: number;
  /** Called after capacity was given back. `isScarce`: none was left before, so other deliveries may wait for it. */
  readonly onGivenBack: (isScarce: boolean) => void;
};

export function createAttemptCapacity(options: AttemptCapacityOptions): AttemptCapacity {
  const { concurrency, maxPerMerchant, onGivenBack } = options;
  const byMerchant = new Map<MerchantId, number>();
  return {
    inFlight: { byEndpoint: concurrency.byEndpoint, byMerchant },
    take({ endpointId, merchantId }) {
      const end = concurrency.begin(endpointId);
      changeCount(byMerchant, merchantId, 1);
      let [isEndpointHeld, isMerchantHeld] = [true, true];
      function giveBackEndpoint(attempt?: Attempt): void {
        if (!isEndpointHeld) return;
        isEndpointHeld = false;
        const isScarce = !concurrency.hasCapacity(endpointId);
        end(attempt);
        onGivenBack(isScarce);
      }
      return {
        giveBackEndpoint,
        giveBack() {
          giveBackEndpoint();
          if (!isMerchantHeld) return;
          isMerchantHeld = false;
          const isScarce = (byMerchant.get(merchantId) ?? 0) >= maxPerMerchant;
          changeCount(byMerchant, merchantId, -1);
          onGivenBack(isScarce);
        },
      };
    },
  };
}
