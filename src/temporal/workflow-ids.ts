// The ids of workflows: which workflow a payment or a delivery has, whatever process starts it and however often.
import { createHash } from 'node:crypto';
import type { DeliveryId, MerchantId, ReversalId } from '../domain/ids.ts';
import type { PaymentId } from '../domain/payments/payment.ts';

// Temporal keeps an id in 255 characters on PostgreSQL. A longer one fails there in a way that stops other workflows too.
const PLAIN_KEY = /^[A-Za-z0-9._:-]{1,100}$/;

export function collectionWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `collection/${merchantId}/${boundedKey(idempotencyKey)}`;
}

export function payoutWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `payout/${merchantId}/${boundedKey(idempotencyKey)}`;
}

export function reversalWorkflowId(reversalId: ReversalId): string {
  return `reversal/${reversalId}`;
}

/**
 * The id of a recheck of a final payment. It names the payment itself, because the idempotency key may be in use again
 * by then, for another payment.
 */
export function recheckWorkflowId(id: PaymentId): string {
  return `recheck/${id}`;
}

/** Each replay has a workflow of its own. One that still waits in the earlier schedule finds nothing due and ends. */
export function deliveryWorkflowId(deliveryId: DeliveryId, replayCount = 0): string {
  return replayCount === 0 ? `delivery/${deliveryId}` : `delivery/${deliveryId}/replay-${replayCount}`;
}

// Two keys never give one id: a plain key has no slash, so it cannot look like the hash of another.
function boundedKey(idempotencyKey: string): string {
  if (PLAIN_KEY.test(idempotencyKey)) return idempotencyKey;
  return `sha256/${createHash('sha256').update(idempotencyKey).digest('hex')}`;
}
