// The ids of workflows: which workflow a payment or a delivery has, whatever process starts it and however often.
import { createHash } from 'node:crypto';
import type { DeliveryId, MerchantId, ReversalId } from '../domain/ids.ts';

export function collectionWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `collection/${merchantId}/${digestOf(idempotencyKey)}`;
}

export function payoutWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `payout/${merchantId}/${digestOf(idempotencyKey)}`;
}

export function reversalWorkflowId(reversalId: ReversalId): string {
  return `reversal/${reversalId}`;
}

/** Each replay has a workflow of its own. One that still waits in the earlier schedule finds nothing due and ends. */
export function deliveryWorkflowId(deliveryId: DeliveryId, replayCount = 0): string {
  return replayCount === 0 ? `delivery/${deliveryId}` : `delivery/${deliveryId}/replay-${replayCount}`;
}

// A merchant may write anything into a key, also a phone or a name, and ids are what everybody reads who sees Temporal. Besides,
// Temporal keeps an id in 255 characters on PostgreSQL, and a longer one fails there in a way that stops other workflows too.
function digestOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('hex');
}
