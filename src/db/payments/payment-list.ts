// Pages of payments, newest first, by any combination of filters.
import { lowestIdAt } from '../../domain/ids.ts';
import { composedStatement, type Statement } from '../database.ts';

export type PaymentFilter<State extends string, Id extends string> = {
  /** Any of these states; an empty list matches nothing. */
  readonly states?: readonly State[];
  readonly reference?: string;
  readonly phone?: string;
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdTo?: Date;
  /** Only payments with an older id than this. */
  readonly before?: Id;
};

export type PaymentTable = {
  readonly table: 'collections' | 'payouts';
  readonly prefix: 'col' | 'pay';
  readonly columns: string;
};

/**
 * The statement with the values of its filters; its $1 is the merchant and $2 the limit. Conditions on time are
 * conditions on the id, which begins with the creation time, so each page is one index range, at any depth.
 */
export function listStatement(
  { table, prefix, columns }: PaymentTable,
  filter: PaymentFilter<string, string>,
): { readonly query: Statement; readonly values: unknown[] } {
  const conditions = ['merchant_id = $1'];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown) => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length + 2}`));
  };
  // One state has an index of its own; several states, or no condition on them, are filtered from the merchant's index.
  const isOneState = filter.states?.length === 1;
  if (isOneState) add('state = ?', filter.states[0]);
  else if (filter.states) add('state = ANY(?)', filter.states);
  if (filter.reference !== undefined) add('reference = ?', filter.reference);
  if (filter.phone !== undefined) add('phone = ?', filter.phone);
  if (filter.createdFrom !== undefined) add('id >= ?', lowestIdAt(prefix, filter.createdFrom.getTime()));
  if (filter.createdTo !== undefined) add('id < ?', lowestIdAt(prefix, filter.createdTo.getTime()));
  if (filter.before !== undefined) add('id < ?', filter.before);
  const text = `SELECT ${columns} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT $2`;
  return { query: composedStatement(`${table}_list`, text), values };
}
