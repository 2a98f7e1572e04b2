// The balance of a merchant.
import { getBalance } from '../../../db/payments/ledger.ts';
import { route, type Route, type RouteDeps } from '../../route.ts';
import { balanceObject, balanceSchema } from '../../schemas/payments/balance.ts';

export function balanceRoutes(deps: RouteDeps): Route[] {
  return [
    route(deps, 'Balance', 'GET /v1/api/balance', {
      operationId: 'getBalance',
      summary: 'Read the balance',
      description: 'Both amounts are from the same instant, in the smallest unit of the currency.',
      access: { scope: 'balance:read' },
      response: { status: 200, description: 'The balance.', schema: balanceSchema },
      handle: async ({ merchantId }) => ({ body: balanceObject(await getBalance(deps.db, merchantId)) }),
    }),
  ];
}
