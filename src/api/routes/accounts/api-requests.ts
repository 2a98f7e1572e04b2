// The request log: what API keys sent, and what they got.
import { REQUEST_LOG_ROLES } from '../../../domain/accounts/api-request.ts';
import { getApiRequest, listApiRequests } from '../../../queries/accounts/api-request.ts';
import type { ApiDeps } from '../../context.ts';
import { route, type Route } from '../../route.ts';
import {
  apiRequestListSchema,
  apiRequestObject,
  apiRequestSchema,
  listApiRequestsSchema,
} from '../../schemas/accounts/api-request.ts';
import { pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

const TAG = 'Console request log';
const PATH = '/v1/console/requests';
const DESCRIPTION =
  'What came with a key of this merchant, refusals of the key included, some seconds after the response and for 30 days. Bodies, ' +
  'queries and headers are not kept: they hold phone numbers. Under great load some requests may be missing.';

export function apiRequestRoutes(deps: ApiDeps): Route[] {
  return [
    route(deps, {
      method: 'get',
      path: PATH,
      operationId: 'listApiRequests',
      tag: TAG,
      summary: 'List requests of API keys, newest first',
      description: DESCRIPTION,
      access: { roles: REQUEST_LOG_ROLES },
      query: listApiRequestsSchema,
      response: { status: 200, description: 'One page.', schema: apiRequestListSchema },
      handle: async ({ merchantId, query }) => {
        const { key, status, method, route: of, object } = query;
        const filter = { ...rangeOf(query), ...definedFields({ key, status, method, route: of, object }) };
        return { body: pageObject(await listApiRequests(deps.db, merchantId, filter, query.limit), apiRequestObject) };
      },
    }),
    route(deps, {
      method: 'get',
      path: `${PATH}/{id}`,
      operationId: 'getApiRequest',
      tag: TAG,
      summary: 'Fetch one request by its `Malipo-Request-Id`',
      access: { roles: REQUEST_LOG_ROLES },
      idPrefix: 'req',
      response: { status: 200, description: 'The request.', schema: apiRequestSchema },
      errors: ['request_not_found'],
      handle: async ({ merchantId, id }) => ({
        body: apiRequestObject(await getApiRequest(deps.db, merchantId, id)),
      }),
    }),
  ];
}
