// Double entry in pairs: each posting moves one amount from one account to another, so all accounts sum to zero.
import type { CollectionId, MerchantId, PayoutId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';

export type AccountId = string & { readonly __noun: 'account' };

/** A merchant's accounts, whose entries statements show. */
export const STATEMENT_ACCOUNTS = ['available', 'held'] as const;
export type StatementAccount = (typeof STATEMENT_ACCOUNTS)[number];

/** The accounts of each kind of transfer: the money moves from the first to the second. */
const TRANSFERS = {
  collection_paid: ['operator', 'available'],
  collection_reversed: ['available', 'operator'],
  payout_held: ['available', 'held'],
  payout_voided: ['held', 'available'],
  payout_paid: ['held', 'operator'],
  payout_returned: ['operator', 'available'],
} as const satisfies Readonly<Record<string, readonly (StatementAccount | 'operator')[]>>;

export type PostingKind = keyof typeof TRANSFERS;
export const POSTING_KINDS = Object.keys(TRANSFERS) as [PostingKind, ...PostingKind[]];

/** Whether a transfer of this kind brings money into the available balance of a merchant. */
export function makesAvailable(kind: PostingKind): boolean {
  return entrySide(kind, 'available') === 'credit';
}

/** The side of the account on which a transfer of this kind is an entry; null: the transfer has no entry there. */
export function entrySide(kind: PostingKind, account: StatementAccount): 'debit' | 'credit' | null {
  const [debited, credited] = TRANSFERS[kind];
  if (debited === account) return 'debit';
  return credited === account ? 'credit' : null;
}

/** `amountMinor` (always positive) leaves `debitAccount` and arrives in `creditAccount`. */
export type Posting = {
  readonly kind: PostingKind;
  readonly debitAccount: AccountId;
  readonly creditAccount: AccountId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
};

/** One side of a transfer, with the balance of its account after it. */
export type LedgerEntry = {
  /** Digits, one number for each entry. */
  readonly id: string;
  readonly account: StatementAccount;
  readonly kind: PostingKind;
  readonly paymentId: CollectionId | PayoutId;
  readonly reference: string;
  /** Below zero if the money left the account. */
  readonly amountMinor: bigint;
  /** The balance of the account after this entry and all earlier ones. */
  readonly balanceMinor: bigint;
  readonly currency: Currency;
  /** Increases in the order of the entries. */
  readonly postedAt: Date;
};

export function availableAccount(merchantId: MerchantId): AccountId {
  return `${merchantId}/available` as AccountId;
}

/** The account of a merchant's held balance: the money that is set aside for pending payouts. */
export function heldAccount(merchantId: MerchantId): AccountId {
  return `${merchantId}/held` as AccountId;
}

/** The account of the money that an operator holds for us: negative by the money that it took from payers and has not paid out. */
export function operatorAccount(operator: OperatorId, currency: Currency): AccountId {
  return `operator/${operator}/${currency}` as AccountId;
}

type Payment = Pick<Posting, 'amountMinor' | 'currency'> & {
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
};

export function posting(kind: PostingKind, { merchantId, operator, amountMinor, currency }: Payment): Posting {
  const accounts = {
    available: availableAccount(merchantId),
    held: heldAccount(merchantId),
    operator: operatorAccount(operator, currency),
  };
  const [debited, credited] = TRANSFERS[kind];
  return { kind, debitAccount: accounts[debited], creditAccount: accounts[credited], amountMinor, currency };
}
