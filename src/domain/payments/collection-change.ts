// What a transition input makes of a collection: decided here, recorded elsewhere.
import type { Clocks } from '../clocks.ts';
import { COLLECTION_TRANSITIONS, type Collection } from './collection.ts';
import type { CollectionTransitionInput } from './collection-progress.ts';
import { posting, type Posting } from './ledger.ts';

type ChangeClocks = Pick<Clocks, 'promptWindowMs' | 'overdueAfterMs' | 'lateCheckEveryMs'>;

export type CollectionChange = {
  readonly before: Collection;
  readonly after: Collection;
  /** The operator's own id of the payment; known once it is paid. */
  readonly operatorReceipt: string | null;
  /** When the sweep requeues it; null when nothing more can come. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the input leads nowhere from the present state. */
export function changeCollection(
  before: Collection,
  input: CollectionTransitionInput,
  at: Date,
  clocks: ChangeClocks,
): CollectionChange | null {
  const state = COLLECTION_TRANSITIONS[before.state][input.kind];
  if (state === undefined) return null;
  const promptExpiresAt = state === 'prompted' ? after(at, clocks.promptWindowMs) : before.promptExpiresAt;
  const changed: Collection = {
    ...before,
    state,
    previousState: before.state,
    version: before.version + 1,
    failureCode: 'failureCode' in input ? input.failureCode : null,
    amountReversedMinor: state === 'reversed' ? before.amountMinor : before.amountReversedMinor,
    updatedAt: at,
    promptExpiresAt,
  };
  return {
    before,
    after: changed,
    operatorReceipt: 'operatorReceipt' in input ? input.operatorReceipt : null,
    checkDueAt: checkDueAt(changed, clocks),
  };
}

function checkDueAt({ state, updatedAt, promptExpiresAt }: Collection, clocks: ChangeClocks): Date | null {
  switch (state) {
    case 'prompted':
      return after(promptExpiresAt ?? updatedAt, clocks.overdueAfterMs);
    case 'initiated':
    case 'reconciling':
      return after(updatedAt, clocks.overdueAfterMs);
    case 'expired':
      return after(updatedAt, clocks.lateCheckEveryMs);
    case 'succeeded':
    case 'failed':
    case 'reversed':
      return null;
  }
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

/** The posting that belongs to the collection's entry into its present state; null: none. */
export function collectionPosting(collection: Collection): Posting | null {
  if (collection.state === 'succeeded') return posting('collection_paid', collection);
  return collection.state === 'reversed' ? posting('collection_reversed', collection) : null;
}
