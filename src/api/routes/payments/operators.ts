// The operators by which payments are made.
import type { ApiDeps } from '../../context.ts';
import { route, type Route } from '../../route.ts';
import { operatorListObject, operatorListSchema } from '../../schemas/payments/operator.ts';

export function operatorRoutes(deps: ApiDeps): Route[] {
  return [
    route(deps, {
      method: 'get',
      path: '/v1/console/operators',
      operationId: 'getOperators',
      tag: 'Console operators',
      summary: 'List the operators, with the countries and currencies in which they are reached',
      description: 'A request for a payment may name one of them as `operator`.',
      access: 'session',
      response: { status: 200, description: 'All of them.', schema: operatorListSchema },
      handle: () => Promise.resolve({ body: operatorListObject(deps.checkouts.coverage) }),
    }),
  ];
}
