// The reversals of collections that approvers request.
import { reversalObject } from '../../../domain/payments/reversal.ts';
import { getLatestReversal } from '../../../queries/payments/reversal.ts';
import type { ApiDeps } from '../../context.ts';
import { route, type Route } from '../../route.ts';
import { reversalSchema } from '../../schemas/payments/reversal.ts';

const REVERSALS = 'Console reversals';

export function reversalRoutes(deps: ApiDeps): Route[] {
  return [reverseRoute(deps), reversalRoute(deps)];
}

function reverseRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/collections/{id}/reversal',
    operationId: 'reverseCollection',
    tag: REVERSALS,
    summary: 'Give the whole amount of a collection back to its payer',
    description:
      'The collection becomes `reversed` when the operator confirms the refund, and not before. With too little ' +
      'available the answer is 402, and is kept like any other.',
    access: { roles: ['approver'] },
    needsStepUp: true,
    idPrefix: 'col',
    isIdempotent: true,
    response: { status: 202, description: 'Accepted and recorded.', schema: reversalSchema },
    errors: ['collection_not_found', 'state_conflict', 'balance_insufficient'],
    handle: async ({ id: collectionId, idempotencyKey, by }) => {
      const created = await deps.payments.createReversal({ by, collectionId, idempotencyKey, at: new Date() });
      if (created.kind === 'created') deps.offer({ kind: 'reversal', ...created.reversal });
      return { stored: created };
    },
  });
}

function reversalRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'get',
    path: '/v1/console/collections/{id}/reversal',
    operationId: 'getReversal',
    tag: REVERSALS,
    summary: 'The latest reversal that somebody asked for',
    access: 'session',
    idPrefix: 'col',
    response: { status: 200, description: 'The reversal.', schema: reversalSchema },
    errors: ['collection_not_found', 'reversal_not_found'],
    handle: async ({ merchantId, id }) => ({ body: reversalObject(await getLatestReversal(deps.db, merchantId, id)) }),
  });
}
