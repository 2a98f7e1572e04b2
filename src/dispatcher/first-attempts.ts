// Makes the first attempt of every pending delivery: claimed under a lease, sent, recorded.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookCourier } from '../clients/webhook-courier.ts';
import { changeCount, type WebhookTraffic } from '../clients/webhook-traffic.ts';
import type { Database } from '../db/database.ts';
import { nextStep } from '../domain/delivery.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Log } from '../log.ts';
import { claimDeliveries, type DueDelivery } from '../operations/claim-deliveries.ts';
import { recordDeliveryAttempts, type DeliveryAttempt } from '../operations/record-delivery-attempts.ts';
import { createBatcher } from './batcher.ts';

export type FirstAttempts = {
  /** Claims and sends as much as the bounds allow; resolves when there is nothing more to claim now. */
  run(): Promise<void>;
  /** Claims no more, and resolves when what is under way is recorded. */
  drain(): Promise<void>;
};

export type FirstAttemptsOptions = {
  readonly db: Database;
  readonly courier: WebhookCourier;
  readonly traffic: WebhookTraffic;
  /** How many first attempts there may be at once, and how many of one merchant. */
  readonly maxUnderWay: number;
  readonly maxPerMerchant: number;
  readonly scheduleMs: readonly number[];
  readonly failingLimitMs: number;
  /** Longer than an attempt and its recording: who outlives it may see another dispatcher send the same event. */
  readonly leaseMs: number;
  readonly onRetryOwed: () => void;
  readonly log: Log;
};

const RECORD_AT_ONCE = 200;
// Between two claims, so that a claim is for many and not for the one that just made room.
const CLAIM_PAUSE_MS = 5;

export function createFirstAttempts(options: FirstAttemptsOptions): FirstAttempts {
  const { db, courier, traffic, maxUnderWay, maxPerMerchant, log } = options;
  const underWay = new Set<Promise<void>>();
  const byMerchant = new Map<MerchantId, number>();
  let isRunning = false;
  let isAskedAgain = false;
  let isStopped = false;

  const recorder = createBatcher<DeliveryAttempt>({
    maxItems: RECORD_AT_ONCE,
    handle: async (attempts) => {
      const { failingLimitMs } = options;
      const ended = await recordDeliveryAttempts(db, { attempts, failingLimitMs, at: new Date() });
      for (const endpoint of ended) log.warn(endpoint, 'an endpoint was disabled');
    },
  });

  async function attempt(delivery: DueDelivery): Promise<void> {
    const attemptNumber = delivery.attemptCount + 1;
    try {
      const made = await courier.send(delivery, attemptNumber);
      const step = attemptNumber - delivery.attemptsBeforeReplay;
      const next = nextStep(step, made.result, options.scheduleMs, Math.random());
      await recorder.add({ ...delivery, attemptNumber, attempt: made, next, at: new Date() });
      if (next.state === 'retrying') options.onRetryOwed();
    } catch (error) {
      // The lease runs out and the event is sent again.
      log.error({ error, deliveryId: delivery.id }, 'an attempt could not be made or recorded');
    }
  }

  /** Whether something may be waiting for the room that the end of this attempt makes. */
  function isFull({ endpointId, merchantId }: DueDelivery): boolean {
    const isMerchantFull = (byMerchant.get(merchantId) ?? 0) >= maxPerMerchant;
    return underWay.size >= maxUnderWay || isMerchantFull || !traffic.hasRoom(endpointId);
  }

  function begin(delivery: DueDelivery): void {
    const leave = traffic.enter(delivery.endpointId);
    changeCount(byMerchant, delivery.merchantId, 1);
    const work = attempt(delivery).then(() => {
      const mayOthersWait = isFull(delivery);
      leave();
      changeCount(byMerchant, delivery.merchantId, -1);
      underWay.delete(work);
      if (mayOthersWait) claimOnceMore();
    });
    underWay.add(work);
  }

  function claimOnceMore(): void {
    run().catch((error: unknown) => {
      log.error({ error }, 'deliveries could not be claimed; the next tick tries again');
    });
  }

  async function run(): Promise<void> {
    isAskedAgain = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isAskedAgain && !isStopped) {
        isAskedAgain = false;
        const limit = maxUnderWay - underWay.size;
        if (limit <= 0) return;
        const deliveries = await claimDeliveries(db, {
          limit,
          leaseMs: options.leaseMs,
          perEndpoint: traffic.perEndpoint,
          perMerchant: maxPerMerchant,
          underWay: { byEndpoint: traffic.byEndpoint, byMerchant },
        });
        deliveries.forEach(begin);
        isAskedAgain ||= deliveries.length > 0;
        if (isAskedAgain) await sleep(CLAIM_PAUSE_MS);
      }
    } finally {
      isRunning = false;
    }
  }

  return {
    run,
    async drain() {
      isStopped = true;
      await Promise.all(underWay);
      await recorder.drain();
    },
  };
}
