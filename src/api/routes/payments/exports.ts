// Collections, payouts and the statement as CSV.
import type { Collection } from '../../../domain/payments/collection.ts';
import type { LedgerEntry } from '../../../domain/payments/ledger.ts';
import type { ListPlace } from '../../../domain/payments/payment-list.ts';
import { pageCollections } from '../../../db/payments/collection.ts';
import { listLedgerEntries } from '../../../db/payments/ledger-entry.ts';
import { listPayoutsWithPeople, type PayoutWithPeople } from '../../../operations/payments/read-console-payments.ts';
import { csvResponse } from '../../csv-export.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { collectionFilter, collectionQueries } from '../../schemas/payments/console-collection.ts';
import { payoutFilter, payoutQueries } from '../../schemas/payments/console-payout.ts';
import {
  COLLECTION_COLUMNS,
  csvSchema,
  LEDGER_COLUMNS,
  ledgerCsvFilters,
  PAYOUT_COLUMNS,
} from '../../schemas/payments/csv.ts';
import { ledgerEntryFilter } from '../../schemas/payments/ledger-entry.ts';

const DESCRIPTION =
  'Accepts any combination of filters. The CSV is UTF-8 with a header row, and is streamed as it is read. `amount` ' +
  'is in the smallest unit, `amount_decimal` is the same amount in whole units. A text that a spreadsheet would ' +
  'run as a formula begins with an apostrophe. A response that breaks off is incomplete. The audit log records who ' +
  'exported what.';
const EXPORT = { description: DESCRIPTION, access: 'session' } as const;

const csvOf = (columns: object) =>
  ({ status: 200, description: 'The export.', schema: csvSchema(columns), type: 'text/csv' }) as const;

export const exportRoutes = routesUnder<RouteDeps>('Console exports', '/v1/console', [
  route('GET /collections.csv', {
    ...EXPORT,
    operationId: 'getCollectionsCsv',
    summary: 'Export collections',
    query: collectionQueries.export,
    response: csvOf(COLLECTION_COLUMNS),
    handle: ({ merchantId, query, by, session }, { db }) => {
      const list = { filter: collectionFilter(query), order: query.sort };
      return csvResponse<Collection, ListPlace>(db, {
        ...{ dataset: 'collections', by, session, filters: query, columns: COLLECTION_COLUMNS },
        readPage: (after, limit) => pageCollections(db, merchantId, { ...list, after, limit }),
      });
    },
  }),
  route('GET /payouts.csv', {
    ...EXPORT,
    operationId: 'getPayoutsCsv',
    summary: 'Export payouts',
    query: payoutQueries.export,
    response: csvOf(PAYOUT_COLUMNS),
    handle: ({ merchantId, query, by, session }, { db }) => {
      const list = { filter: payoutFilter(query, session.person, new Date()), order: query.sort };
      return csvResponse<PayoutWithPeople, ListPlace>(db, {
        ...{ dataset: 'payouts', by, session, filters: query, columns: PAYOUT_COLUMNS },
        readPage: (after, limit) => listPayoutsWithPeople(db, merchantId, { ...list, after, limit }),
      });
    },
  }),
  route('GET /ledger.csv', {
    ...EXPORT,
    operationId: 'getLedgerCsv',
    summary: 'Export the statement of the available and held accounts',
    query: ledgerCsvFilters,
    response: csvOf(LEDGER_COLUMNS),
    handle: ({ merchantId, query, by, session }, { db }) => {
      const filter = ledgerEntryFilter(query);
      return csvResponse<LedgerEntry, LedgerEntry['id']>(db, {
        ...{ dataset: 'ledger', by, session, filters: query, columns: LEDGER_COLUMNS },
        readPage: async (before, limit) => {
          const from = { ...filter, ...(before !== null && { before }) };
          const { items, nextBefore } = await listLedgerEntries(db, merchantId, from, limit);
          return { items, next: nextBefore };
        },
      });
    },
  }),
]);
