// The reads that collections and payouts share: by id, by operator reference, and in pages by any combination of filters.
import { lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { BoundedCount, ListedPage, ListFilter, ListRequest } from '../../domain/payments/payment-list.ts';
import { composedStatement, findOne, statement, type Queryable, type Statement } from '../platform/database.ts';
import { readPage, type ListRange, type Page } from '../platform/page.ts';
import { countMatching, listPage } from './payment-list.ts';

export type PaymentFilter<State extends string, Id extends string> = ListRange<Id> & {
  /** Any of these states; an empty list matches nothing. */
  readonly states?: readonly State[];
  readonly reference?: string;
  readonly phone?: string;
  readonly idempotencyKey?: string;
};

type Source<Row, Payment> = {
  readonly kind: 'collection' | 'payout';
  readonly prefix: 'col' | 'pay';
  readonly columns: string;
  readonly toPayment: (row: Row) => Payment;
};

/** The columns that collections and payouts have in common, as their domain types name them. */
export const SHARED_COLUMNS = `id, kind, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference,
  phone, operator, operator_reference, description, metadata, failure_code, amount_reversed_minor,
  operator_receipt, request_id, created_at, updated_at`;

/** The functions that read the payments of one kind. */
export function paymentReads<
  Row extends object,
  Payment extends { readonly id: string; readonly state: string; readonly amountMinor: bigint },
>({ kind, prefix, columns, toPayment }: Source<Row, Payment>) {
  const all = `${SHARED_COLUMNS}, ${columns}`;
  const select = `SELECT ${all} FROM payments`;
  const FIND = statement(`${kind}_find`)`${select} WHERE merchant_id = $1 AND id = $2 AND kind = '${kind}'`;
  const FIND_BY_OPERATOR_REFERENCE = statement(`${kind}_find_by_operator_reference`)`
    ${select} WHERE operator_reference = $1 AND kind = '${kind}' AND operator = $2`;
  const find = async (db: Queryable, query: Statement, values: readonly unknown[]): Promise<Payment | null> => {
    const row = await findOne<Row>(db, query, values);
    return row && toPayment(row);
  };
  return {
    find: (db: Queryable, merchantId: MerchantId, id: Payment['id']) => find(db, FIND, [merchantId, id]),
    findByOperatorReference: (db: Queryable, operator: OperatorId, operatorReference: string) =>
      find(db, FIND_BY_OPERATOR_REFERENCE, [operatorReference, operator]),
    list: async (
      db: Queryable,
      merchantId: MerchantId,
      filter: PaymentFilter<Payment['state'], Payment['id']>,
      limit: number,
    ): Promise<Page<Payment>> => {
      const { conditions, values } = conditionsOf(filter, kind, prefix);
      const text = `${select} WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT $2`;
      const query = composedStatement(`${kind}_list`, text);
      return readPage(limit, async (count) =>
        (await db.run<Row>(query, [merchantId, count, ...values])).map(toPayment),
      );
    },
    page: (db: Queryable, merchantId: MerchantId, request: ListRequest): Promise<ListedPage<Payment>> =>
      listPage(db, merchantId, { kind, prefix, columns: all, toPayment }, request),
    count: (db: Queryable, merchantId: MerchantId, filter: ListFilter): Promise<BoundedCount> =>
      countMatching(db, merchantId, { kind, prefix }, filter),
  };
}

/**
 * The conditions with the values of the filter; $1 is the merchant and $2 the limit. Conditions on time are conditions on
 * the id, which begins with the creation time, so each page is one index range, at any depth.
 */
function conditionsOf(filter: PaymentFilter<string, string>, kind: string, prefix: 'col' | 'pay') {
  const conditions = ['merchant_id = $1', `kind = '${kind}'`];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown) => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length + 2}`));
  };
  // One state has an index of its own; several states, or no condition on them, are filtered from the merchant's index.
  const isOneState = filter.states?.length === 1;
  if (isOneState) add('state = ?', filter.states[0]);
  else if (filter.states) add('state = ANY(?)', filter.states);
  if (filter.reference !== undefined) {
    // The index has it in small letters.
    add('lower(reference) = lower(?)', filter.reference);
    add('reference = ?', filter.reference);
  }
  if (filter.phone !== undefined) add('phone = ?', filter.phone);
  if (filter.idempotencyKey !== undefined) {
    add('lower(idempotency_key) = lower(? COLLATE "C")', filter.idempotencyKey);
    add('idempotency_key = ?', filter.idempotencyKey);
  }
  if (filter.createdFrom !== undefined) add('id >= ?', lowestIdAt(prefix, filter.createdFrom.getTime()));
  if (filter.createdTo !== undefined) add('id < ?', lowestIdAt(prefix, filter.createdTo.getTime()));
  if (filter.before !== undefined) add('id < ?', filter.before);
  return { conditions, values };
}
