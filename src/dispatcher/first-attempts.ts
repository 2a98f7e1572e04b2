// Makes the first attempts of pending deliveries, except to failing or disabled endpoints: claims, sends, records.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import { makeAttempt, type MadeAttempt } from '../webhooks/attempt.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import type { EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { Database } from '../db/platform/database.ts';
import { claimDeliveries, LEAST_SHARE, type DueDelivery } from '../db/webhooks/delivery.ts';
import type { EndpointId } from '../domain/ids.ts';
import type { Attempt } from '../domain/webhooks/delivery.ts';
import type { Log } from '../log.ts';
import { recordDeliveryAttempts, type DeliveryAttempt } from '../operations/webhooks/record-delivery-attempts.ts';
import { createBatcher } from '../db/platform/batcher.ts';
import { createAttemptCapacity } from './attempt-capacity.ts';

export type FirstAttempts = {
  /** Claims and sends as many deliveries as the limits allow; resolves when there is nothing more to claim now. */
  run(): Promise<void>;
  /** Stops claiming, and resolves when every attempt in flight is recorded. */
  drain(): Promise<void>;
};

export type FirstAttemptsOptions = {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly concurrency: EndpointConcurrency;
  /** How many first attempts may be in flight or not yet recorded at once, and in flight for one merchant. */
  readonly maxInFlight: number;
  readonly maxPerMerchant: number;
  readonly scheduleMs: readonly number[];
  readonly failingLimitMs: number;
  readonly overdueMs: number;
  /** Longer than an attempt and its recording: after the lease, another dispatcher may send the same event. */
  readonly leaseMs: number;
  readonly onRetryOwed: () => void;
  /** Called after an attempt is recorded. It must not throw. */
  readonly onAttempted?: (attempt: MadeAttempt) => void;
  readonly log: Log;
};

const MAX_RECORD_BATCH = 200;
export const PAUSE_BETWEEN_CLAIMS_MS = 5;

export function createFirstAttempts(options: FirstAttemptsOptions): FirstAttempts {
  const { db, concurrency, maxInFlight, maxPerMerchant, log } = options;
  const attempter = createAttempter(options);
  const inFlight = new Set<Promise<void>>();
  const capacity = createAttemptCapacity({ concurrency, maxPerMerchant, onGivenBack });
  let isClaiming = false;
  const claims = createCoalescingLoop({
    async pass() {
      isClaiming = true;
      const mayFindMore = await claim().finally(() => (isClaiming = false));
      if (mayFindMore) claims.wake();
    },
    onError(error) {
      log.error({ error }, 'deliveries could not be claimed; the next tick tries again');
    },
    pauseMs: PAUSE_BETWEEN_CLAIMS_MS,
  });

  // A claim in progress counts attempts that ended after its beginning as in flight.
  function onGivenBack(isScarce: boolean): void {
    if (isScarce || isClaiming) claims.wakeSoon();
  }

  function begin(delivery: DueDelivery): void {
    const reservation = capacity.take(delivery);
    const work = attempter.attempt(delivery, reservation.giveBackEndpoint).finally(() => {
      const isScarce = inFlight.size >= maxInFlight;
      inFlight.delete(work);
      // So a merchant whose attempts wait to be recorded leaves capacity to others.
      reservation.giveBack();
      onGivenBack(isScarce);
    });
    inFlight.add(work);
  }

  async function claim(): Promise<boolean> {
    const limit = maxInFlight - inFlight.size;
    if (limit <= 0) return false;
    const deliveries = await claimDeliveries(db, {
      limit,
      leaseMs: options.leaseMs,
      perEndpoint: concurrency.startingCount,
      endpointLimits: concurrency.limits(),
      perMerchant: maxPerMerchant,
      inFlight: capacity.inFlight,
    });
    deliveries.forEach(begin);
    return mayOthersBeClaimed(deliveries, concurrency);
  }

  return {
    run: claims.run,
    async drain() {
      await claims.stop();
      await Promise.all(inFlight);
      await attempter.drain();
    },
  };
}

/** Whether the claim may have left deliveries to an endpoint with capacity. Others are claimed when an attempt ends. */
function mayOthersBeClaimed(claimed: readonly DueDelivery[], concurrency: EndpointConcurrency): boolean {
  const counts = new Map<EndpointId, number>();
  for (const { endpointId } of claimed) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  return [...counts].some(([endpointId, count]) => count >= LEAST_SHARE && concurrency.hasCapacity(endpointId));
}

type Attempter = {
  /**
   * Makes and records one attempt. `onEnded` is called at most once: when the endpoint has accepted it, otherwise when
   * its record has taken effect. Never throws: a delivery with an unrecorded attempt is sent again after its lease.
   */
  attempt(delivery: DueDelivery, onEnded: (attempt: Attempt) => void): Promise<void>;
  drain(): Promise<void>;
};

function createAttempter(options: FirstAttemptsOptions): Attempter {
  const { db, sender, scheduleMs, failingLimitMs, overdueMs, onRetryOwed, onAttempted, log } = options;
  const recorder = createBatcher<DeliveryAttempt>({
    maxItems: MAX_RECORD_BATCH,
    handle: async (attempts) => {
      const disabled = await recordDeliveryAttempts(db, { attempts, failingLimitMs, overdueMs, at: new Date() });
      for (const endpoint of disabled) log.warn(endpoint, 'an endpoint was disabled');
    },
  });

  return {
    async attempt(delivery, onEnded) {
      try {
        const madeAttempt = await makeAttempt(sender, delivery, scheduleMs);
        // The next event does not wait for this record. An endpoint that did not accept gets no other event before the
        // record marks it as failing.
        const isAccepted = madeAttempt.next.state === 'delivered';
        if (isAccepted) onEnded(madeAttempt.attempt);
        await recorder.add(madeAttempt);
        if (!isAccepted) onEnded(madeAttempt.attempt);
        onAttempted?.(madeAttempt);
        if (madeAttempt.next.state === 'retrying') onRetryOwed();
      } catch (error) {
        log.error({ error, deliveryId: delivery.id }, 'an attempt could not be made or recorded');
      }
    },
    drain: () => recorder.drain(),
  };
}
