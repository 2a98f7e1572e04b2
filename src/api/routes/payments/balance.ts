// The balance of a merchant.
import { getBalance } from '../../../db/payments/ledger.ts';
import { routeUnder, type RouteDeps, type UnboundRoute } from '../../route.ts';
import { balanceObject, balanceSchema } from '../../schemas/payments/balance.ts';

const route = routeUnder<RouteDeps>('Balance');

export const balanceRoutes: readonly UnboundRoute<RouteDeps>[] = [
  route('GET /v1/api/balance', {
    operationId: 'getBalance',
    summary: 'Read the balance',
    description: 'Both amounts are from the same instant, in the smallest unit of the currency.',
    access: { scope: 'balance:read' },
    response: { status: 200, description: 'The balance.', schema: balanceSchema },
    handle: async ({ merchantId }, deps) => ({ body: balanceObject(await getBalance(deps.db, merchantId)) }),
  }),
];
