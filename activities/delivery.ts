// What the delivery workflow does: send, and record what came back.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { WebhookCourier } from '../src/clients/webhook-courier.ts';
import type { Database } from '../src/db/database.ts';
import { nextStep } from '../src/domain/delivery.ts';
import type { DeliveryId } from '../src/domain/ids.ts';
import { getRetryingDelivery } from '../src/operations/get-retrying-delivery.ts';
import { recordDeliveryAttempts } from '../src/operations/record-delivery-attempts.ts';

export type DeliveryActivityDeps = {
  readonly db: Database;
  readonly courier: WebhookCourier;
  readonly scheduleMs: readonly number[];
};

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

export function createDeliveryActivities({ db, courier, scheduleMs }: DeliveryActivityDeps) {
  return {
    /**
     * One attempt, recorded. Fails with the schedule's delay while more attempts are owed. A death between sending and
     * recording sends the same event again: at least once, as promised.
     */
    async sendDelivery({
      deliveryId,
    }: {
      deliveryId: DeliveryId;
    }): Promise<'delivered' | 'dead_lettered' | 'not_owed'> {
      const delivery = await getRetryingDelivery(db, deliveryId);
      if (delivery === null) return 'not_owed';
      const attemptNumber = delivery.attemptCount + 1;
      const attempt = await courier.send(delivery, attemptNumber);
      const next = nextStep(attemptNumber, attempt.result, scheduleMs, Math.random());
      const { endpointId, isEndpointFailing } = delivery;
      await recordDeliveryAttempts(db, [
        { id: deliveryId, endpointId, isEndpointFailing, attemptNumber, attempt, next, at: new Date() },
      ]);
      if (next.state !== 'retrying') return next.state;
      const { result } = attempt;
      throw ApplicationFailure.create({
        message: result.kind === 'answered' ? `the endpoint answered ${result.statusCode}` : result.error,
        type: 'DeliveryNotAccepted',
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: next.delayMs,
      });
    },
  };
}
