// A collection: its states, the table of its transitions, and what merchants see of it.
import { failure, type FailureCode } from './failure.ts';
import type { CollectionId, MerchantId } from '../ids.ts';
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
  | 'expired' // the prompt expired, or was never raised
  | 'returned'; // the operator gave the money back to the payer

/**
 * An absent pair changes nothing. docs/states.md is made from this table; the migrations repeat it, and a test holds them
 * equal.
 */
export const COLLECTION_TRANSITIONS: Readonly<
  Record<CollectionState, Readonly<Partial<Record<CollectionTransitionKind, CollectionState>>>>
> = {
  initiated: { prompt_accepted: 'prompted', outcome_unknown: 'reconciling', declined: 'failed', expired: 'expired' },
  prompted: { outcome_unknown: 'reconciling', paid: 'succeeded', declined: 'failed', expired: 'expired' },
  reconciling: { paid: 'succeeded', declined: 'failed', expired: 'expired' },
  succeeded: { returned: 'reversed' },
  failed: {},
  expired: { paid: 'succeeded' },
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
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** After this time no prompt may be raised for it. */
  readonly promptDeadlineAt: Date;
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

/** Whether the collection succeeded after its expiry was reported to the merchant, or after its prompt window. */
export function isLateSuccess(collection: Collection): boolean {
  if (collection.state !== 'succeeded') return false;
  if (collection.previousState === 'expired') return true;
  return collection.promptExpiresAt !== null && collection.updatedAt > collection.promptExpiresAt;
}
