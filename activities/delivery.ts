// What the delivery workflow does: send, and record what came back.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { WebhookSender } from '../src/webhooks/sender.ts';
import type { EndpointConcurrency } from '../src/webhooks/endpoint-concurrency.ts';
import type { Database } from '../src/db/database.ts';
import { nextStep } from '../src/domain/webhooks/delivery.ts';
import type { DeliveryId } from '../src/domain/ids.ts';
import type { Log } from '../src/log.ts';
import { getRetryingDelivery } from '../src/queries/webhooks/get-retrying-delivery.ts';
import { recordDeliveryAttempts } from '../src/operations/webhooks/record-delivery-attempts.ts';

export type DeliveryActivityDeps = {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly concurrency: EndpointConcurrency;
  readonly scheduleMs: readonly number[];
  readonly failingLimitMs: number;
  /** Which try of the activity this is, from 1; as Temporal says, if nobody else does. */
  readonly tryNumber?: () => number;
  readonly log: Log;
};

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/** Two machines' clocks, or the database's and ours: no wait is worth a try for so little. */
const CLOCKS_DIFFER_MS = 500;

export function createDeliveryActivities(deps: DeliveryActivityDeps) {
  const { db, sender, concurrency, scheduleMs, failingLimitMs, log } = deps;
  const { tryNumber = () => activityInfo().attempt } = deps;
  return {
    /**
     * One attempt, recorded. Fails with the schedule's delay while more attempts are owed. A death between sending and
     * recording sends the same event again: at least once, as promised. While too many attempts to the endpoint are under
     * way it gives its place to others and comes back.
     */
    async sendDelivery({
      deliveryId,
      replayCount,
    }: {
      deliveryId: DeliveryId;
      replayCount: number;
    }): Promise<'delivered' | 'dead_lettered' | 'not_owed'> {
      const delivery = await getRetryingDelivery(db, deliveryId, replayCount);
      if (delivery === null) return 'not_owed';
      const dueInMs = (delivery.nextAttemptAt?.getTime() ?? 0) - Date.now();
      // The attempt before was recorded, and who made it died before it told Temporal of the wait. The first try sends
      // whatever the time: the workflow waited already, and a reset by hand means now.
      if (dueInMs > CLOCKS_DIFFER_MS && tryNumber() > 1) {
        throw notAccepted('the next attempt is not due yet', dueInMs);
      }
      if (!concurrency.hasRoom(delivery.endpointId)) {
        const againInMs = concurrency.retryInMs(delivery.endpointId);
        throw notAccepted('too many attempts to this endpoint are under way', againInMs);
      }
      const attemptNumber = delivery.attemptCount + 1;
      const leave = concurrency.enter(delivery.endpointId);
      try {
        const attempt = await sender.send(delivery, attemptNumber);
        const step = attemptNumber - delivery.attemptsBeforeReplay;
        const next = nextStep(step, attempt.result, scheduleMs, Math.random());
        const at = new Date();
        const attempts = [{ ...delivery, attemptNumber, attempt, next, at }];
        const ended = await recordDeliveryAttempts(db, { attempts, failingLimitMs, at });
        for (const endpoint of ended) log.warn(endpoint, 'an endpoint was disabled');
        if (next.state !== 'retrying') return next.state;
        const { result } = attempt;
        const why = result.kind === 'answered' ? `the endpoint answered ${result.statusCode}` : result.error;
        throw notAccepted(why, next.delayMs);
      } finally {
        leave();
      }
    },
  };
}

function notAccepted(message: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'DeliveryNotAccepted',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay,
  });
}
