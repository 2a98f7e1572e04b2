// The request log: the requests of API keys, and their responses.
import { REQUEST_LOG_ROLES } from '../../../domain/accounts/api-request.ts';
import { getApiRequest, listApiRequests } from '../../../db/accounts/api-request.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import {
  apiRequestListSchema,
  apiRequestObject,
  apiRequestSchema,
  listApiRequestsSchema,
} from '../../schemas/accounts/api-request.ts';
import { onePage, pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

const DESCRIPTION =
  'The log has the requests with a key of this merchant, refused keys included. A request appears some seconds ' +
  'after its response and stays for 30 days. The log keeps no bodies, queries or headers, because they hold phone ' +
  'numbers. Under heavy load some requests may be missing.';

export const apiRequestRoutes = routesUnder<RouteDeps>('Console request log', '/v1/console/requests', [
  route('GET', {
    operationId: 'listApiRequests',
    summary: 'List requests of API keys, newest first',
    description: DESCRIPTION,
    access: { roles: REQUEST_LOG_ROLES },
    ...onePage(listApiRequestsSchema, apiRequestListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const { key, status, method, route: of, object } = query;
      const filter = { ...rangeOf(query), ...definedFields({ key, status, method, route: of, object }) };
      return { body: pageObject(await listApiRequests(deps.db, merchantId, filter, query.limit), apiRequestObject) };
    },
  }),
  route('GET /{id}', {
    operationId: 'getApiRequest',
    summary: 'Fetch one request by its `Malipo-Request-Id`',
    access: { roles: REQUEST_LOG_ROLES },
    ...oneObject('req', 'The request.', apiRequestSchema),
    handle: async ({ merchantId, id }, deps) => ({
      body: apiRequestObject(await getApiRequest(deps.db, merchantId, id)),
    }),
  }),
]);
