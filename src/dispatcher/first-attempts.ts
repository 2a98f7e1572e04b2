// Makes the first attempt of every pending delivery: claimed under a lease, sent, recorded.
import type { WebhookCourier } from '../clients/webhook-courier.ts';
import type { Database } from '../db/database.ts';
import { nextStep } from '../domain/delivery.ts';
import type { Log } from '../log.ts';
import { claimDeliveries, type DueDelivery } from '../operations/claim-deliveries.ts';
import { recordDeliveryAttempts, type DeliveryAttempt } from '../operations/record-delivery-attempts.ts';
import { createBatcher } from './batcher.ts';

export type FirstAttempts = {
  /** Claims and sends as much as the bounds allow; resolves when there is nothing more to claim now. */
  run(): Promise<void>;
  drain(): Promise<void>;
};

export type FirstAttemptsOptions = {
  readonly db: Database;
  readonly courier: WebhookCourier;
  readonly scheduleMs: readonly number[];
  readonly maxUnderWay: number;
  /** Longer than an attempt and its recording: who outlives it may see another dispatcher send the same event. */
  readonly leaseMs: number;
  readonly onRetryOwed: () => void;
  readonly log: Log;
};

const RECORD_AT_ONCE = 200;

export function createFirstAttempts(options: FirstAttemptsOptions): FirstAttempts {
  const { db, courier, log } = options;
  const underWay = new Set<Promise<void>>();
  let isRunning = false;
  let calls = 0;

  const recorder = createBatcher<DeliveryAttempt>({
    maxItems: RECORD_AT_ONCE,
    handle: (attempts) => recordDeliveryAttempts(db, attempts),
  });

  async function attempt(delivery: DueDelivery): Promise<void> {
    const attemptNumber = delivery.attemptCount + 1;
    try {
      const made = await courier.send(delivery, attemptNumber);
      const next = nextStep(attemptNumber, made.result, options.scheduleMs, Math.random());
      const { id, endpointId, isEndpointFailing } = delivery;
      await recorder.add({ id, endpointId, isEndpointFailing, attemptNumber, attempt: made, next, at: new Date() });
      if (next.state === 'retrying') options.onRetryOwed();
    } catch (error) {
      // The lease runs out and the event is sent again.
      log.error({ error, deliveryId: delivery.id }, 'an attempt could not be made or recorded');
    }
  }

  async function claimAndSend(): Promise<void> {
    for (;;) {
      const room = options.maxUnderWay - underWay.size;
      if (room <= 0) {
        await Promise.race(underWay);
        continue;
      }
      const callsBefore = calls;
      const deliveries = await claimDeliveries(db, room, options.leaseMs);
      for (const delivery of deliveries) {
        const work = attempt(delivery).then(() => {
          underWay.delete(work);
        });
        underWay.add(work);
      }
      if (deliveries.length < room && calls === callsBefore) return;
    }
  }

  return {
    async run() {
      calls += 1;
      if (isRunning) return;
      isRunning = true;
      try {
        await claimAndSend();
      } finally {
        isRunning = false;
      }
    },
    async drain() {
      await Promise.all(underWay);
      await recorder.drain();
    },
  };
}
