// The operators that make payments.
import { listOpenBreakers } from '../../../db/work/breakers.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import { operatorListObject, operatorListSchema } from '../../schemas/payments/operator.ts';

export const operatorRoutes = routesUnder<PaymentDeps>('Console operators', '/v1/console/operators', [
  route('GET', {
    operationId: 'getOperators',
    summary: 'List the operators with their markets, and whether each takes payments now',
    description:
      'A request for a payment can name one of these operators as `operator`, for a number that was moved to it. Each market says which ' +
      'amounts the operator takes there.',
    access: 'session',
    response: { status: 200, description: 'All operators.', schema: operatorListSchema },
    handle: async (_request, deps) => ({
      body: operatorListObject(deps.payments.coverage, await listOpenBreakers(deps.db)),
    }),
  }),
]);
