// What a fact makes of a collection: decided here, recorded elsewhere.
import { COLLECTION_TRANSITIONS, type Collection } from './collection.ts';
import type { CollectionTransitionInput } from './collection-progress.ts';
import { posting, type Posting } from './ledger.ts';

/** How long things last from the moment of the change, in milliseconds. */
export type ChangeTimings = {
  /** How long the prompt lives at the operator. */
  readonly promptWindowMs: number;
  /** How long a workflow may leave the collection as it then is before the sweep looks at it. */
  readonly overdueAfterMs: number;
  /** How long after it expired the sweep first asks for a late payment. */
  readonly lateCheckEveryMs: number;
};

export type CollectionChange = {
  readonly before: Collection;
  readonly after: Collection;
  /** What the operator calls the payment; known from the moment it is paid. */
  readonly operatorReceipt: string | null;
  /** When the sweep looks at it; null when nothing more can come. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the fact leads nowhere from the state the collection is in. */
export function changeCollection(
  before: Collection,
  transition: CollectionTransitionInput,
  at: Date,
  timings: ChangeTimings,
): CollectionChange | null {
  const state = COLLECTION_TRANSITIONS[before.state][transition.kind];
  if (state === undefined) return null;
  const promptExpiresAt = state === 'prompted' ? after(at, timings.promptWindowMs) : before.promptExpiresAt;
  const changed: Collection = {
    ...before,
    state,
    previousState: before.state,
    version: before.version + 1,
    failureCode: 'failureCode' in transition ? transition.failureCode : null,
    amountReversedMinor: state === 'reversed' ? before.amountMinor : before.amountReversedMinor,
    updatedAt: at,
    promptExpiresAt,
  };
  return {
    before,
    after: changed,
    operatorReceipt: 'operatorReceipt' in transition ? transition.operatorReceipt : null,
    checkDueAt: checkDueAt(changed, timings),
  };
}

function checkDueAt({ state, updatedAt, promptExpiresAt }: Collection, timings: ChangeTimings): Date | null {
  switch (state) {
    case 'prompted':
      return after(promptExpiresAt ?? updatedAt, timings.overdueAfterMs);
    case 'initiated':
    case 'reconciling':
      return after(updatedAt, timings.overdueAfterMs);
    case 'expired':
      return after(updatedAt, timings.lateCheckEveryMs);
    case 'succeeded':
    case 'failed':
    case 'reversed':
      return null;
  }
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

/** The movement of money that belongs to the collection's coming into the state it is in; null: none. */
export function collectionPosting(collection: Collection): Posting | null {
  if (collection.state === 'succeeded') return posting('collection_paid', collection);
  return collection.state === 'reversed' ? posting('collection_reversed', collection) : null;
}
