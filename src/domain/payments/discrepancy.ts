// Discrepancies: operator statuses that contradict a recorded outcome, each for a person to settle.
import type { MerchantId } from '../ids.ts';
import type { PaymentId } from './payment.ts';
import type { Contradiction } from './send-progress.ts';

/**
 * `refunded_twice`: the operator returned a collection on its own, and the requested refund was paid too.
 * `receipt_reused`: the operator says that the payment was paid, with the receipt of another payment.
 * `release_unattested`: it is released in the database, and no process of ours recorded that release.
 * `credit_unattested`: money is available by it, and no process of ours recorded the operator status that this rests on.
 */
export type DiscrepancyKind =
  Contradiction | 'refunded_twice' | 'receipt_reused' | 'release_unattested' | 'credit_unattested';

/** A payment cannot be recorded as paid: its receipt has paid another one. Nothing was written. */
export class ReceiptReused extends Error {
  readonly operatorReceipt: string;

  constructor(operatorReceipt: string) {
    super(`the receipt ${operatorReceipt} has paid another payment`);
    this.operatorReceipt = operatorReceipt;
  }
}

export type Discrepancy = {
  /** Decimal digits; later ones are larger numbers. */
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly subject: PaymentId;
  readonly kind: DiscrepancyKind;
  /** The operator's own id of the payment, if its status has one. */
  readonly operatorReceipt: string | null;
  /** The money that the operator says was paid, where that is not what was requested; null where nobody can read it. */
  readonly reportedAmount: string | null;
  readonly reportedCurrency: string | null;
  readonly foundAt: Date;
};

const TEXTS: Readonly<Record<DiscrepancyKind, string>> = {
  paid_after_failed: 'it failed here, and the operator says that it was paid',
  paid_otherwise: 'the operator says that other money was paid than was requested',
  declined_after_paid: 'it was booked as paid, and the operator says that it was not',
  refunded_twice: 'the provider gave the collection back by itself, and this refund was paid too',
  receipt_reused: 'the operator says that it was paid, with a receipt that has paid another payment',
  release_unattested: 'its row says that it was released, and this service did not record that: it was not sent',
  credit_unattested: 'money is available by it, and this service did not record why: nobody can spend that money',
};

export const DISCREPANCY_KINDS = Object.keys(TEXTS) as [DiscrepancyKind, ...DiscrepancyKind[]];

const PAID_UNREADABLE = 'the operator says that it was paid, and how much cannot be read';

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
  return operatorReceipt === null ? '' : ` (its receipt: ${operatorReceipt})`;
}
