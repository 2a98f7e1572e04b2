// That a payment came into a state: what the log and the traces say of it.
import type { EventId, MerchantId } from '../ids.ts';
import type { FailureCode } from './failure.ts';
import type { OperatorId } from './operator-catalogue.ts';
import type { PaymentId, PaymentKind, PaymentState } from './payment.ts';

/** Ids and codes alone: no phone, no amount, no text of a merchant. */
export type StateChange = {
  readonly kind: PaymentKind;
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  /** Null: it was created. */
  readonly from: PaymentState | null;
  readonly to: PaymentState;
  readonly failureCode: FailureCode | null;
  /** The request that made the payment; null: it was made before that was recorded. */
  readonly requestId: string | null;
  /** The request of the person who decided this; null: nobody did. */
  readonly byRequestId: string | null;
  /** The event that reports it; null: none does. */
  readonly eventId: EventId | null;
  readonly at: Date;
};

type ChangedPayment = Pick<StateChange, 'kind' | 'id' | 'merchantId' | 'operator' | 'failureCode' | 'requestId'> & {
  readonly state: PaymentState;
  readonly updatedAt: Date;
};

/** That the payment, as it is now, came into its state. */
export function entryOf(
  { kind, id, merchantId, operator, failureCode, requestId, state, updatedAt }: ChangedPayment,
  { from, eventId }: Pick<StateChange, 'from' | 'eventId'>,
): StateChange {
  const payment = { kind, id, merchantId, operator, failureCode, requestId };
  return { ...payment, from, to: state, byRequestId: null, eventId, at: updatedAt };
}
