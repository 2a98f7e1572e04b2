// Ledger entries on the wire.
import { z } from 'zod';
import { isId } from '../../../domain/ids.ts';
import { POSTING_KINDS, STATEMENT_ACCOUNTS, type LedgerEntry } from '../../../domain/payments/ledger.ts';
import { pageQuery, pageSchema, rangeOf, timeFilters } from '../page.ts';
import { idForm, objectSchema, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { definedFields } from '../../validation.ts';
import { currency, shownReference } from './payment.ts';

const account = z.enum(STATEMENT_ACCOUNTS).meta({ id: 'StatementAccount' });
const kind = z.enum(POSTING_KINDS).meta({ id: 'TransferKind' });
const PAYMENT_ID = '^(col|pay)_[0-7][0-9a-hjkmnp-tv-z]{25}$';
const paymentId = z
  .string()
  .regex(new RegExp(PAYMENT_ID))
  .meta({ example: idForm('col').example });

const ledgerEntrySchema = objectSchema('LedgerEntry', {
  id: z.string().meta({ example: '1042' }),
  account,
  kind: kind.meta({
    description:
      '`collection_paid` and `payout_returned` come in; `collection_reversed` goes out; `payout_held` goes from available to ' +
      'held, `payout_voided` back; `payout_paid` leaves held.',
  }),
  payment_id: paymentId,
  reference: shownReference,
  amount: z.int().meta({ description: 'Below zero: the money left the account.', example: -5000 }),
  balance: z
    .int()
    .meta({ description: 'The balance of this account after this entry and all earlier ones.', example: 125000 }),
  currency,
  created_at: time.meta({ description: 'When it was posted. Increases from entry to entry of an account.' }),
});

export const ledgerEntryListSchema = pageSchema(ledgerEntrySchema, 'LedgerEntryList');

export const ledgerEntryFilters = {
  account: account.optional(),
  kind: kind.optional(),
  payment_id: z
    .string()
    .refine((text) => isId('col', text) || isId('pay', text), {
      error: 'payment_id must be the id of a collection or a payout.',
    })
    .optional()
    .meta({ pattern: PAYMENT_ID, example: idForm('pay').example }),
  ...timeFilters,
};

export const listLedgerEntriesSchema = z.strictObject({
  ...pageQuery((text): text is string => /^[1-9][0-9]{0,17}$/.test(text)).shape,
  ...ledgerEntryFilters,
});

type LedgerEntryQuery = z.output<z.ZodObject<typeof ledgerEntryFilters>> & { readonly cursor?: string | undefined };

export function ledgerEntryFilter(query: LedgerEntryQuery) {
  const { account: ofAccount, kind: ofKind, payment_id: ofPayment } = query;
  return { ...rangeOf(query), ...definedFields({ account: ofAccount, kind: ofKind, paymentId: ofPayment }) };
}

export function ledgerEntryObject(entry: LedgerEntry) {
  const { amountMinor: amount, balanceMinor: balance, postedAt: createdAt } = entry;
  return wireObject(ledgerEntrySchema, { ...entry, amount, balance, createdAt });
}
