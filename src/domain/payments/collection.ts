// A collection: its states, the table of its transitions, and its JSON for merchants.
import { failure } from './failure.ts';
import type { CollectionId, UserId } from '../ids.ts';
import { requestedObject, type PaymentFields, type RequestedFields } from './payment-fields.ts';

export type CollectionState =
  'initiated' | 'prompted' | 'reconciling' | 'succeeded' | 'failed' | 'expired' | 'reversed';

export type CollectionTransitionKind =
  | 'prompt_accepted' // the operator accepted the prompt
  | 'outcome_unknown' // the operator is unreachable, or undecided past the prompt window
  | 'paid' // the operator confirms the payment
  | 'declined' // the operator confirms that the collection will not be paid
  | 'expired' // the operator confirms that the prompt expired
  | 'never_sent' // nobody tried to send the collection before its deadline
  | 'never_accepted' // the operator does not know the collection, and no send of ours can still be on its way
  | 'undecided' // the operator never said how the collection ended while it was reconciled
  | 'returned'; // the operator gave the money back to the payer

/** An absent pair changes nothing. docs/states.md is made from this table; a test holds the schema equal to it. */
export const COLLECTION_TRANSITIONS: Readonly<
  Record<CollectionState, Readonly<Partial<Record<CollectionTransitionKind, CollectionState>>>>
> = {
  initiated: {
    prompt_accepted: 'prompted',
    outcome_unknown: 'reconciling',
    declined: 'failed',
    never_sent: 'expired',
    never_accepted: 'expired',
  },
  prompted: { outcome_unknown: 'reconciling', paid: 'succeeded', declined: 'failed', expired: 'expired' },
  reconciling: {
    paid: 'succeeded',
    declined: 'failed',
    expired: 'expired',
    never_sent: 'expired',
    never_accepted: 'expired',
    undecided: 'expired',
  },
  succeeded: { returned: 'reversed' },
  failed: {},
  // A decline counts only if the operator had not said how the collection ended: `changePayment` enforces this rule.
  expired: { paid: 'succeeded', declined: 'failed' },
  reversed: {},
};

export const COLLECTION_STATES = Object.keys(COLLECTION_TRANSITIONS) as CollectionState[];

export type Collection = PaymentFields<'collection', CollectionId, CollectionState> &
  RequestedFields<CollectionState> & {
    /** The person who requested the collection in a session; null: an API key created it, or it is older than this field. */
    readonly createdBy: UserId | null;
    /** After this time no prompt may be raised. */
    readonly promptDeadlineAt: Date;
    /** When the prompt on the handset expires; null until the operator accepted it. */
    readonly promptExpiresAt: Date | null;
  };

/** The collection as JSON, the same in the fetch route, in lists and in events. */
export function collectionObject(collection: Collection) {
  return {
    id: collection.id,
    state: collection.state,
    ...requestedObject(collection, collection.failureCode && failure(collection.failureCode)),
    created_at: collection.createdAt.toISOString(),
    updated_at: collection.updatedAt.toISOString(),
    prompt_expires_at: collection.promptExpiresAt?.toISOString() ?? null,
  };
}

/** Whether the outcome came after the expiry was reported or, for a success, after the prompt window. */
export function isLateOutcome({ state, previousState, promptExpiresAt, updatedAt }: Collection): boolean {
  if (state !== 'succeeded' && state !== 'failed') return false;
  if (previousState === 'expired') return true;
  return state === 'succeeded' && promptExpiresAt !== null && updatedAt > promptExpiresAt;
}
