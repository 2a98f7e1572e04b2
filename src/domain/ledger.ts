// Double entry in pairs: every movement of money is one amount from one account to another, so it sums to zero by form.
import type { CollectionId, MerchantId } from './ids.ts';
import type { Currency } from './money.ts';
import type { OperatorId } from './operator-catalogue.ts';

export type AccountId = string & { readonly __noun: 'account' };

/** A movement: `amountMinor` (always positive) leaves `debitAccount` and arrives in `creditAccount`. */
export type Posting = {
  readonly kind: 'collection_paid';
  readonly collectionId: CollectionId;
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

/** The posting for a paid collection: from the operator's float to the merchant's available balance. */
export function collectionPaidPosting(collection: {
  readonly id: CollectionId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
}): Posting {
  return {
    kind: 'collection_paid',
    collectionId: collection.id,
    debitAccount: operatorAccount(collection.operator, collection.currency),
    creditAccount: availableAccount(collection.merchantId),
    amountMinor: collection.amountMinor,
    currency: collection.currency,
  };
}
