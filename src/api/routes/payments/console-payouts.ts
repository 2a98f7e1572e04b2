// What people decide about money: release, reject and cancel payouts, and give collections back.
import { payoutObject, type Payout } from '../../../domain/payments/payout.ts';
import { reversalObject } from '../../../domain/payments/reversal.ts';
import type { DecidePayout } from '../../../operations/payments/decide-payout.ts';
import { getLatestReversal } from '../../../queries/payments/reversal.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, idempotencyKeyOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { readLists } from '../../form.ts';
import { sendStoredResponse } from '../../stored-response.ts';
import { isForm } from '../../middleware/body.ts';
import type { Route } from '../../route.ts';
import {
  payoutSchema,
  rejectPayoutSchema,
  releasedPayoutsSchema,
  releasePayoutsSchema,
  reversalSchema,
} from '../../schemas/payments/payout.ts';
import { validate } from '../../validation.ts';

const PAYOUTS = 'payouts';
const REVERSALS = 'reversals';
const ANSWER = { status: 200, description: 'The payout as it then stands.', schema: payoutSchema } as const;

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
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: '/v1/console/payouts/{id}/release',
      operationId: 'releasePayout',
      tag: PAYOUTS,
      summary: 'Release a payout that somebody else made',
      description:
        'Needs a second factor proved within the last five minutes from whoever has one. Where the policy asks for two ' +
        'approvers, the payout stays `queued` after the first.',
      roles: ['approver'],
      id: 'pay',
      isKept: true,
      answer: ANSWER,
      errors: ['payout_not_found', 'approval_self', 'state_conflict'],
    },
    async (ctx) => {
      const released = await deps.payments.releasePayout({ ...releaseInput(ctx), payoutId: idOf(ctx) });
      if (released.kind === 'approved') deps.offer({ kind: 'payout', ...released.payout });
      sendStoredResponse(ctx, released);
    },
  );
}

function releaseManyRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: '/v1/console/payouts/release',
      operationId: 'releasePayouts',
      tag: PAYOUTS,
      summary: 'Release several payouts with one proof of the second factor',
      description:
        'Each is released or refused by itself, and the answer says which. Should it break off, none of them is released: ask again with the same key.',
      roles: ['approver'],
      isKept: true,
      body: releasePayoutsSchema,
      answer: { status: 200, description: 'What became of each.', schema: releasedPayoutsSchema },
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['ids']) : ctx.request.body;
      const { ids } = validate(releasePayoutsSchema, fields);
      const released = await deps.payments.releasePayouts({ ...releaseInput(ctx), payoutIds: ids });
      if (released.kind === 'approved')
        for (const payout of released.payouts) deps.offer({ kind: 'payout', ...payout });
      sendStoredResponse(ctx, released);
    },
  );
}

function releaseInput(ctx: Parameters<ApiMiddleware>[0]) {
  return {
    by: auditOf(ctx),
    idempotencyKey: idempotencyKeyOf(ctx),
    at: new Date(),
  };
}

function rejectRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: '/v1/console/payouts/{id}/reject',
      operationId: 'rejectPayout',
      tag: PAYOUTS,
      summary: 'Reject a queued payout and give its money back',
      roles: ['approver'],
      id: 'pay',
      body: rejectPayoutSchema,
      answer: ANSWER,
      errors: ['payout_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const { reason } = validate(rejectPayoutSchema, ctx.request.body);
      ctx.body = payoutObject(await decide(deps, ctx, { kind: 'reject', reason }));
    },
  );
}

function cancelRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: '/v1/console/payouts/{id}/cancel',
      operationId: 'cancelPayout',
      tag: PAYOUTS,
      summary: 'Cancel a queued payout of one’s own and give its money back',
      id: 'pay',
      answer: ANSWER,
      errors: ['payout_not_found', 'state_conflict'],
    },
    async (ctx) => {
      ctx.body = payoutObject(await decide(deps, ctx, { kind: 'cancel' }));
    },
  );
}

async function decide(
  deps: ApiDeps,
  ctx: Parameters<ApiMiddleware>[0],
  decision: DecidePayout['decision'],
): Promise<Payout> {
  const payout = await deps.payments.decidePayout({
    by: auditOf(ctx),
    payoutId: idOf(ctx),
    decision,
    at: new Date(),
  });
  deps.offer({ kind: 'payout', ...payout });
  return payout;
}

function reverseRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: '/v1/console/collections/{id}/reversal',
      operationId: 'reverseCollection',
      tag: REVERSALS,
      summary: 'Give the whole amount of a collection back to its payer',
      description:
        'The collection becomes `reversed` when the operator confirms the refund, and not before. With too little ' +
        'available the answer is 402, and is kept like any other.',
      roles: ['approver'],
      id: 'col',
      isKept: true,
      answer: { status: 202, description: 'Accepted and recorded.', schema: reversalSchema },
      errors: ['collection_not_found', 'state_conflict', 'balance_insufficient'],
    },
    async (ctx) => {
      const created = await deps.payments.createReversal({
        by: auditOf(ctx),
        collectionId: idOf(ctx),
        idempotencyKey: idempotencyKeyOf(ctx),
        at: new Date(),
      });
      if (created.kind === 'created') deps.offer({ kind: 'reversal', ...created.reversal });
      sendStoredResponse(ctx, created);
    },
  );
}

function reversalRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: '/v1/console/collections/{id}/reversal',
      operationId: 'getReversal',
      tag: REVERSALS,
      summary: 'The latest reversal that somebody asked for',
      id: 'col',
      answer: { status: 200, description: 'The reversal.', schema: reversalSchema },
      errors: ['collection_not_found', 'reversal_not_found'],
    },
    async (ctx) => {
      const { merchantId } = sessionOf(ctx).person;
      ctx.body = reversalObject(await getLatestReversal(deps.db, merchantId, idOf(ctx)));
    },
  );
}
