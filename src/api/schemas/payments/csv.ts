// The columns of exports as CSV.
import { z } from 'zod';
import type { Cell } from '../../../domain/csv.ts';
import { toDecimalString, type Currency } from '../../../domain/money.ts';
import type { Collection } from '../../../domain/payments/collection.ts';
import type { LedgerEntry } from '../../../domain/payments/ledger.ts';
import type { Payout } from '../../../domain/payments/payout.ts';
import type { PayoutWithPeople } from '../../../operations/payments/read-console-payments.ts';
import { ledgerEntryFilters } from './ledger-entry.ts';

export const ledgerCsvFilters = z.strictObject(ledgerEntryFilters);

export function csvSchema(columns: readonly string[]) {
  return z.string().meta({ example: `${columns.join(',')}\r\n` });
}

const PAYMENT_COLUMNS = [
  ...[
    'id',
    'created_at',
    'updated_at',
    'state',
    'amount',
    'amount_decimal',
    'currency',
    'operator',
    'phone',
    'reference',
  ],
  ...['description', 'failure_code', 'operator_reference', 'operator_receipt', 'idempotency_key'],
];
export const COLLECTION_COLUMNS = PAYMENT_COLUMNS;
export const PAYOUT_COLUMNS = [
  ...PAYMENT_COLUMNS,
  ...['created_by', 'created_by_name', 'approved_by', 'approved_by_names', 'rejection_reason'],
];
export const LEDGER_COLUMNS = [
  ...[
    'id',
    'created_at',
    'account',
    'kind',
    'payment_id',
    'reference',
    'amount',
    'amount_decimal',
    'balance',
    'balance_decimal',
  ],
  'currency',
];

export function collectionCells(payment: Collection): readonly Cell[] {
  return paymentCells(payment);
}

export function payoutCells({ maker, approvers, ...payout }: PayoutWithPeople): readonly Cell[] {
  const approvedBy = approvers.map(({ id }) => id).join(' ');
  // Of an account that no process of ours wrote nobody knows the name.
  const names = approvers.map(({ name }) => name ?? '?').join(', ');
  const people = [maker.id, { text: maker.name }, approvedBy, { text: names === '' ? null : names }];
  return [...paymentCells(payout), ...people, { text: payout.rejectionReason }];
}

function paymentCells(payment: Collection | Payout): readonly Cell[] {
  return [
    payment.id,
    payment.createdAt.toISOString(),
    payment.updatedAt.toISOString(),
    payment.state,
    payment.amountMinor,
    decimal(payment.amountMinor, payment.currency),
    payment.currency,
    payment.operator,
    payment.phone,
    { text: payment.reference },
    { text: payment.description },
    payment.failureCode,
    payment.operatorReference,
    payment.operatorReceipt,
    { text: payment.idempotencyKey },
  ];
}

export function ledgerCells(entry: LedgerEntry): readonly Cell[] {
  return [
    entry.id,
    entry.postedAt.toISOString(),
    entry.account,
    entry.kind,
    entry.paymentId,
    { text: entry.reference },
    entry.amountMinor,
    decimal(entry.amountMinor, entry.currency),
    entry.balanceMinor,
    decimal(entry.balanceMinor, entry.currency),
    entry.currency,
  ];
}

function decimal(amountMinor: bigint, currency: Currency): string {
  const text = toDecimalString({ amountMinor: amountMinor < 0n ? -amountMinor : amountMinor, currency });
  return amountMinor < 0n ? `-${text}` : text;
}
