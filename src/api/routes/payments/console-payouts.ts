// What people decide about payouts: release, reject or cancel them.
import type { ActedBy } from '../../../domain/accounts/member.ts';
import { payoutObject, type Payout } from '../../../domain/payments/payout.ts';
import { checkMerchantEntries } from '../../../operations/payments/check-ledger-changes.ts';
import { endQueuedPayout, type EndQueuedPayout } from '../../../operations/payments/end-queued-payment.ts';
import { releasePayout, releasePayouts } from '../../../operations/payments/release-payment.ts';
import type { PaymentDeps } from '../../payment-deps.ts';
import { route, type Route } from '../../route.ts';
import {
  payoutSchema,
  rejectPayoutSchema,
  releasedPayoutsSchema,
  releasePayoutsSchema,
} from '../../schemas/payments/payout.ts';

const PAYOUTS = 'Console payouts';
const PAYOUT = { status: 200, description: 'The payout after the call.', schema: payoutSchema } as const;

export function consolePayoutRoutes(deps: PaymentDeps): Route[] {
  return [releaseRoute(deps), releaseManyRoute(deps), rejectRoute(deps), cancelRoute(deps)];
}

function releaseRoute(deps: PaymentDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/{id}/release',
    operationId: 'releasePayout',
    tag: PAYOUTS,
    summary: 'Release a payout that somebody else made',
    description:
      'A person with a second factor must have proved it within the last five minutes. If the policy requires two ' +
      'approvers, the payout stays `queued` after the first approval.',
    access: { roles: ['approver'] },
    needsStepUp: true,
    idPrefix: 'pay',
    isIdempotent: true,
    response: PAYOUT,
    errors: ['payout_not_found', 'approval_self', 'state_conflict'],
    handle: async ({ id: payoutId, idempotencyKey, by }) => {
      await checkMerchantEntries(deps.db, { merchantId: by.person.merchantId });
      const released = await releasePayout(deps.payments, { by, idempotencyKey, payoutId, at: new Date() });
      if (released.kind === 'approved') deps.offer({ kind: 'payout', ...released.payout });
      return { stored: released };
    },
  });
}

function releaseManyRoute(deps: PaymentDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/release',
    operationId: 'releasePayouts',
    tag: PAYOUTS,
    summary: 'Release several payouts with one proof of the second factor',
    description:
      'Each payout is released or refused separately, and the response says which. If the request breaks off, no payout is released: repeat it with the same key.',
    access: { roles: ['approver'] },
    needsStepUp: true,
    isIdempotent: true,
    body: releasePayoutsSchema,
    response: { status: 200, description: 'The result for each payout.', schema: releasedPayoutsSchema },
    errors: ['state_conflict'],
    handle: async ({ body: { ids: payoutIds }, idempotencyKey, by }) => {
      await checkMerchantEntries(deps.db, { merchantId: by.person.merchantId });
      const released = await releasePayouts(deps.payments, { by, idempotencyKey, payoutIds, at: new Date() });
      const payouts = released.kind === 'approved' ? released.payouts : [];
      for (const payout of payouts) deps.offer({ kind: 'payout', ...payout });
      return { stored: released };
    },
  });
}

function rejectRoute(deps: PaymentDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/{id}/reject',
    operationId: 'rejectPayout',
    tag: PAYOUTS,
    summary: 'Reject a queued payout and return its money',
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

function cancelRoute(deps: PaymentDeps): Route {
  return route(deps, {
    method: 'post',
    path: '/v1/console/payouts/{id}/cancel',
    operationId: 'cancelPayout',
    tag: PAYOUTS,
    summary: 'Cancel your own queued payout and return its money',
    access: 'session',
    idPrefix: 'pay',
    response: PAYOUT,
    errors: ['payout_not_found', 'state_conflict'],
    handle: async ({ id, by }) => ({ body: payoutObject(await decide(deps, by, id, { kind: 'cancel' })) }),
  });
}

async function decide(
  deps: PaymentDeps,
  by: ActedBy,
  payoutId: string,
  decision: EndQueuedPayout['decision'],
): Promise<Payout> {
  const payout = await endQueuedPayout(deps.payments, { by, payoutId, decision, at: new Date() });
  deps.offer({ kind: 'payout', ...payout });
  return payout;
}
