// What people decide about money: release, reject and cancel payouts, and reverse collections.
import type { ActedBy } from '../../../domain/accounts/member.ts';
import { payoutObject, type Payout } from '../../../domain/payments/payout.ts';
import { reversalObject } from '../../../domain/payments/reversal.ts';
import type { EndQueuedPayout } from '../../../operations/payments/end-queued-payout.ts';
import { getLatestReversal } from '../../../queries/payments/reversal.ts';
import type { ApiDeps } from '../../context.ts';
import { route, type Route } from '../../route.ts';
import {
  payoutSchema,
  rejectPayoutSchema,
  releasedPayoutsSchema,
  releasePayoutsSchema,
  reversalSchema,
} from '../../schemas/payments/payout.ts';

const PAYOUTS = 'Console payouts';
const REVERSALS = 'Console reversals';
const PAYOUT = { status: 200, description: 'The payout as it then stands.', schema: payoutSchema } as const;

export function consolePayoutRoutes(deps: ApiDeps): Route[] {
  return [
    releaseRoute(deps),
    releaseManyRoute(deps),
    rejectRoute(deps),
    cancelRoute(deps),
    reverseRoute(deps),
    reversalRoute(deps),
  ];
}

function releaseRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/{id}/release',
    operationId: 'releasePayout',
    tag: PAYOUTS,
    summary: 'Release a payout that somebody else made',
    description:
      'Needs a second factor proved within the last five minutes from whoever has one. Where the policy asks for two ' +
      'approvers, the payout stays `queued` after the first.',
    access: { roles: ['approver'] },
    idPrefix: 'pay',
    isIdempotent: true,
    response: PAYOUT,
    errors: ['payout_not_found', 'approval_self', 'state_conflict'],
    handle: async ({ id: payoutId, idempotencyKey, by }) => {
      const released = await deps.payments.releasePayout({ by, idempotencyKey, payoutId, at: new Date() });
      if (released.kind === 'approved') deps.offer({ kind: 'payout', ...released.payout });
      return { stored: released };
    },
  });
}

function releaseManyRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/release',
    operationId: 'releasePayouts',
    tag: PAYOUTS,
    summary: 'Release several payouts with one proof of the second factor',
    description:
      'Each is released or refused by itself, and the answer says which. Should it break off, none of them is released: ask again with the same key.',
    access: { roles: ['approver'] },
    isIdempotent: true,
    body: releasePayoutsSchema,
    response: { status: 200, description: 'What became of each.', schema: releasedPayoutsSchema },
    handle: async ({ body: { ids: payoutIds }, idempotencyKey, by }) => {
      const released = await deps.payments.releasePayouts({ by, idempotencyKey, payoutIds, at: new Date() });
      const payouts = released.kind === 'approved' ? released.payouts : [];
      for (const payout of payouts) deps.offer({ kind: 'payout', ...payout });
      return { stored: released };
    },
  });
}

function rejectRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/{id}/reject',
    operationId: 'rejectPayout',
    tag: PAYOUTS,
    summary: 'Reject a queued payout and give its money back',
    access: { roles: ['approver'] },
    idPrefix: 'pay',
    body: rejectPayoutSchema,
    response: PAYOUT,
    errors: ['payout_not_found', 'state_conflict'],
    handle: async ({ id, body: { reason }, by }) => ({
      body: payoutObject(await decide(deps, by, id, { kind: 'reject', reason })),
    }),
  });
}

function cancelRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/{id}/cancel',
    operationId: 'cancelPayout',
    tag: PAYOUTS,
    summary: 'Cancel a queued payout of one’s own and give its money back',
    access: 'session',
    idPrefix: 'pay',
    response: PAYOUT,
    errors: ['payout_not_found', 'state_conflict'],
    handle: async ({ id, by }) => ({ body: payoutObject(await decide(deps, by, id, { kind: 'cancel' })) }),
  });
}

async function decide(
  deps: ApiDeps,
  by: ActedBy,
  payoutId: string,
  decision: EndQueuedPayout['decision'],
): Promise<Payout> {
  const payout = await deps.payments.endQueuedPayout({ by, payoutId, decision, at: new Date() });
  deps.offer({ kind: 'payout', ...payout });
  return payout;
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
