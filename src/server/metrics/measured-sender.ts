// A webhook sender whose attempts are counted and timed.
import type { Attempt } from '../../domain/webhooks/delivery.ts';
import type { WebhookSender } from '../../webhooks/sender.ts';

export function measuredSender(sender: WebhookSender, onAttempted: (attempt: Attempt) => void): WebhookSender {
  return {
    async send(webhook, attemptNumber) {
      const attempt = await sender.send(webhook, attemptNumber);
      onAttempted(attempt);
      return attempt;
    },
    close: () => sender.close(),
  };
}
