// Collections, payouts and the statement as CSV.
import type { Collection } from '../../../domain/payments/collection.ts';
import type { Payout } from '../../../domain/payments/payout.ts';
import { listCollections } from '../../../queries/payments/collection.ts';
import { listLedgerEntries } from '../../../queries/payments/ledger-entry.ts';
import { listPayoutsWithPeople, type PayoutWithPeople } from '../../../queries/payments/payout.ts';
import type { ApiDeps } from '../../context.ts';
import { csvResponse } from '../../csv-export.ts';
import { route, type Route } from '../../route.ts';
import { rangeOf } from '../../schemas/page.ts';
import {
  COLLECTION_COLUMNS,
  collectionCells,
  collectionsCsvFilters,
  csvSchema,
  LEDGER_COLUMNS,
  ledgerCells,
  ledgerCsvFilters,
  PAYOUT_COLUMNS,
  payoutCells,
  payoutsCsvFilters,
} from '../../schemas/payments/csv.ts';
import { paymentFilter } from '../../schemas/payments/payment.ts';
import { definedFields } from '../../validation.ts';

const DESCRIPTION =
  'Newest first, as UTF-8 with a line of names, sent as it is read. `amount` is in the smallest unit, `amount_decimal` the same in whole ' +
  'units. A text that a spreadsheet would run as a formula has an apostrophe in front. A response that breaks off is not whole. ' +
  'The audit log records who exported what.';
const EXPORT = { method: 'get', tag: 'Console exports', description: DESCRIPTION, access: 'session' } as const;

const csvOf = (columns: readonly string[]) =>
  ({ status: 200, description: 'The export.', schema: csvSchema(columns), type: 'text/csv' }) as const;

export function exportRoutes(deps: ApiDeps): Route[] {
  return [collectionsRoute(deps), payoutsRoute(deps), ledgerRoute(deps)];
}

function collectionsRoute(deps: ApiDeps): Route {
  const { db } = deps;
  return route(deps, {
    ...EXPORT,
    path: '/v1/console/collections.csv',
    operationId: 'getCollectionsCsv',
    summary: 'Export collections',
    query: collectionsCsvFilters,
    response: csvOf(COLLECTION_COLUMNS),
    handle: ({ merchantId, query, by, session }) => {
      const filter = {
        ...paymentFilter<Collection['id']>(query),
        ...statesOf(query),
      };
      return csvResponse<Collection>(db, {
        ...{ of: 'collections', by, session, filters: query, columns: COLLECTION_COLUMNS, cellsOf: collectionCells },
        readPage: (before, limit) =>
          listCollections(db, merchantId, { ...filter, ...definedFields({ before }) }, limit),
      });
    },
  });
}

function payoutsRoute(deps: ApiDeps): Route {
  const { db } = deps;
  return route(deps, {
    ...EXPORT,
    path: '/v1/console/payouts.csv',
    operationId: 'getPayoutsCsv',
    summary: 'Export payouts',
    query: payoutsCsvFilters,
    response: csvOf(PAYOUT_COLUMNS),
    handle: ({ merchantId, query, by, session }) => {
      const filter = {
        ...paymentFilter<Payout['id']>(query),
        ...statesOf(query),
      };
      return csvResponse<PayoutWithPeople>(db, {
        ...{ of: 'payouts', by, session, filters: query, columns: PAYOUT_COLUMNS, cellsOf: payoutCells },
        readPage: (before, limit) =>
          listPayoutsWithPeople(db, merchantId, { ...filter, ...definedFields({ before }) }, limit),
      });
    },
  });
}

function ledgerRoute(deps: ApiDeps): Route {
  const { db } = deps;
  return route(deps, {
    ...EXPORT,
    path: '/v1/console/ledger.csv',
    operationId: 'getLedgerCsv',
    summary: 'Export the statement of the available and held accounts',
    query: ledgerCsvFilters,
    response: csvOf(LEDGER_COLUMNS),
    handle: ({ merchantId, query, by, session }) => {
      const { account, kind } = query;
      const filter = { ...rangeOf(query), ...definedFields({ account, kind }) };
      return csvResponse(db, {
        ...{ of: 'ledger', by, session, filters: query, columns: LEDGER_COLUMNS, cellsOf: ledgerCells },
        readPage: (before, limit) =>
          listLedgerEntries(db, merchantId, { ...filter, ...definedFields({ before }) }, limit),
      });
    },
  });
}

/** Those that pass both filters; a payment has one state. */
function statesOf<State>({ state, states }: { state?: State | undefined; states?: State[] | undefined }) {
  const wanted = state === undefined ? states : [state].filter((one) => states?.includes(one) !== false);
  return wanted && { states: wanted };
}
