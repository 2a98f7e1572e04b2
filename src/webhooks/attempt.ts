// Makes one delivery attempt: sends the webhook and decides the next step. The caller records the result.
import type { EventType } from '../domain/event.ts';
import type { CollectionId, MerchantId, PayoutId } from '../domain/ids.ts';
import { nextStep, type Attempt, type NextStep } from '../domain/webhooks/delivery.ts';
import type { WebhookRequest, WebhookSender } from './sender.ts';

type DeliveryToSend = WebhookRequest & {
  readonly merchantId: MerchantId;
  readonly eventType: EventType;
  readonly paymentId: CollectionId | PayoutId | null;
  readonly requestId: string | null;
  readonly attemptCount: number;
  readonly attemptsBeforeReplay: number;
};

export type MadeAttempt = DeliveryToSend & {
  readonly attemptNumber: number;
  readonly attempt: Attempt;
  readonly next: NextStep;
  readonly at: Date;
};

/** The delivery with its next attempt, ready to be recorded. Rejects only if `send` does; sending twice is allowed. */
export async function makeAttempt<Delivery extends DeliveryToSend>(
  sender: WebhookSender,
  delivery: Delivery,
  scheduleMs: readonly number[],
): Promise<Delivery & MadeAttempt> {
  const attemptNumber = delivery.attemptCount + 1;
  const attempt = await sender.send(delivery, attemptNumber);
  const scheduleStep = attemptNumber - delivery.attemptsBeforeReplay;
  const next = nextStep(scheduleStep, attempt.result, scheduleMs, Math.random());
  return { ...delivery, attemptNumber, attempt, next, at: new Date() };
}
