// One search over everything of a merchant that has an id, a reference or a phone number.
import { search } from '../../../queries/payments/search.ts';
import type { ApiDeps } from '../../context.ts';
import { route, type Route } from '../../route.ts';
import { hitObject, searchHitsSchema, searchSchema } from '../../schemas/payments/search.ts';

export function searchRoutes(deps: ApiDeps): Route[] {
  return [
    route(deps, {
      method: 'get',
      path: '/v1/console/search',
      operationId: 'getSearchHits',
      tag: 'Console search',
      summary: 'Find payments, events, deliveries, endpoints and keys by what one has in hand',
      access: 'session',
      query: searchSchema,
      response: { status: 200, description: 'What was found.', schema: searchHitsSchema },
      handle: async ({ merchantId, query: { q } }) => ({
        body: { data: (await search(deps.db, merchantId, q.trim())).map(hitObject) },
      }),
    }),
  ];
}
