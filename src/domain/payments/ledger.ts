// Double entry in pairs: every movement of money is one amount from one account to another, so it sums to zero by form.
import type { MerchantId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';

export type AccountId = string & { readonly __noun: 'account' };

export type PostingKind =
  | 'collection_paid' // operator → available
  | 'collection_reversed' // available → operator
  | 'payout_held' // available → held
  | 'payout_voided' // held → available
  | 'payout_paid' // held → operator
  | 'payout_returned'; // operator → available

/** A movement: `amountMinor` (always positive) leaves `debitAccount` and arrives in `creditAccount`. */
export type Posting = {
  readonly kind: PostingKind;
  readonly debitAccount: AccountId;
  readonly creditAccount: AccountId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
};

/** Money a merchant may spend. */
export function availableAccount(merchantId: MerchantId): AccountId {
  return `${merchantId}/available` as AccountId;
}

/** Money of a merchant that is promised to payouts under way. */
export function heldAccount(merchantId: MerchantId): AccountId {
  return `${merchantId}/held` as AccountId;
}

/** What an operator holds for us: negative by as much as it took from payers and has not paid out. */
export function operatorAccount(operator: OperatorId, currency: Currency): AccountId {
  return `operator/${operator}/${currency}` as AccountId;
}

type Payment = {
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
};

/** The whole amount of a payment, moved as this kind of movement does. */
export function posting(kind: PostingKind, payment: Payment): Posting {
  const available = availableAccount(payment.merchantId);
  const held = heldAccount(payment.merchantId);
  const operator = operatorAccount(payment.operator, payment.currency);
  const accounts: Readonly<Record<PostingKind, readonly [AccountId, AccountId]>> = {
    collection_paid: [operator, available],
    collection_reversed: [available, operator],
    payout_held: [available, held],
    payout_voided: [held, available],
    payout_paid: [held, operator],
    payout_returned: [operator, available],
  };
  const [debitAccount, creditAccount] = accounts[kind];
  return { kind, debitAccount, creditAccount, amountMinor: payment.amountMinor, currency: payment.currency };
}
