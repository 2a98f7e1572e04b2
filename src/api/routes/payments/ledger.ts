// The statement of the merchant's accounts.
import { listLedgerEntries } from '../../../db/payments/ledger-entry.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { onePage, pageObject } from '../../schemas/page.ts';
import {
  ledgerEntryFilter,
  ledgerEntryListSchema,
  ledgerEntryObject,
  listLedgerEntriesSchema,
} from '../../schemas/payments/ledger-entry.ts';

export const ledgerRoutes = routesUnder<RouteDeps>('Console ledger', '/v1/console/ledger/entries', [
  route('GET', {
    operationId: 'listLedgerEntries',
    summary: 'List the ledger entries of the available and held accounts with the balance after each, newest first',
    description:
      'With `account`, the response is the statement of one account: each balance is the balance of the row below plus the amount.',
    access: 'session',
    ...onePage(listLedgerEntriesSchema, ledgerEntryListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const page = await listLedgerEntries(deps.db, merchantId, ledgerEntryFilter(query), query.limit);
      return { body: pageObject(page, ledgerEntryObject) };
    },
  }),
]);
