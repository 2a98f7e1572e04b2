// Discrepancies: operator statuses that contradict a recorded outcome. A person settles each discrepancy.
import type { MerchantId } from '../ids.ts';
import type { OperatorStatus } from './operator-status.ts';
import type { PaymentId, PaymentKind, PaymentState } from './payment.ts';

/** An operator status that contradicts the recorded outcome or the requested money. No posting may follow from the status by itself. */
export type Contradiction =
  | 'paid_after_failed' // the merchant has the money back, and the operator paid it too
  | 'paid_otherwise' // the operator paid another amount, in another currency or by another phone than was requested
  | 'other_payment' // the operator has another payment under the reference, which is not paid
  | 'declined_after_paid'; // the money left the merchant's balance, and the operator did not pay it, or has it back

export function contradictionIn(kind: PaymentKind, state: PaymentState, status: OperatorStatus): Contradiction | null {
  if (status.kind === 'paid_otherwise' || status.kind === 'other_payment') return status.kind;
  if (state === 'failed' && status.kind === 'paid') return 'paid_after_failed';
  // A returned collection or payout has the state `reversed`. A refund that came back to us has no such state.
  const isNotPaid = status.kind === 'declined' || (status.kind === 'returned' && kind === 'reversal');
  return state === 'succeeded' && isNotPaid ? 'declined_after_paid' : null;
}

/**
 * `refunded_twice`: the operator returned a collection on its own, and the requested refund was paid too.
 * `receipt_reused`: the operator says that the payment was paid, with the receipt of another payment.
 * `release_unattested`: the payment is released in the database, and no process of ours recorded the release.
 * `credit_unattested`: the payment made money available, and no process of ours recorded the operator status that justifies the credit.
 */
export type DiscrepancyKind =
  Contradiction | 'refunded_twice' | 'receipt_reused' | 'release_unattested' | 'credit_unattested';

/** A payment cannot be recorded as paid: its receipt belongs to another payment. Nothing was written. */
export class ReceiptReused extends Error {
  readonly operatorReceipt: string;

  constructor(operatorReceipt: string) {
    super(`the receipt ${operatorReceipt} belongs to another payment`);
    this.operatorReceipt = operatorReceipt;
  }
}

/** The operator issued one id for two payments. Nothing was written. */
export class IssuedIdReused extends Error {
  constructor(issuedId: string) {
    super(`the id ${issuedId} was issued for another payment`);
  }
}

export type Discrepancy = {
  /** Decimal digits. A later discrepancy has a larger number. */
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly subject: PaymentId;
  readonly kind: DiscrepancyKind;
  /** The operator's own id of the payment, if its status has one. */
  readonly operatorReceipt: string | null;
  /** The paid money by the operator's report, if it is not the requested money; null if nobody can read the report. */
  readonly reportedAmount: string | null;
  readonly reportedCurrency: string | null;
  readonly foundAt: Date;
};

const TEXTS: Readonly<Record<DiscrepancyKind, string>> = {
  paid_after_failed: 'failed in Malipo, paid according to the operator',
  paid_otherwise: 'the operator reports a different amount, currency or phone than requested',
  other_payment: 'the operator has another payment under this reference, which is not paid',
  declined_after_paid: 'recorded as paid, not paid according to the operator',
  refunded_twice: 'the operator returned the collection on its own, and this refund was paid as well',
  receipt_reused: 'paid according to the operator, with a receipt that belongs to another payment',
  release_unattested: 'marked as released, but this service recorded no release: not sent',
  credit_unattested:
    'credited to the available balance, but this service recorded no reason: the money cannot be spent',
};

export const DISCREPANCY_KINDS = Object.keys(TEXTS) as [DiscrepancyKind, ...DiscrepancyKind[]];

const PAID_UNREADABLE = 'paid according to the operator, with an amount that cannot be read';

type Described = Pick<Discrepancy, 'kind' | 'operatorReceipt' | 'reportedAmount' | 'reportedCurrency'>;

/** Describes the contradiction without amounts, for the history of the ledger check. */
export function discrepancyFault({ kind, operatorReceipt, reportedAmount }: Described): string {
  const isUnreadable = kind === 'paid_otherwise' && reportedAmount === null;
  return `${isUnreadable ? PAID_UNREADABLE : TEXTS[kind]}${receiptText(operatorReceipt)}`;
}

/** Describes the contradiction to a person. */
export function discrepancyText(described: Described): string {
  const { kind, operatorReceipt, reportedAmount, reportedCurrency } = described;
  if (reportedAmount === null) return discrepancyFault(described);
  return `${TEXTS[kind]}: ${reportedAmount} ${reportedCurrency ?? ''}${receiptText(operatorReceipt)}`;
}

function receiptText(operatorReceipt: string | null): string {
  return operatorReceipt === null ? '' : ` (operator receipt: ${operatorReceipt})`;
}
