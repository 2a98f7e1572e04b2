// The activities of the delivery workflow: load the delivery, and send one attempt and record its result.
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { makeAttempt, type MadeAttempt } from '../src/webhooks/attempt.ts';
import type { WebhookSender } from '../src/webhooks/sender.ts';
import type { EndpointConcurrency } from '../src/webhooks/endpoint-concurrency.ts';
import type { Database } from '../src/db/platform/database.ts';
import { findRetryingDelivery } from '../src/db/webhooks/delivery.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import type { DeliveryId } from '../src/domain/ids.ts';
import type { Log } from '../src/log.ts';
import { recordDeliveryAttempts } from '../src/operations/webhooks/record-delivery-attempts.ts';

export type DeliveryActivityDeps = {
  readonly db: Database;
  readonly sender: WebhookSender;
  readonly concurrency: EndpointConcurrency;
  readonly clocks: Pick<Clocks, 'deliveryScheduleMs' | 'deliveryTimeoutMs' | 'endpointFailingLimitMs' | 'staleAfterMs'>;
  /** Called after an attempt is recorded. It must not throw. */
  readonly onAttempted?: (attempt: MadeAttempt) => void;
  /** The number of the activity's current try, from 1; Temporal's own number if absent. */
  readonly tryNumber?: () => number;
  readonly log: Log;
};

type DeliveryRef = { readonly deliveryId: DeliveryId; readonly replayCount: number };

/** The durations for which the workflow waits and sends. */
export type AttemptTimes = { readonly dueInMs: number; readonly attemptTimeoutMs: number };

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/** The clocks of the database and of our machines may differ by this much, so a shorter wait does not end the try. */
const CLOCK_SKEW_MS = 500;

export function createDeliveryActivities(deps: DeliveryActivityDeps) {
  const { db, sender, concurrency, clocks, log } = deps;
  const { tryNumber = () => activityInfo().attempt } = deps;
  return {
    /** One read: when the next attempt is due, and how long it may take; null if no attempt is owed any more. */
    async loadDelivery({ deliveryId, replayCount }: DeliveryRef): Promise<AttemptTimes | null> {
      const delivery = await findRetryingDelivery(db, deliveryId, replayCount);
      if (delivery === null) return null;
      const dueInMs = Math.max(0, (delivery.nextAttemptAt?.getTime() ?? 0) - Date.now());
      return { dueInMs, attemptTimeoutMs: clocks.deliveryTimeoutMs };
    },

    /**
     * Makes one attempt and records it. Throws with the schedule's delay while more attempts are owed. A crash between
     * sending and recording sends the same event again: delivery is at least once. When too many attempts to the
     * endpoint are in flight, it throws to make way for other deliveries and is retried later.
     */
    async sendDelivery({ deliveryId, replayCount }: DeliveryRef): Promise<'delivered' | 'dead_lettered' | 'not_owed'> {
      const delivery = await findRetryingDelivery(db, deliveryId, replayCount);
      if (delivery === null) return 'not_owed';
      const dueInMs = (delivery.nextAttemptAt?.getTime() ?? 0) - Date.now();
      // Here a worker recorded the previous attempt and died before it reported the wait to Temporal. The first try sends at any time: the
      // workflow has waited already, and after a manual reset a person wants the attempt now.
      if (dueInMs > CLOCK_SKEW_MS && tryNumber() > 1) {
        throw notAccepted('the next attempt is not due yet', dueInMs);
      }
      if (!concurrency.hasCapacity(delivery.endpointId)) {
        const nextCheckInMs = concurrency.nextCheckInMs(delivery.endpointId);
        throw notAccepted('too many attempts to this endpoint are in flight', nextCheckInMs);
      }
      const end = concurrency.begin(delivery.endpointId);
      let sent: (typeof delivery & MadeAttempt) | undefined;
      try {
        sent = await makeAttempt(sender, delivery, clocks.deliveryScheduleMs);
        const { endpointFailingLimitMs: failingLimitMs, staleAfterMs: overdueMs } = clocks;
        const disabled = await recordDeliveryAttempts(db, { attempts: [sent], failingLimitMs, overdueMs, at: sent.at });
        deps.onAttempted?.(sent);
        for (const endpoint of disabled) log.warn(endpoint, 'an endpoint was disabled');
        if (sent.next.state !== 'retrying') return sent.next.state;
        const { result } = sent.attempt;
        const why = result.kind === 'answered' ? `the endpoint answered ${result.statusCode}` : result.error;
        throw notAccepted(why, sent.next.delayMs);
      } finally {
        end(sent?.attempt);
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
