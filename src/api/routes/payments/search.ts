// One search over all objects of a merchant that have an id, a reference or a phone number.
import { REQUEST_LOG_ROLES } from '../../../domain/accounts/api-request.ts';
import { holdsOneOf } from '../../../domain/accounts/member.ts';
import { countriesOf } from '../../../domain/payments/operator-catalogue.ts';
import { searchObjects } from '../../../operations/payments/search-objects.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import { hitObject, searchHitsSchema, searchSchema } from '../../schemas/payments/search.ts';

export const searchRoutes = routesUnder<PaymentDeps>('Console search', '/v1/console/search', [
  route('GET', {
    operationId: 'getSearchHits',
    summary: 'Find payments, requests, events, deliveries, endpoints and keys by an id, a reference or a phone number',
    access: 'session',
    query: searchSchema,
    response: { status: 200, description: 'The objects found.', schema: searchHitsSchema },
    handle: async ({ merchantId, session, query: { q } }, deps) => {
      const { merchantCurrency, roles } = session.person;
      const countries = countriesOf(merchantCurrency, deps.payments.coverage);
      const readsRequests = holdsOneOf(roles, REQUEST_LOG_ROLES);
      const hits = await searchObjects(deps.db, { merchantId, countries, readsRequests }, q);
      return { body: { data: hits.map(hitObject) } };
    },
  }),
]);
