// Collections, payouts and the statement as CSV.
import type { Collection } from '../../../domain/payments/collection.ts';
import type { LedgerEntry } from '../../../domain/payments/ledger.ts';
import type { ListPlace } from '../../../domain/payments/payment-list.ts';
import { pageCollections } from '../../../db/payments/collection.ts';
import { listLedgerEntries } from '../../../db/payments/ledger-entry.ts';
import { listPayoutsWithPeople, type PayoutWithPeople } from '../../../operations/payments/read-console-payments.ts';
import { csvResponse } from '../../csv-export.ts';
import { route, type Route, type RouteDeps } from '../../route.ts';
import { rangeOf } from '../../schemas/page.ts';
import { collectionFilter, collectionQueries } from '../../schemas/payments/console-collection.ts';
import { payoutFilter, payoutQueries } from '../../schemas/payments/console-payout.ts';
import {
  COLLECTION_COLUMNS,
  collectionCells,
  csvSchema,
  LEDGER_COLUMNS,
  ledgerCells,
  ledgerCsvFilters,
  PAYOUT_COLUMNS,
  payoutCells,
} from '../../schemas/payments/csv.ts';
import { definedFields } from '../../validation.ts';

const DESCRIPTION =
  'Accepts any combination of filters. The CSV is UTF-8 with a header row, and is streamed as it is read. `amount` ' +
  'is in the smallest unit, `amount_decimal` is the same amount in whole units. A text that a spreadsheet would ' +
  'run as a formula begins with an apostrophe. A response that breaks off is incomplete. The audit log records who ' +
  'exported what.';
const TAG = 'Console exports';
const EXPORT = { description: DESCRIPTION, access: 'session' } as const;

const csvOf = (columns: readonly string[]) =>
  ({ status: 200, description: 'The export.', schema: csvSchema(columns), type: 'text/csv' }) as const;

export function exportRoutes(deps: RouteDeps): Route[] {
  return [collectionsRoute(deps), payoutsRoute(deps), ledgerRoute(deps)];
}

function collectionsRoute(deps: RouteDeps): Route {
  const { db } = deps;
  return route(deps, TAG, 'GET /v1/console/collections.csv', {
    ...EXPORT,
    operationId: 'getCollectionsCsv',
    summary: 'Export collections',
    query: collectionQueries.export,
    response: csvOf(COLLECTION_COLUMNS),
    handle: ({ merchantId, query, by, session }) => {
      const list = { filter: collectionFilter(query), order: query.sort };
      return csvResponse<Collection, ListPlace>(db, {
        ...{
          dataset: 'collections',
          by,
          session,
          filters: query,
          columns: COLLECTION_COLUMNS,
          cellsOf: collectionCells,
        },
        readPage: (after, limit) => pageCollections(db, merchantId, { ...list, after, limit }),
      });
    },
  });
}

function payoutsRoute(deps: RouteDeps): Route {
  const { db } = deps;
  return route(deps, TAG, 'GET /v1/console/payouts.csv', {
    ...EXPORT,
    operationId: 'getPayoutsCsv',
    summary: 'Export payouts',
    query: payoutQueries.export,
    response: csvOf(PAYOUT_COLUMNS),
    handle: ({ merchantId, query, by, session }) => {
      const list = { filter: payoutFilter(query, session.person, new Date()), order: query.sort };
      return csvResponse<PayoutWithPeople, ListPlace>(db, {
        ...{ dataset: 'payouts', by, session, filters: query, columns: PAYOUT_COLUMNS, cellsOf: payoutCells },
        readPage: (after, limit) => listPayoutsWithPeople(db, merchantId, { ...list, after, limit }),
      });
    },
  });
}

function ledgerRoute(deps: RouteDeps): Route {
  const { db } = deps;
  return route(deps, TAG, 'GET /v1/console/ledger.csv', {
    ...EXPORT,
    operationId: 'getLedgerCsv',
    summary: 'Export the statement of the available and held accounts',
    query: ledgerCsvFilters,
    response: csvOf(LEDGER_COLUMNS),
    handle: ({ merchantId, query, by, session }) => {
      const { account, kind, payment_id: paymentId } = query;
      const filter = { ...rangeOf(query), ...definedFields({ account, kind, paymentId }) };
      return csvResponse<LedgerEntry, LedgerEntry['id']>(db, {
        ...{ dataset: 'ledger', by, session, filters: query, columns: LEDGER_COLUMNS, cellsOf: ledgerCells },
        readPage: async (before, limit) => {
          const from = { ...filter, ...(before !== null && { before }) };
          const { items, nextBefore } = await listLedgerEntries(db, merchantId, from, limit);
          return { items, next: nextBefore };
        },
      });
    },
  });
}
