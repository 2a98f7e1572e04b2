// What people decide about payouts: release, reject or cancel them.
import { payoutObject } from '../../../domain/payments/payout.ts';
import { checkMerchantEntries } from '../../../operations/payments/check-ledger-changes.ts';
import { releasePayouts } from '../../../operations/payments/release-payment.ts';
import type { PaymentDeps } from '../../payment-deps.ts';
import { route, type Route } from '../../route.ts';
import { payoutSchema, releasedPayoutsSchema, releasePayoutsSchema } from '../../schemas/payments/payout.ts';
import { decisionRoutes } from './decisions.ts';

const PAYOUTS = 'Console payouts';

export function consolePayoutRoutes(deps: PaymentDeps): Route[] {
  const { release, reject, cancel } = decisionRoutes(deps, {
    kind: 'payout',
    idPrefix: 'pay',
    tag: PAYOUTS,
    response: { status: 200, description: 'The payout after the call.', schema: payoutSchema },
    toObject: payoutObject,
    texts: {
      release: 'Release a payout that somebody else made',
      description:
        'A person with a second factor must have proved it within the last five minutes. If the policy requires two ' +
        'approvers, the payout stays `queued` after the first approval.',
      reject: 'Reject a queued payout and return its money',
      cancel: 'Cancel your own queued payout and return its money',
    },
  });
  return [release, releaseManyRoute(deps), reject, cancel];
}

function releaseManyRoute(deps: PaymentDeps): Route {
  return route(deps, PAYOUTS, 'POST /v1/console/payouts/release', {
    operationId: 'releasePayouts',
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
      return { stored: await releasePayouts(deps.payments, { by, idempotencyKey, payoutIds, at: new Date() }) };
    },
  });
}
