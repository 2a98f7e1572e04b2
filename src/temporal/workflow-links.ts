// Where the Temporal UI shows the workflow of a payment or refund.
import type { Collection } from '../domain/payments/collection.ts';
import type { Payout } from '../domain/payments/payout.ts';
import type { Reversal } from '../domain/payments/reversal.ts';
import { collectionWorkflowId, payoutWorkflowId, reversalWorkflowId } from './workflow-ids.ts';

export type WorkflowLinks = {
  collection(collection: Pick<Collection, 'merchantId' | 'idempotencyKey'>): string;
  payout(payout: Pick<Payout, 'merchantId' | 'idempotencyKey'>): string;
  reversal(reversal: Pick<Reversal, 'id'>): string;
};

/** Each link leads to the newest run with the workflow's id. Null if no UI is configured. */
export function createWorkflowLinks(uiUrl: string | undefined, namespace: string): WorkflowLinks | null {
  if (uiUrl === undefined) return null;
  const base = `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/`;
  return {
    collection: ({ merchantId, idempotencyKey }) =>
      base + encodeURIComponent(collectionWorkflowId(merchantId, idempotencyKey)),
    payout: ({ merchantId, idempotencyKey }) => base + encodeURIComponent(payoutWorkflowId(merchantId, idempotencyKey)),
    reversal: ({ id }) => base + encodeURIComponent(reversalWorkflowId(id)),
  };
}
