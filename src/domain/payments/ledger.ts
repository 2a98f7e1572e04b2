// Double entry in pairs: each posting moves one amount from one account to another, so all accounts sum to zero.
import type { MerchantId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';

export type AccountId = string & { readonly __noun: 'account' };

export const POSTING_KINDS = [
  'collection_paid', // operator → available
  'collection_reversed', // available → operator
  'payout_held', // available → held
  'payout_voided', // held → available
  'payout_paid', // held → operator
  'payout_returned', // operator → available
] as const;
export type PostingKind = (typeof POSTING_KINDS)[number];

const MAKES_AVAILABLE: ReadonlySet<PostingKind> = new Set(['collection_paid', 'payout_voided', 'payout_returned']);

/** Whether a transfer of this kind brings money into the available balance of a merchant. */
export function makesAvailable(kind: PostingKind): boolean {
  return MAKES_AVAILABLE.has(kind);
}

/** `amountMinor` (always positive) leaves `debitAccount` and arrives in `creditAccount`. */
export type Posting = {
  readonly kind: PostingKind;
  readonly debitAccount: AccountId;
  readonly creditAccount: AccountId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
};

export function availableAccount(merchantId: MerchantId): AccountId {
  return `${merchantId}/available` as AccountId;
}

/** The account of a merchant's held balance: the money that is set aside for pending payouts. */
export function heldAccount(merchantId: MerchantId): AccountId {
  return `${merchantId}/held` as AccountId;
}

/** The account of what an operator holds for us: negative by what it took from payers and has not paid out. */
export function operatorAccount(operator: OperatorId, currency: Currency): AccountId {
  return `operator/${operator}/${currency}` as AccountId;
}

type Payment = {
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
};

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
