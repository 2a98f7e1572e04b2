// Rows of attempts at a checkout, each with the collection that the attempt made.
import type { CheckoutId, CollectionId, MerchantId } from '../../domain/ids.ts';
import type { Attempt, Checkout } from '../../domain/payments/checkout.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const INSERT = statement('checkout_attempt_insert')`
  INSERT INTO checkout_attempts (code_sha256, checkout_id, merchant_id, collection_id, created_at) VALUES ($1, $2, $3, $4, $5)`;

/** Inserts an attempt. The same transaction inserted the collection, with the details of the checkout. */
export async function insertAttempt(
  tx: Tx,
  { id: checkoutId, merchantId }: Checkout,
  codeSha256: Buffer,
  collection: Pick<Collection, 'id' | 'createdAt'>,
): Promise<void> {
  await tx.run(INSERT, [codeSha256, checkoutId, merchantId, collection.id, collection.createdAt]);
}

const LIST_OF_ONE_TIME = statement('checkout_attempt_list_of_one_time')`
  SELECT c.state, c.failure_code, c.updated_at FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id
  WHERE a.checkout_id = $1`;
// Reads from the phone's collections, because a reusable checkout may have any number of attempts.
const LIST_LIVE_OF_PHONE = statement('checkout_attempt_list_live_of_phone')`
  SELECT c.state, c.failure_code, c.updated_at
  FROM payments c JOIN checkout_attempts a ON a.collection_id = c.id AND a.checkout_id = $1
  WHERE c.merchant_id = $2 AND c.kind = 'collection' AND c.phone = $3 AND c.state IN ('initiated', 'prompted', 'reconciling')`;

/** The attempts that decide whether this phone may make another attempt. Null: any phone; empty then for a reusable checkout. */
export async function listEarlierAttempts(
  db: Queryable,
  { id, merchantId, use }: Checkout,
  phone: string | null,
): Promise<Attempt[]> {
  if (use === 'one_time') return db.run<Attempt>(LIST_OF_ONE_TIME, [id]);
  return phone === null ? [] : db.run<Attempt>(LIST_LIVE_OF_PHONE, [id, merchantId, phone]);
}

const FIND = statement('checkout_attempt_find')`
  SELECT a.collection_id, c.operator_receipt,
    (SELECT v.created_at FROM events v WHERE v.payment_id = c.id AND v.type = 'collection.succeeded') AS paid_at
  FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id WHERE a.checkout_id = $1 AND a.code_sha256 = $2`;

export type FoundAttempt = {
  readonly collectionId: CollectionId;
  readonly operatorReceipt: string | null;
  /** When the operator's confirmation of the payment was recorded; null: none was recorded. */
  readonly paidAt: Date | null;
};

/** The attempt whose page has this code in its address. */
export async function findAttempt(db: Queryable, id: CheckoutId, codeSha256: Buffer): Promise<FoundAttempt | null> {
  return findOne<FoundAttempt>(db, FIND, [id, codeSha256]);
}

const LIST = statement('checkout_attempt_list')`
  SELECT c.id AS collection_id, c.state, c.phone, c.operator, c.failure_code, c.created_at, c.updated_at
  FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id
  WHERE a.checkout_id = $1 AND a.merchant_id = $2 ORDER BY a.collection_id DESC LIMIT $3`;

export type ListedAttempt = Pick<
  Collection,
  'state' | 'phone' | 'operator' | 'failureCode' | 'createdAt' | 'updatedAt'
> & { readonly collectionId: CollectionId };

/** The newest attempts, at most `limit`. */
export async function listAttempts(
  db: Queryable,
  merchantId: MerchantId,
  id: CheckoutId,
  limit: number,
): Promise<ListedAttempt[]> {
  return db.run<ListedAttempt>(LIST, [id, merchantId, limit]);
}

const LIST_CHECKOUT_IDS = statement('checkout_attempt_list_checkout_ids')`
  SELECT collection_id, checkout_id FROM checkout_attempts WHERE collection_id = ANY($1)`;

/** The checkouts at which these collections were made, by collection id. */
export async function findCheckoutIds(
  db: Queryable,
  collections: readonly CollectionId[],
): Promise<Map<CollectionId, CheckoutId>> {
  const rows = await db.run<{ collectionId: CollectionId; checkoutId: CheckoutId }>(LIST_CHECKOUT_IDS, [collections]);
  return new Map(rows.map(({ collectionId, checkoutId }) => [collectionId, checkoutId]));
}
