// A collection: its states, the table of its transitions, and what merchants see of it.
import { DomainError } from '../errors.ts';
import { failure, type FailureCode } from './failure.ts';
import type { ApiKeyId, CollectionId, MerchantId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';

export type CollectionState =
  'initiated' | 'prompted' | 'reconciling' | 'succeeded' | 'failed' | 'expired' | 'reversed';

/** The kinds of transitions of a collection. */
export type CollectionTransitionKind =
  | 'prompt_accepted' // the operator accepted the prompt
  | 'outcome_unknown' // the operator is unreachable, or undecided past the prompt window
  | 'paid' // the operator confirms the payment
  | 'declined' // the operator confirms that it will not be paid
  | 'expired' // the operator confirms that the prompt expired
  | 'never_sent' // nobody tried to send it before its deadline
  | 'never_accepted' // the operator does not know it, and no send of ours can still be on its way
  | 'undecided' // the operator did not say how it ended for as long as it is reconciled
  | 'returned'; // the operator gave the money back to the payer

/**
 * An absent pair changes nothing. docs/states.md is made from this table; the schema repeats it, and a test holds them
 * equal.
 */
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
  // A decline counts only where the operator had not said how it ended: `changeCollection` sees to that.
  expired: { paid: 'succeeded', declined: 'failed' },
  reversed: {},
};

export const COLLECTION_STATES = Object.keys(COLLECTION_TRANSITIONS) as CollectionState[];

export type Collection = {
  readonly id: CollectionId;
  readonly merchantId: MerchantId;
  readonly idempotencyKey: string;
  readonly state: CollectionState;
  readonly previousState: CollectionState | null;
  /** Counts state changes; 0 is the collection as it was created. */
  readonly version: number;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly reference: string;
  readonly phone: string;
  readonly operator: OperatorId;
  /** The operator's name for it: a UUID v4, recorded before anything is sent. */
  readonly operatorReference: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly failureCode: FailureCode | null;
  readonly amountReversedMinor: bigint;
  /** The operator's own number of the payment that it paid; null until it has paid. */
  readonly operatorReceipt: string | null;
  /** The person who requested it in a session; null: it was created with a key, or before that was recorded. */
  readonly createdBy: UserId | null;
  /** The key that it was created with; null: none, or it was created before that was recorded. */
  readonly apiKeyId: ApiKeyId | null;
  /** The request that made it; null: it was made before that was recorded. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** After this time no prompt may be raised for it. */
  readonly promptDeadlineAt: Date;
  /** When the first try to raise the prompt began, whatever it led to; null when nobody tried. */
  readonly sendBegunAt: Date | null;
  /** When the prompt on the handset expires; null until the operator accepted it. */
  readonly promptExpiresAt: Date | null;
};

/** The collection as JSON, the same in the fetch route, in lists and in events. Amounts fit a JSON number by check. */
export function collectionObject(collection: Collection) {
  return {
    id: collection.id,
    state: collection.state,
    amount: Number(collection.amountMinor),
    currency: collection.currency,
    reference: collection.reference,
    phone: collection.phone,
    operator: collection.operator,
    description: collection.description,
    metadata: collection.metadata,
    failure: collection.failureCode === null ? null : failure(collection.failureCode),
    operator_reference: collection.operatorReference,
    amount_reversed: Number(collection.amountReversedMinor),
    created_at: collection.createdAt.toISOString(),
    updated_at: collection.updatedAt.toISOString(),
    prompt_expires_at: collection.promptExpiresAt?.toISOString() ?? null,
  };
}

/**
 * Whether the outcome came late: after the expiry was reported to the merchant or, of a collection that succeeded, after
 * its prompt window.
 */
export function isLateOutcome({ state, previousState, promptExpiresAt, updatedAt }: Collection): boolean {
  if (state !== 'succeeded' && state !== 'failed') return false;
  if (previousState === 'expired') return true;
  return state === 'succeeded' && promptExpiresAt !== null && updatedAt > promptExpiresAt;
}

/** For an unknown id and, in the same words, for the id of another merchant. */
export function collectionNotFound(): DomainError {
  return new DomainError('collection_not_found', 'There is no collection with this id.');
}
