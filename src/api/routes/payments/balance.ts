// The merchant's balance.
import { getBalance } from '../../../queries/payments/balance.ts';
import { callerOf, type ApiDeps } from '../../context.ts';
import { requireScope } from '../../middleware/api-key.ts';
import { AUTHENTICATION_ERRORS, errorResponses, REQUEST_ID_HEADER, type Route } from '../../route.ts';
import { balanceSchema } from '../../schemas/payments/balance.ts';
import { noParameters } from '../../schemas/primitives.ts';
import { validate } from '../../validation.ts';

export function balanceRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: '/v1/api/balance',
      operation: {
        operationId: 'getBalance',
        tags: ['Balance'],
        summary: 'Read the balance',
        description: 'Scope `balance:read`. Both amounts are of one instant, in the smallest unit of the currency.',
        responses: {
          '200': {
            description: 'The balance.',
            headers: REQUEST_ID_HEADER,
            content: { 'application/json': { schema: balanceSchema } },
          },
          ...errorResponses([...AUTHENTICATION_ERRORS, 'parameter_unknown']),
        },
      },
      pipeline: [
        requireScope('balance:read', deps),
        async (ctx) => {
          validate(noParameters, { ...ctx.query });
          const balance = await getBalance(deps.db, callerOf(ctx).merchantId);
          ctx.body = {
            available: Number(balance.availableMinor),
            held: Number(balance.heldMinor),
            currency: balance.currency,
          };
        },
      ],
    },
  ];
}
