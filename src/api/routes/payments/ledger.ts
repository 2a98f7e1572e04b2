// The statement of the merchant's accounts.
import { listLedgerEntries } from '../../../db/payments/ledger-entry.ts';
import { route, type Route, type RouteDeps } from '../../route.ts';
import { pageObject, rangeOf } from '../../schemas/page.ts';
import {
  ledgerEntryListSchema,
  ledgerEntryObject,
  listLedgerEntriesSchema,
} from '../../schemas/payments/ledger-entry.ts';
import { definedFields } from '../../validation.ts';

export function ledgerRoutes(deps: RouteDeps): Route[] {
  return [
    route(deps, 'Console ledger', 'GET /v1/console/ledger/entries', {
      operationId: 'listLedgerEntries',
      summary: 'List the ledger entries of the available and held accounts with the balance after each, newest first',
      description:
        'With `account`, the response is the statement of one account: each balance is the balance of the row below plus the amount.',
      access: 'session',
      query: listLedgerEntriesSchema,
      response: { status: 200, description: 'One page.', schema: ledgerEntryListSchema },
      handle: async ({ merchantId, query }) => {
        const { account, kind, payment_id: paymentId } = query;
        const filter = { ...rangeOf(query), ...definedFields({ account, kind, paymentId }) };
        return {
          body: pageObject(await listLedgerEntries(deps.db, merchantId, filter, query.limit), ledgerEntryObject),
        };
      },
    }),
  ];
}
