// The operators by which payments are made.
import type { PaymentDeps } from '../../payment-deps.ts';
import { route, type Route } from '../../route.ts';
import { operatorListObject, operatorListSchema } from '../../schemas/payments/operator.ts';

export function operatorRoutes(deps: PaymentDeps): Route[] {
  return [
    route(deps, 'Console operators', 'GET /v1/console/operators', {
      operationId: 'getOperators',
      summary: 'List the operators with their countries and currencies',
      description: 'A request for a payment can name one of these operators as `operator`.',
      access: 'session',
      response: { status: 200, description: 'All operators.', schema: operatorListSchema },
      handle: () => Promise.resolve({ body: operatorListObject(deps.payments.coverage) }),
    }),
  ];
}
