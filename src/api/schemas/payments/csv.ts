// The columns of exports as CSV.
import { z } from 'zod';
import { toDecimalString, type Currency } from '../../../domain/money.ts';
import type { Collection } from '../../../domain/payments/collection.ts';
import type { LedgerEntry } from '../../../domain/payments/ledger.ts';
import type { Payout } from '../../../domain/payments/payout.ts';
import type { PayoutWithPeople } from '../../../operations/payments/read-console-payments.ts';
import type { CsvColumns } from '../../csv-export.ts';
import { ledgerEntryFilters } from './ledger-entry.ts';

export const ledgerCsvFilters = z.strictObject(ledgerEntryFilters);

export function csvSchema(columns: object) {
  return z.string().meta({ example: `${Object.keys(columns).join(',')}\r\n` });
}

const PAYMENT_COLUMNS: CsvColumns<Collection | Payout> = {
  id: ({ id }) => id,
  created_at: ({ createdAt }) => createdAt.toISOString(),
  updated_at: ({ updatedAt }) => updatedAt.toISOString(),
  state: ({ state }) => state,
  amount: ({ amountMinor }) => amountMinor,
  amount_decimal: ({ amountMinor, currency }) => decimal(amountMinor, currency),
  currency: ({ currency }) => currency,
  operator: ({ operator }) => operator,
  phone: ({ phone }) => phone,
  reference: ({ reference }) => ({ text: reference }),
  description: ({ description }) => ({ text: description }),
  failure_code: ({ failureCode }) => failureCode,
  operator_reference: ({ operatorReference }) => operatorReference,
  operator_receipt: ({ operatorReceipt }) => operatorReceipt,
  idempotency_key: ({ idempotencyKey }) => ({ text: idempotencyKey }),
};

export const COLLECTION_COLUMNS: CsvColumns<Collection> = PAYMENT_COLUMNS;

export const PAYOUT_COLUMNS: CsvColumns<PayoutWithPeople> = {
  ...PAYMENT_COLUMNS,
  created_by: ({ maker }) => maker.id,
  created_by_name: ({ maker }) => ({ text: maker.name }),
  approved_by: ({ approvers }) => approvers.map(({ id }) => id).join(' '),
  // Nobody knows the name of an account that no process of ours wrote.
  approved_by_names: ({ approvers }) => {
    const names = approvers.map(({ name }) => name ?? '?').join(', ');
    return { text: names === '' ? null : names };
  },
  rejection_reason: ({ rejectionReason }) => ({ text: rejectionReason }),
};

export const LEDGER_COLUMNS: CsvColumns<LedgerEntry> = {
  id: ({ id }) => id,
  created_at: ({ postedAt }) => postedAt.toISOString(),
  account: ({ account }) => account,
  kind: ({ kind }) => kind,
  payment_id: ({ paymentId }) => paymentId,
  reference: ({ reference }) => ({ text: reference }),
  amount: ({ amountMinor }) => amountMinor,
  amount_decimal: ({ amountMinor, currency }) => decimal(amountMinor, currency),
  balance: ({ balanceMinor }) => balanceMinor,
  balance_decimal: ({ balanceMinor, currency }) => decimal(balanceMinor, currency),
  currency: ({ currency }) => currency,
};

function decimal(amountMinor: bigint, currency: Currency): string {
  const text = toDecimalString({ amountMinor: amountMinor < 0n ? -amountMinor : amountMinor, currency });
  return amountMinor < 0n ? `-${text}` : text;
}
