// The timeline of one payment, for people: everything that is recorded of the payment, in order of time.
import type { KnownPerson } from '../accounts/member.ts';
import type { EventId, ReversalId } from '../ids.ts';
import type { ListedDelivery, RecordedAttempt } from '../webhooks/delivery.ts';
import type { CollectionState } from './collection.ts';
import type { DiscrepancyKind } from './discrepancy.ts';
import type { PostingKind } from './ledger.ts';
import type { MessagePurpose, OperatorId } from './operator-catalogue.ts';
import type { OperatorExchange } from './operator-exchange.ts';
import type { PayoutState } from './payout.ts';
import type { ReversalState } from './reversal.ts';
import type { SendGeneration } from './payment-fields.ts';

/** The most entries that are shown of each kind. */
export const MOST_OF_A_KIND = 200;
/** The most attempts of a delivery that are shown: the newest. */
export const MOST_ATTEMPTS = 10;

export type TimelineDelivery = Omit<ListedDelivery, 'replayCount' | 'updatedAt'> & {
  readonly endpointUrl: string;
  /** Only the newest attempts, oldest first. */
  readonly attempts: readonly Omit<RecordedAttempt, 'responseHeaders' | 'responseBody'>[];
};

export type TimelineTransfer = {
  readonly kind: PostingKind;
  readonly amountMinor: bigint;
  /** By how much the transfer changed each balance. */
  readonly availableMinor: bigint;
  readonly heldMinor: bigint;
};

export type TimelineDiscrepancy = {
  readonly kind: DiscrepancyKind;
  readonly settledAt: Date | null;
  readonly settlement: string | null;
};

export type TimelineReversal = {
  readonly id: ReversalId;
  readonly state: ReversalState;
  readonly requestedBy: KnownPerson;
};

export type OperatorDelay = {
  readonly operator: OperatorId;
  /** Whether anybody tried to send the payment. If not, it is sent later; otherwise the operator is queried later. */
  readonly isSendBegun: boolean;
};

export type FloatLow = Pick<SendGeneration, 'operatorReference' | 'sendAfter'> & {
  readonly operator: OperatorId;
  /** Whether the payout still waits to be sent again. */
  readonly isWaiting: boolean;
};

export type TimelineState = {
  readonly state: CollectionState | PayoutState;
  readonly previousState: CollectionState | PayoutState | null;
  /** Whether the outcome came after an expiry or the prompt window. */
  readonly isLate: boolean;
  /** Null: no event reports the state. */
  readonly eventId: EventId | null;
  /** The person who acted in a session; null: nobody did. */
  readonly by: KnownPerson | null;
};

export type TimelineEntry =
  | { readonly kind: 'state'; readonly at: Date; readonly detail: TimelineState }
  | { readonly kind: 'approval'; readonly at: Date; readonly detail: KnownPerson }
  | { readonly kind: 'operator_exchange'; readonly at: Date; readonly detail: OperatorExchange }
  /** The purpose of the address to which the callback came; null: the address was not made for a single request. */
  | { readonly kind: 'operator_callback'; readonly at: Date; readonly detail: MessagePurpose | null }
  /** The operator refused the payout for our float, so the payout is sent again. */
  | { readonly kind: 'float_low'; readonly at: Date; readonly detail: FloatLow }
  /** The payment waits because its operator takes no calls. Present only while it waits. */
  | { readonly kind: 'operator_delayed'; readonly at: Date; readonly detail: OperatorDelay }
  | { readonly kind: 'ledger_transfer'; readonly at: Date; readonly detail: TimelineTransfer }
  | { readonly kind: 'delivery'; readonly at: Date; readonly detail: TimelineDelivery }
  | { readonly kind: 'discrepancy'; readonly at: Date; readonly detail: TimelineDiscrepancy }
  | { readonly kind: 'reversal'; readonly at: Date; readonly detail: TimelineReversal };

// All entries of one change have one time: the act comes first, then the state, the money and the report.
const ORDER: readonly TimelineEntry['kind'][] = [
  ...(['operator_exchange', 'operator_callback', 'float_low', 'approval', 'state', 'ledger_transfer'] as const),
  ...(['delivery', 'discrepancy', 'reversal', 'operator_delayed'] as const),
];

export function inOrder(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return [...entries].sort(
    (one, other) => one.at.getTime() - other.at.getTime() || ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind),
  );
}
