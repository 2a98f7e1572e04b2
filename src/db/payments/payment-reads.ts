// Reads shared by all kinds of payments: by id, by operator reference, and in pages by any combination of filters.
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { BoundedCount, ListedPage, ListFilter, ListRequest } from '../../domain/payments/payment-list.ts';
import { notFound } from '../../domain/errors.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { composedStatement, findOne, statement, type Queryable, type Statement } from '../platform/database.ts';
import { conditionsOf, idConditions, readPage, type Condition, type ListRange, type Page } from '../platform/page.ts';
import { BEGIN_QUERY, QUERY_WAIT_MS } from '../work/status-queries.ts';
import { APPROVALS_COLUMN, toApprovals, type ApprovalsInRow } from './approval.ts';
import { GENERATION_COLUMN, toGeneration, type GenerationInRow } from './send-generation.ts';
import { countMatching, listPage, type ListSource } from './payment-list.ts';

export type PaymentFilter<State extends string, Id extends string> = ListRange<Id> & {
  /** Any of these states; an empty list matches nothing. */
  readonly states?: readonly State[];
  readonly reference?: string;
  readonly phone?: string;
  readonly idempotencyKey?: string;
};

/** The columns of all kinds of payments, named as in `PaymentFields`. */
const PAYMENT_COLUMNS = `id, kind, merchant_id, state, amount_minor, currency, reference, phone, operator, operator_reference,
  failure_code, request_id, created_at, updated_at, send_begun_at, sends_once, sends_taken_back, take_back_attestation, receipt_follows, operator_issued_id`;

/** The columns of collections and payouts, named as in `PaymentFields` and `RequestedFields`. */
export const REQUESTED_COLUMNS = `${PAYMENT_COLUMNS}, idempotency_key, previous_state, version, description, metadata,
  amount_reversed_minor, operator_receipt, api_key_id`;

/** The columns that only payouts and refunds have, named as in `MoneyOutFields`. */
const MONEY_OUT_COLUMNS = `created_by, approvals_required, decided_by, rejection_reason, expires_at, send_deadline_at,
  request_attestation, release_attestation, accepted_at, not_found_count, not_found_since, not_found_last_at, ${APPROVALS_COLUMN}`;

export const PAYOUT_COLUMNS = `${REQUESTED_COLUMNS}, ${MONEY_OUT_COLUMNS}, payee_name, ${GENERATION_COLUMN}`;
export const REFUND_COLUMNS = `${PAYMENT_COLUMNS}, ${MONEY_OUT_COLUMNS}`;

/** Makes a payout or refund from a row with `MONEY_OUT_COLUMNS`. */
export function toMoneyOut<Payment>({
  approvals,
  ...fields
}: Omit<Payment, 'approvals'> & { readonly approvals: ApprovalsInRow }) {
  return { ...fields, approvals: toApprovals(approvals) };
}

/** Makes a payout from a row with `PAYOUT_COLUMNS`. */
export function toPayout({
  generation,
  ...row
}: Omit<Payout, 'approvals' | 'generation'> & {
  readonly approvals: ApprovalsInRow;
  readonly generation: GenerationInRow;
}): Payout {
  return { ...toMoneyOut<Omit<Payout, 'generation'>>(row), generation: toGeneration(generation) };
}

export type BegunQuery<Payment> = {
  /** How long the query must wait, because the last query was less than the minimum gap ago; 0: the query is recorded as begun. */
  readonly waitMs: number;
  readonly payment: Payment;
};

/** The functions that read the payments of one kind. */
export function paymentReads<
  Row extends object,
  Payment extends { readonly id: string; readonly state: string; readonly amountMinor: bigint },
>(source: ListSource<Row, Payment>) {
  const { kind, prefix, columns, toPayment } = source;
  const select = `SELECT ${columns} FROM payments`;
  const FIND = statement(`${kind}_find`)`${select} WHERE merchant_id = $1 AND id = $2 AND kind = '${kind}'`;
  const BEGIN = statement(`${kind}_begin_query`)`
    WITH ${BEGIN_QUERY}
    SELECT ${columns}, ${QUERY_WAIT_MS} AS wait_ms FROM payments WHERE merchant_id = $1 AND id = $2 AND kind = '${kind}'`;
  const FIND_BY_OPERATOR_REFERENCE = statement(`${kind}_find_by_operator_reference`)`
    ${select} WHERE operator_reference = $1 AND kind = '${kind}' AND operator = $2`;
  const find = async (db: Queryable, query: Statement, values: readonly unknown[]): Promise<Payment | null> => {
    const row = await findOne<Row>(db, query, values);
    return row && toPayment(row);
  };
  return {
    select,
    findBy: find,
    find: (db: Queryable, merchantId: MerchantId, id: Payment['id']) => find(db, FIND, [merchantId, id]),
    /** Throws the not-found error of the kind for an unknown id and, in the same words, for the id of another merchant's payment. */
    get: async (db: Queryable, merchantId: MerchantId, id: string): Promise<Payment> => {
      const payment = isId(prefix, id) ? await find(db, FIND, [merchantId, id]) : null;
      if (!payment) throw notFound(kind);
      return payment;
    },
    /** Begins a status query of the payment in one statement, unless the query must wait. Null: there is no such payment. */
    beginQuery: async (
      db: Queryable,
      merchantId: MerchantId,
      id: Payment['id'],
      gapMs: number,
    ): Promise<BegunQuery<Payment> | null> => {
      const row = await findOne<Row & { readonly waitMs: number }>(db, BEGIN, [merchantId, id, gapMs]);
      if (row === null) return null;
      const { waitMs, ...fields } = row;
      return { waitMs, payment: toPayment(fields as unknown as Row) };
    },
    /** Searches all merchants. For callbacks only, because they name only the operator reference. */
    findByOperatorReference: (db: Queryable, operator: OperatorId, operatorReference: string) =>
      find(db, FIND_BY_OPERATOR_REFERENCE, [operatorReference, operator]),
    list: async (
      db: Queryable,
      merchantId: MerchantId,
      filter: PaymentFilter<Payment['state'], Payment['id']>,
      limit: number,
    ): Promise<Page<Payment>> => {
      const { conditions, values } = conditionsOf(3, [...conditionsIn(filter), ...idConditions('id', prefix, filter)]);
      const text = `${select} WHERE merchant_id = $1 AND kind = '${kind}'${conditions} ORDER BY id DESC LIMIT $2`;
      const query = composedStatement(`${kind}_list`, text);
      return readPage(limit, async (count) =>
        (await db.run<Row>(query, [merchantId, count, ...values])).map(toPayment),
      );
    },
    page: (db: Queryable, merchantId: MerchantId, request: ListRequest): Promise<ListedPage<Payment>> =>
      listPage(db, merchantId, source, request),
    count: (db: Queryable, merchantId: MerchantId, filter: ListFilter): Promise<BoundedCount> =>
      countMatching(db, merchantId, { kind, prefix }, filter),
  };
}

function conditionsIn({ states, reference, phone, idempotencyKey }: PaymentFilter<string, string>): Condition[] {
  return [
    // One state has an index of its own; several states, or no condition on them, are filtered from the merchant's index.
    states?.length === 1 ? ['state = ?', states[0]] : ['state = ANY(?)', states],
    // The index has lowercase references and keys.
    ['lower(reference) = lower(?) AND reference = ?', reference],
    ['phone = ?', phone],
    ['lower(idempotency_key) = lower(? COLLATE "C") AND idempotency_key = ?', idempotencyKey],
  ];
}
