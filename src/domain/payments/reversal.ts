// A reversal that a maker requested: its states, the table of its transitions, and its JSON for merchants.
import { approvalState, type ApprovalState } from './approval.ts';
import { payoutFailure } from './failure.ts';
import type { CollectionId, ReversalId } from '../ids.ts';
import { MONEY_OUT, type MoneyOutState, type MoneyOutTransitionKind } from './money-out.ts';
import { moneyOutObject, type MoneyOutFields, type PaymentFields } from './payment-fields.ts';

/** The collection itself becomes `reversed` when the refund succeeds. */
export type ReversalState = MoneyOutState;

export type ReversalTransitionKind = MoneyOutTransitionKind | 'refunded'; // the operator confirms that the payer has the money back

/** An absent pair changes nothing. docs/states.md is made from this table; a test holds the schema equal to it. */
export const REVERSAL_TRANSITIONS: Readonly<
  Record<ReversalState, Readonly<Partial<Record<ReversalTransitionKind, ReversalState>>>>
> = {
  queued: MONEY_OUT.queued,
  released: { ...MONEY_OUT.released, refunded: 'succeeded', ...MONEY_OUT.unpaid },
  reconciling: { refunded: 'succeeded', ...MONEY_OUT.unpaid },
  succeeded: {},
  ...MONEY_OUT.unpaidEnds,
};

export const REVERSAL_STATES = Object.keys(REVERSAL_TRANSITIONS) as [ReversalState, ...ReversalState[]];

export function statesOfReversalApproval(approval: ApprovalState): ReversalState[] {
  return REVERSAL_STATES.filter((state) => approvalState(state) === approval);
}

/** Amount, currency, phone, reference and operator equal the collection's: the whole amount goes back to the payer. */
export type Reversal = PaymentFields<'reversal', ReversalId, ReversalState> &
  MoneyOutFields & {
    readonly collectionId: CollectionId;
    readonly collectionOperatorReference: string;
    /** The operator's receipt of its collection, by which some operators name the collection. */
    readonly collectionReceipt: string | null;
    /** Whether its collection is reversed, so that no refund may be sent. */
    readonly isCollectionReturned: boolean;
  };

export function reversalObject(reversal: Reversal) {
  return {
    id: reversal.id,
    collection_id: reversal.collectionId,
    state: reversal.state,
    approval_state: approvalState(reversal.state),
    amount: Number(reversal.amountMinor),
    currency: reversal.currency,
    phone: reversal.phone,
    reference: reversal.reference,
    failure: reversal.failureCode === null ? null : payoutFailure(reversal.failureCode),
    operator_reference: reversal.operatorReference,
    requested_by: reversal.createdBy,
    ...moneyOutObject(reversal),
  };
}
