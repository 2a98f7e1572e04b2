// Makes the first attempt of every pending delivery: claimed under a lease, sent, recorded.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookSender } from '../webhooks/sender.ts';
import { changeCount, type EndpointConcurrency } from '../webhooks/endpoint-concurrency.ts';
import type { Database } from '../db/database.ts';
import { nextStep } from '../domain/webhooks/delivery.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Log } from '../log.ts';
import { claimDeliveries, type DueDelivery } from '../operations/webhooks/claim-deliveries.ts';
import { recordDeliveryAttempts, type DeliveryAttempt } from '../operations/webhooks/record-delivery-attempts.ts';
import { createBatcher } from './batcher.ts';

export type FirstAttempts = {
  /** Claims and sends as much as the bounds allow; resolves when there is nothing more to claim now. */
  run(): Promise<void>;
  /** Claims no more, and resolves when what is under way is recorded. */
  drain(): Promise<void>;
};

export type FirstAttemptsOptions = {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly concurrency: EndpointConcurrency;
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
  const { db, concurrency, maxUnderWay, maxPerMerchant, log } = options;
  const attempter = createAttempter(options);
  const underWay = new Set<Promise<void>>();
  const byMerchant = new Map<MerchantId, number>();
  let running: Promise<void> | null = null;
  let [isAskedAgain, isStopped] = [false, false];

  /** Whether something may be waiting for the room that the end of this attempt makes. */
  function isFull({ endpointId, merchantId }: DueDelivery): boolean {
    const isMerchantFull = (byMerchant.get(merchantId) ?? 0) >= maxPerMerchant;
    return underWay.size >= maxUnderWay || isMerchantFull || !concurrency.hasRoom(endpointId);
  }

  const logFailedClaim = (error: unknown): void => {
    log.error({ error }, 'deliveries could not be claimed; the next tick tries again');
  };

  function begin(delivery: DueDelivery): void {
    const leave = concurrency.enter(delivery.endpointId);
    changeCount(byMerchant, delivery.merchantId, 1);
    const work = attempter.attempt(delivery).then(() => {
      const mayOthersWait = isFull(delivery);
      leave();
      changeCount(byMerchant, delivery.merchantId, -1);
      underWay.delete(work);
      if (mayOthersWait) run().catch(logFailedClaim);
    });
    underWay.add(work);
  }

  function run(): Promise<void> {
    isAskedAgain = true;
    running ??= claimAll().finally(() => {
      running = null;
    });
    return running;
  }

  async function claimAll(): Promise<void> {
    while (isAskedAgain && !isStopped) {
      isAskedAgain = false;
      const limit = maxUnderWay - underWay.size;
      if (limit <= 0) return;
      const deliveries = await claimDeliveries(db, {
        limit,
        leaseMs: options.leaseMs,
        perEndpoint: concurrency.perEndpoint,
        perMerchant: maxPerMerchant,
        underWay: { byEndpoint: concurrency.byEndpoint, byMerchant },
      });
      deliveries.forEach(begin);
      isAskedAgain ||= deliveries.length > 0;
      if (isAskedAgain) await sleep(CLAIM_PAUSE_MS);
    }
  }

  return {
    run,
    async drain() {
      isStopped = true;
      // A claim that fails has logged it.
      await running?.catch(() => undefined);
      await Promise.all(underWay);
      await attempter.drain();
    },
  };
}

type Attempter = {
  /** One attempt, recorded. Never throws: what could not be recorded is sent again when the lease ran out. */
  attempt(delivery: DueDelivery): Promise<void>;
  drain(): Promise<void>;
};

function createAttempter({
  db,
  sender,
  scheduleMs,
  failingLimitMs,
  onRetryOwed,
  log,
}: FirstAttemptsOptions): Attempter {
  const recorder = createBatcher<DeliveryAttempt>({
    maxItems: RECORD_AT_ONCE,
    handle: async (attempts) => {
      const ended = await recordDeliveryAttempts(db, { attempts, failingLimitMs, at: new Date() });
      for (const endpoint of ended) log.warn(endpoint, 'an endpoint was disabled');
    },
  });

  return {
    async attempt(delivery) {
      const attemptNumber = delivery.attemptCount + 1;
      try {
        const made = await sender.send(delivery, attemptNumber);
        const step = attemptNumber - delivery.attemptsBeforeReplay;
        const next = nextStep(step, made.result, scheduleMs, Math.random());
        await recorder.add({ ...delivery, attemptNumber, attempt: made, next, at: new Date() });
        if (next.state === 'retrying') onRetryOwed();
      } catch (error) {
        log.error({ error, deliveryId: delivery.id }, 'an attempt could not be made or recorded');
      }
    },
    drain: () => recorder.drain(),
  };
}
