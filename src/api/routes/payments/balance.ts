// The balance of a merchant.
import { getBalance } from '../../../db/payments/ledger.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { balanceObject, balanceSchema } from '../../schemas/payments/balance.ts';

export const balanceRoutes = routesUnder<RouteDeps>('Balance', '/v1/api/balance', [
  route('GET', {
    operationId: 'getBalance',
    summary: 'Read the balance',
    description: 'Both amounts are from the same instant, in the smallest unit of the currency.',
    access: { scope: 'balance:read' },
    response: { status: 200, description: 'The balance.', schema: balanceSchema },
    handle: async ({ merchantId }, deps) => ({ body: balanceObject(await getBalance(deps.db, merchantId)) }),
  }),
]);
