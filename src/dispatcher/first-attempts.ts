// Makes the first attempt of pending deliveries, except those of failing or disabled endpoints: claims, sends and records it.
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAttempt, type MadeAttempt } from '../webhooks/attempt.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import { changeCount, type EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { Database } from '../db/database.ts';
import { claimDeliveries, type DueDelivery } from '../db/webhooks/delivery.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Log } from '../log.ts';
import { recordDeliveryAttempts, type DeliveryAttempt } from '../operations/webhooks/record-delivery-attempts.ts';
import { createBatcher } from '../db/batcher.ts';

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
  /** How many first attempts may be in flight at once, in all and for one merchant. */
  readonly maxInFlight: number;
  readonly maxPerMerchant: number;
  readonly scheduleMs: readonly number[];
  readonly failingLimitMs: number;
  /** Longer than an attempt and its recording: when it expires first, another dispatcher may send the same event. */
  readonly leaseMs: number;
  readonly onRetryOwed: () => void;
  /** Called after an attempt is recorded. It must not throw. */
  readonly onAttempted?: (attempt: MadeAttempt) => void;
  readonly log: Log;
};

const MAX_RECORD_BATCH = 200;
// Between two claims, so that one claim serves the capacity that several attempts freed.
const CLAIM_PAUSE_MS = 5;

export function createFirstAttempts(options: FirstAttemptsOptions): FirstAttempts {
  const { db, concurrency, maxInFlight, maxPerMerchant, log } = options;
  const attempter = createAttempter(options);
  const inFlight = new Set<Promise<void>>();
  const byMerchant = new Map<MerchantId, number>();
  let running: Promise<void> | null = null;
  let [isAnotherClaimDue, isStopped] = [false, false];

  /** Whether other deliveries may be waiting for the capacity that the end of this attempt frees. */
  function isAtLimit({ endpointId, merchantId }: DueDelivery): boolean {
    const isMerchantAtLimit = (byMerchant.get(merchantId) ?? 0) >= maxPerMerchant;
    return inFlight.size >= maxInFlight || isMerchantAtLimit || !concurrency.hasCapacity(endpointId);
  }

  const logFailedClaim = (error: unknown): void => {
    log.error({ error }, 'deliveries could not be claimed; the next tick tries again');
  };

  function begin(delivery: DueDelivery): void {
    const end = concurrency.begin(delivery.endpointId);
    changeCount(byMerchant, delivery.merchantId, 1);
    const work = attempter.attempt(delivery).then((made) => {
      const mayOthersWait = isAtLimit(delivery);
      end(made?.attempt);
      changeCount(byMerchant, delivery.merchantId, -1);
      inFlight.delete(work);
      if (mayOthersWait) run().catch(logFailedClaim);
    });
    inFlight.add(work);
  }

  function run(): Promise<void> {
    isAnotherClaimDue = true;
    running ??= claimAll().finally(() => {
      running = null;
    });
    return running;
  }

  async function claimAll(): Promise<void> {
    while (isAnotherClaimDue && !isStopped) {
      isAnotherClaimDue = false;
      const limit = maxInFlight - inFlight.size;
      if (limit <= 0) return;
      const deliveries = await claimDeliveries(db, {
        limit,
        leaseMs: options.leaseMs,
        perEndpoint: concurrency.startingCount,
        endpointLimits: concurrency.limits(),
        perMerchant: maxPerMerchant,
        inFlight: { byEndpoint: concurrency.byEndpoint, byMerchant },
      });
      deliveries.forEach(begin);
      isAnotherClaimDue ||= deliveries.length > 0;
      if (isAnotherClaimDue) await sleep(CLAIM_PAUSE_MS);
    }
  }

  return {
    run,
    async drain() {
      isStopped = true;
      // A failed claim is logged elsewhere.
      await running?.catch(() => undefined);
      await Promise.all(inFlight);
      await attempter.drain();
    },
  };
}

type Attempter = {
  /**
   * Makes and records one attempt. Never throws: a delivery whose attempt is not recorded is sent again after its lease, and the
   * result is null.
   */
  attempt(delivery: DueDelivery): Promise<MadeAttempt | null>;
  drain(): Promise<void>;
};

function createAttempter({
  db,
  sender,
  scheduleMs,
  failingLimitMs,
  onRetryOwed,
  onAttempted,
  log,
}: FirstAttemptsOptions): Attempter {
  const recorder = createBatcher<DeliveryAttempt>({
    maxItems: MAX_RECORD_BATCH,
    handle: async (attempts) => {
      const disabled = await recordDeliveryAttempts(db, { attempts, failingLimitMs, at: new Date() });
      for (const endpoint of disabled) log.warn(endpoint, 'an endpoint was disabled');
    },
  });

  return {
    async attempt(delivery) {
      try {
        const made = await makeAttempt(sender, delivery, scheduleMs);
        await recorder.add(made);
        onAttempted?.(made);
        if (made.next.state === 'retrying') onRetryOwed();
        return made;
      } catch (error) {
        log.error({ error, deliveryId: delivery.id }, 'an attempt could not be made or recorded');
        return null;
      }
    },
    drain: () => recorder.drain(),
  };
}
