// Discrepancies: what an operator says of a payment whose end is recorded otherwise, for a person to settle.
import type { CollectionId, MerchantId, PayoutId, ReversalId } from '../ids.ts';
import type { Contradiction } from './sent-money.ts';

/** `refunded_twice`: the provider gave a collection back by itself, and the refund that was asked for was paid too. */
export type DiscrepancyKind = Contradiction | 'refunded_twice';

export type Discrepancy = {
  /** A number in digits, rising with time. */
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly subject: CollectionId | PayoutId | ReversalId;
  readonly kind: DiscrepancyKind;
  /** What the operator calls the payment, where it says that there is one. */
  readonly operatorReceipt: string | null;
  readonly foundAt: Date;
};

const TEXTS: Readonly<Record<DiscrepancyKind, string>> = {
  paid_after_failed: 'it failed here, and the operator says that it was paid',
  declined_after_paid: 'it was booked as paid, and the operator says that it was not',
  refunded_twice: 'the provider gave the collection back by itself, and this refund was paid too',
};

/** What is wrong, in words. */
export function discrepancyText({ kind, operatorReceipt }: Pick<Discrepancy, 'kind' | 'operatorReceipt'>): string {
  return operatorReceipt === null ? TEXTS[kind] : `${TEXTS[kind]} (its receipt: ${operatorReceipt})`;
}
