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

/**
 * From so many failures in a row on, work is quarantined: its workflow is tried once an hour, it does not count as backlog,
 * and the service's staff are shown it.
 */
export const QUARANTINE_AFTER = 10;

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const JITTER = 0.2;

/**
 * How long to wait before the next try, after this many failures in a row: a second, then twice as long after each, and an
 * hour once the work is quarantined. `random` is from 0 to 1: it spreads work that failed at the same moment.
 */
export function startBackoffMs(failures: number, random = Math.random()): number {
  const waitMs = failures >= QUARANTINE_AFTER ? HOUR_MS : SECOND_MS * 2 ** (failures - 1);
  return Math.round(waitMs * (1 + JITTER * (2 * random - 1)));
}
