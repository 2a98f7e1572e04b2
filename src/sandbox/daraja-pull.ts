// Customers' payments of the last 48 hours, as Daraja's Pull lists them: page by page, in a nested array.
import { newRequestId, parseNairobi, receiptOf } from './daraja-ids.ts';
import type { DarajaPull } from './daraja-request.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Transaction } from './transaction.ts';

const REACH_MS = 48 * 60 * 60_000;

/** Null if the dates cannot be read. `rows` is the number of rows of a page; `OffSetValue` counts rows, not pages. */
export function pullPage(
  store: TransactionStore,
  { StartDate, EndDate, OffSetValue }: DarajaPull,
  rows: number,
): object | null {
  const [startMs, endMs] = [parseNairobi(StartDate), parseNairobi(EndDate)];
  if (startMs === null || endMs === null || endMs < startMs) return null;
  const fromMs = Math.max(startMs, Date.now() - REACH_MS);
  // A payment that was returned later is still listed as paid.
  const paid = store
    .list({ wire: 'daraja', kind: 'collection' }, Infinity)
    .filter(({ state, givenBackAtMs }) => state === 'SUCCESSFUL' || givenBackAtMs !== null)
    .filter(({ decidedAtMs }) => decidedAtMs !== null && decidedAtMs >= fromMs && decidedAtMs <= endMs)
    .sort((a, b) => (a.decidedAtMs ?? 0) - (b.decidedAtMs ?? 0));
  const offset = Number(OffSetValue);
  const page = paid.slice(offset, offset + rows);
  return {
    ResponseRefID: newRequestId(),
    ...(page.length === 0
      ? { ResponseCode: '1001', ResponseMessage: 'No transactions found' }
      : { ResponseCode: '1000', ResponseMessage: 'Success' }),
    Response: [page.map(row)],
  };
}

function row(transaction: Transaction): object {
  const { decidedAtMs, phone, externalId, amount } = transaction;
  return {
    transactionId: receiptOf(transaction),
    trxDate: new Date(decidedAtMs ?? 0).toISOString().replace(/\.\d+/, ''),
    msisdn: Number(phone),
    sender: 'MPESA',
    transactiontype: 'c2b-pay-bill-debit',
    billreference: externalId ?? '',
    amount: `${amount}.00`,
    organizationname: 'Malipo',
  };
}
