// Decides how a transition input changes a collection. The operations record the change.
import type { Clocks } from '../clocks.ts';
import { COLLECTION_TRANSITIONS, type Collection, type CollectionState } from './collection.ts';
import type { CollectionTransitionInput } from './collection-progress.ts';
import { failureOf } from './failure.ts';
import { firstLateCheckAt } from './late-checks.ts';
import { posting, type Posting, type PostingKind } from './ledger.ts';

type ChangeClocks = Pick<Clocks, 'promptWindowMs' | 'staleAfterMs' | 'lateCheckAgesMs' | 'returnCheckAgesMs'>;

export type CollectionChange = {
  readonly before: Collection;
  readonly after: Collection;
  /** Whether the change may be written only while no try to send it is recorded. */
  readonly requiresNotSent: boolean;
  /** When the collection is checked; null when nothing more is awaited. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the current state has no transition for the input. */
export function changeCollection(
  before: Collection,
  input: CollectionTransitionInput,
  at: Date,
  clocks: ChangeClocks,
): CollectionChange | null {
  const state = COLLECTION_TRANSITIONS[before.state][input.kind];
  if (state === undefined || !isOutcomeOpen(before, input)) return null;
  const isPrompted = state === 'prompted';
  const changed: Collection = {
    ...before,
    state,
    previousState: before.state,
    version: before.version + 1,
    failureCode: failureOf(input),
    amountReversedMinor: state === 'reversed' ? before.amountMinor : before.amountReversedMinor,
    operatorReceipt: 'operatorReceipt' in input ? input.operatorReceipt : before.operatorReceipt,
    updatedAt: at,
    // What was prompted was sent; when, an older version did not record. The database adds the same.
    sendBegunAt: isPrompted ? (before.sendBegunAt ?? before.createdAt) : before.sendBegunAt,
    promptExpiresAt: isPrompted ? after(at, clocks.promptWindowMs) : before.promptExpiresAt,
  };
  return {
    before,
    after: changed,
    requiresNotSent: input.kind === 'never_sent',
    checkDueAt: checkDueAt(changed, clocks),
  };
}

// What the operator said of an expired collection stands, unless it said nothing then: it may still turn out paid only.
function isOutcomeOpen({ state, failureCode }: Collection, { kind }: CollectionTransitionInput): boolean {
  return state !== 'expired' || kind !== 'declined' || failureCode === 'unknown';
}

function checkDueAt({ state, updatedAt, promptExpiresAt }: Collection, clocks: ChangeClocks): Date | null {
  switch (state) {
    case 'prompted':
      return after(promptExpiresAt ?? updatedAt, clocks.staleAfterMs);
    case 'initiated':
    case 'reconciling':
      return after(updatedAt, clocks.staleAfterMs);
    case 'expired':
      return firstLateCheckAt('may_be_paid', updatedAt, clocks);
    case 'succeeded':
      return firstLateCheckAt('may_be_returned', updatedAt, clocks);
    case 'failed':
    case 'reversed':
      return null;
  }
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

const POSTING_OF_STATE: Readonly<Record<CollectionState, PostingKind | null>> = {
  initiated: null,
  prompted: null,
  reconciling: null,
  succeeded: 'collection_paid',
  failed: null,
  expired: null,
  reversed: 'collection_reversed',
};

/** The posting on entry into the collection's current state, or null when that moves no money. */
export function collectionPosting(collection: Collection): Posting | null {
  const kind = POSTING_OF_STATE[collection.state];
  return kind && posting(kind, collection);
}
