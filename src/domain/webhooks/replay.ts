// Replays: sending again what was sent, or was not, with the same bytes and the whole schedule anew.
import type { DeliveryState } from './delivery.ts';
import { DomainError } from '../errors.ts';
import type { EndpointId, MerchantId, ReplayId, UserId } from '../ids.ts';

/** What can be chosen for a replay of many. What is on its way already is not among them. */
export const REPLAYABLE_STATES = ['delivered', 'dead_lettered', 'withheld'] as const satisfies readonly DeliveryState[];
export type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** Replayed where nobody says otherwise: what did not arrive. */
export const UNDELIVERED_STATES: readonly ReplayableState[] = ['dead_lettered', 'withheld'];

/** One merchant's jobs at once. */
export const MAX_RUNNING_REPLAYS = 5;

/** Up to so many matching deliveries are counted when a replay begins: to count on would take longer than a request may. */
export const MAX_REPLAY_TOTAL = 1_000_000;

/** How many matched, in words that stay true where there were more than are counted. */
export function replayTotalText(total: number): string {
  return total < MAX_REPLAY_TOTAL ? String(total) : `${total} or more`;
}

export type ReplayFilter = {
  /** Null: of all endpoints. */
  readonly endpointId: EndpointId | null;
  readonly states: readonly ReplayableState[];
  /** When the deliveries were made: from then on, and before then. */
  readonly madeFrom: Date | null;
  readonly madeBefore: Date;
};

export type Replay = ReplayFilter & {
  readonly id: ReplayId;
  readonly merchantId: MerchantId;
  readonly state: 'running' | 'completed';
  /** How many matched when it began; `MAX_REPLAY_TOTAL` means that many or more. */
  readonly total: number;
  readonly replayed: number;
  /** Matched, and left as they were: their endpoint is disabled or deleted. */
  readonly skipped: number;
  readonly requestedBy: UserId;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
};

/** The same for an unknown id and for another merchant's. */
export function replayNotFound(): DomainError {
  return new DomainError('replay_not_found', 'There is no replay with this id. Look it up in the list of replays.');
}
