// Ledger entries, as the statement of a merchant's accounts shows them.
import type { CollectionId, PayoutId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { PostingKind } from './ledger.ts';

export const STATEMENT_ACCOUNTS = ['available', 'held'] as const;
export type StatementAccount = (typeof STATEMENT_ACCOUNTS)[number];

type Side = 'debit' | 'credit';

/** On which side of which account of a merchant each kind of transfer is an entry. */
export const ENTRY_SIDES: Readonly<Record<PostingKind, Partial<Readonly<Record<StatementAccount, Side>>>>> = {
  collection_paid: { available: 'credit' },
  collection_reversed: { available: 'debit' },
  payout_held: { available: 'debit', held: 'credit' },
  payout_voided: { available: 'credit', held: 'debit' },
  payout_paid: { held: 'debit' },
  payout_returned: { available: 'credit' },
};

export const POSTING_KINDS = Object.keys(ENTRY_SIDES) as PostingKind[];

/** One side of a transfer, with the balance of its account after it. */
export type LedgerEntry = {
  /** Digits, one number for each entry. */
  readonly id: string;
  readonly account: StatementAccount;
  readonly kind: PostingKind;
  readonly paymentId: CollectionId | PayoutId;
  readonly reference: string;
  /** Below zero: it left the account. */
  readonly amountMinor: bigint;
  /** Of the account, after this entry and all before it. */
  readonly balanceMinor: bigint;
  readonly currency: Currency;
  /** In the order of the entries. */
  readonly postedAt: Date;
};
