// A payment's entry into a state, as the log and the traces report it.
import type { EventId, MerchantId } from '../ids.ts';
import type { FailureCode } from './failure.ts';
import type { OperatorId } from './operator-catalogue.ts';
import type { PaymentId, PaymentKind, PaymentState } from './payment.ts';

/** Contains only ids and codes: no phone, no amount, no text of a merchant. */
export type StateChange = {
  readonly kind: PaymentKind;
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  /** Null: the payment was created. */
  readonly from: PaymentState | null;
  readonly to: PaymentState;
  readonly failureCode: FailureCode | null;
  /** The request that created the payment; null: the payment is older than this field. */
  readonly requestId: string | null;
  /** The request of the person who decided the change; null: nobody did. */
  readonly byRequestId: string | null;
  /** The event that reports the change; null: no event does. */
  readonly eventId: EventId | null;
  readonly at: Date;
};

type ChangedPayment = Pick<StateChange, 'kind' | 'id' | 'merchantId' | 'operator' | 'failureCode' | 'requestId'> & {
  readonly state: PaymentState;
  readonly updatedAt: Date;
};

/** The payment's entry into its current state. */
export function entryOf(
  { kind, id, merchantId, operator, failureCode, requestId, state, updatedAt }: ChangedPayment,
  { from, eventId }: Pick<StateChange, 'from' | 'eventId'>,
): StateChange {
  const payment = { kind, id, merchantId, operator, failureCode, requestId };
  return { ...payment, from, to: state, byRequestId: null, eventId, at: updatedAt };
}
