// Collections: create, list, fetch.
import { collectionObject } from '../../../domain/payments/collection.ts';
import { getCollection, listCollections } from '../../../db/payments/collection.ts';
import { createAcceptance, createCollection } from '../../../operations/payments/create-collection.ts';
import { route, routesUnder, type PaymentDeps, type Route, type RoutePlace } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { onePage, pageObject } from '../../schemas/page.ts';
import {
  collectionListSchema,
  collectionSchema,
  createCollectionSchema,
  listCollectionsSchema,
} from '../../schemas/payments/collection.ts';
import { CREATE_PAYMENT_CODES, CREATE_PAYMENT_ERRORS, paymentFilter } from '../../schemas/payments/payment.ts';
import { acceptPayment } from './accept-payment.ts';

export const collectionRoutes = routesUnder<PaymentDeps>('Collections', '/v1/api/collections', [
  createRoute,
  route('GET', {
    operationId: 'listCollections',
    summary: 'List collections, newest first',
    access: { scope: 'collections:read' },
    ...onePage(listCollectionsSchema, collectionListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const filter = { ...paymentFilter(query), ...(query.state !== undefined && { states: [query.state] }) };
      const page = await listCollections(deps.db, merchantId, filter, query.limit);
      return { body: pageObject(page, collectionObject) };
    },
  }),
  route('GET /{id}', {
    operationId: 'getCollection',
    summary: 'Fetch one collection with its current state',
    access: { scope: 'collections:read' },
    ...oneObject('col', 'The collection.', collectionSchema),
    handle: async ({ merchantId, id }, deps) => ({
      body: collectionObject(await getCollection(deps.db, merchantId, id)),
    }),
  }),
]);

function createRoute(deps: PaymentDeps, place: RoutePlace): Route {
  const accept = createAcceptance(deps.payments);
  return route('POST', {
    operationId: 'createCollection',
    summary: 'Raise a prompt on a payer’s handset',
    description: '202 means accepted, not paid: the outcome comes as a webhook.',
    access: { scope: 'collections:write' },
    confirmsKey: true,
    isIdempotent: true,
    body: createCollectionSchema,
    bodyCodes: CREATE_PAYMENT_CODES,
    response: { status: 202, description: 'Accepted and recorded.', schema: collectionSchema },
    errors: CREATE_PAYMENT_ERRORS,
    handle: (request) =>
      acceptPayment(deps, request, {
        atOnce: accept,
        inTransaction: (input) => createCollection(deps.payments, input),
      }),
  })(deps, place);
}
