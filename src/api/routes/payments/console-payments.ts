// Collections and payouts for people: lists with every filter, counts, and one payment with its history.
import { countCollections } from '../../../db/payments/collection.ts';
import {
  listConsoleCollections,
  listConsolePayouts,
  getCollectionTimeline,
  getPayoutTimeline,
} from '../../../operations/payments/read-console-payments.ts';
import { countPayouts } from '../../../db/payments/payout.ts';
import { isCancellable } from '../../../domain/payments/release.ts';
import { route, routesUnder, type RouteDeps, type UnboundRoute } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { onePage } from '../../schemas/page.ts';
import { linksFor, type LinkDeps } from '../../workflow-links.ts';
import {
  countObject,
  orderedPageObject,
  orderedPageOf,
  PAGE_DESCRIPTION,
  paymentCountSchema,
} from '../../schemas/payments/console-list.ts';
import {
  collectionFilter,
  collectionQueries,
  collectionWithTimelineSchema,
  consoleCollectionListSchema,
  consoleCollectionObject,
} from '../../schemas/payments/console-collection.ts';
import {
  consolePayoutListSchema,
  consolePayoutObject,
  payoutFilter,
  payoutQueries,
  payoutWithTimelineSchema,
} from '../../schemas/payments/console-payout.ts';
import { historyObject } from '../../schemas/payments/timeline.ts';

type Deps = RouteDeps & LinkDeps;

const COUNT = { status: 200, description: 'How many.', schema: paymentCountSchema } as const;

export const consolePaymentRoutes: readonly UnboundRoute<Deps>[] = [
  ...routesUnder<Deps>('Console collections', '/v1/console/collections', [
    // A literal path takes precedence over a template.
    route('GET /count', {
      operationId: 'getConsoleCollectionCount',
      summary: 'Count the collections of a list, up to a limit',
      access: 'session',
      query: collectionQueries.count,
      response: COUNT,
      handle: async ({ merchantId, query }, deps) => ({
        body: countObject(await countCollections(deps.db, merchantId, collectionFilter(query))),
      }),
    }),
    route('GET', {
      operationId: 'listConsoleCollections',
      summary: 'List collections with names, by any combination of filters',
      description: PAGE_DESCRIPTION,
      access: 'session',
      ...onePage(collectionQueries.list, consoleCollectionListSchema),
      handle: async ({ merchantId, query }, deps) => {
        const request = { ...orderedPageOf(query), filter: collectionFilter(query) };
        const page = await listConsoleCollections(deps.db, merchantId, request);
        return { body: orderedPageObject(page, query.sort, consoleCollectionObject) };
      },
    }),
    route('GET /{id}', {
      operationId: 'getConsoleCollection',
      summary: 'Fetch one collection with its history',
      access: 'session',
      ...oneObject('col', 'The collection.', collectionWithTimelineSchema),
      handle: async ({ merchantId, session, id }, deps) => {
        const found = await getCollectionTimeline(deps.db, merchantId, id);
        const workflowLink = linksFor(session.person, deps)?.collection(found.collection);
        return { body: { ...consoleCollectionObject(found), ...historyObject(found, workflowLink) } };
      },
    }),
  ]),
  ...routesUnder<Deps>('Console payouts', '/v1/console/payouts', [
    // A literal path takes precedence over a template.
    route('GET /count', {
      operationId: 'getConsolePayoutCount',
      summary: 'Count the payouts of a list, up to a limit',
      access: 'session',
      query: payoutQueries.count,
      response: COUNT,
      handle: async ({ merchantId, session, query }, deps) => {
        const filter = payoutFilter(query, session.person, new Date());
        return { body: countObject(await countPayouts(deps.db, merchantId, filter)) };
      },
    }),
    route('GET', {
      operationId: 'listConsolePayouts',
      summary: 'List payouts with names and warnings, by any combination of filters',
      description: PAGE_DESCRIPTION,
      access: 'session',
      ...onePage(payoutQueries.list, consolePayoutListSchema),
      handle: async ({ merchantId, session, query }, deps) => {
        const at = new Date();
        const request = { ...orderedPageOf(query), filter: payoutFilter(query, session.person, at) };
        const page = await listConsolePayouts(deps.db, merchantId, request, at);
        return { body: orderedPageObject(page, query.sort, consolePayoutObject) };
      },
    }),
    route('GET /{id}', {
      operationId: 'getConsolePayout',
      summary: 'Fetch one payout with its history and the warnings for its approver',
      access: 'session',
      ...oneObject('pay', 'The payout.', payoutWithTimelineSchema),
      handle: async ({ merchantId, session, id }, deps) => {
        const found = await getPayoutTimeline(deps.db, merchantId, id, new Date());
        const workflowLink = linksFor(session.person, deps)?.payout(found.payout);
        const cancellable = isCancellable(found.payout);
        return { body: { ...consolePayoutObject(found), cancellable, ...historyObject(found, workflowLink) } };
      },
    }),
  ]),
];
