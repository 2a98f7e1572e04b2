// Replays: deliveries sent again with the same bytes and the whole schedule, whether they arrived before or not.
import type { DeliveryState } from './delivery.ts';
import type { EndpointId, MerchantId, ReplayId, UserId } from '../ids.ts';

/** The states that a bulk replay can select. Deliveries that are already on their way are not among them. */
export const REPLAYABLE_STATES = ['delivered', 'dead_lettered', 'withheld'] as const satisfies readonly DeliveryState[];
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** The default selection of a bulk replay: deliveries that did not arrive. */
export const UNDELIVERED_STATES: readonly ReplayableState[] = ['dead_lettered', 'withheld'];

export const MAX_RUNNING_REPLAYS = 5;

/** How many matching deliveries are counted when a replay begins: more would exceed a request's time. */
export const MAX_REPLAY_TOTAL = 1_000_000;

/** The number of matching deliveries as text, which stays true beyond the counting limit. */
export function replayTotalText(total: number): string {
  return total < MAX_REPLAY_TOTAL ? String(total) : `${total} or more`;
}

export type ReplayFilter = {
  /** Null: all endpoints. */
  readonly endpointId: EndpointId | null;
  readonly states: readonly ReplayableState[];
  /** When the deliveries were created: from `madeFrom` (inclusive; null: any time) and before `madeBefore`. */
  readonly madeFrom: Date | null;
  readonly madeBefore: Date;
};

export type Replay = ReplayFilter & {
  readonly id: ReplayId;
  readonly merchantId: MerchantId;
  readonly state: 'running' | 'completed';
  /** How many deliveries matched when it began; `MAX_REPLAY_TOTAL` means that many or more. */
  readonly total: number;
  readonly replayed: number;
  /** How many matched but stayed as they were, because their endpoint is disabled or deleted. */
  readonly skipped: number;
  readonly requestedBy: UserId;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
};
