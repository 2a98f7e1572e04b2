// Recorded work that workflows are started for: payments of all three kinds, and deliveries that are owed further attempts.
import type { CollectionId, DeliveryId, EndpointId, MerchantId, PayoutId, ReversalId } from './ids.ts';
import type { CollectionState } from './payments/collection.ts';
import type { OperatorId } from './payments/operator-catalogue.ts';
import type { PayoutState } from './payments/payout.ts';
import type { ReversalState } from './payments/reversal.ts';

/** A payment, as far as its workflow's start needs it. */
type WorkOf<Kind, Id, State> = {
  readonly kind: Kind;
  readonly id: Id;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly state: State;
};

export type CollectionWork = WorkOf<'collection', CollectionId, CollectionState> & {
  readonly idempotencyKey: string;
};
export type PayoutWork = WorkOf<'payout', PayoutId, PayoutState> & {
  readonly idempotencyKey: string;
  /** As of the decision that its workflow is signalled of. */
  readonly updatedAt: Date;
};
export type ReversalWork = WorkOf<'reversal', ReversalId, ReversalState>;
export type DeliveryWork = {
  readonly kind: 'delivery';
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly replayCount: number;
};

export type PaymentWork = CollectionWork | PayoutWork | ReversalWork;

/** What a workflow is started for. Any row that has these fields will do. */
export type Work = PaymentWork | DeliveryWork;
export const WORK_KINDS = ['collection', 'payout', 'reversal', 'delivery'] as const satisfies readonly Work['kind'][];
export type WorkKind = (typeof WORK_KINDS)[number];
