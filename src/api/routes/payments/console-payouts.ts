// Decisions of people on payouts: release, rejection, cancellation.
import { payoutObject } from '../../../domain/payments/payout.ts';
import { checkMerchantEntries } from '../../../operations/payments/check-ledger-changes.ts';
import { releasePayouts } from '../../../operations/payments/release-payment.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import { payoutSchema, releasedPayoutsSchema, releasePayoutsSchema } from '../../schemas/payments/payout.ts';
import { decisionRoutes } from './decisions.ts';

const { release, reject, cancel } = decisionRoutes({
  kind: 'payout',
  idPrefix: 'pay',
  response: { status: 200, description: 'The payout after the call.', schema: payoutSchema },
  toObject: payoutObject,
  texts: {
    release: 'Release a payout that somebody else made',
    description:
      'A person with a second factor must have proved it within the last five minutes. If the policy requires two ' +
      'approvers, the payout stays `queued` after the first approval.',
    reject: 'Reject a queued payout and return its money',
    cancel: 'Cancel your own payout, queued or released and not yet being sent, and return its money',
  },
});

export const consolePayoutRoutes = routesUnder<PaymentDeps>('Console payouts', '/v1/console', [
  release,
  route('POST /payouts/release', {
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
    handle: async ({ body: { ids: payoutIds }, idempotencyKey, by }, deps) => {
      await checkMerchantEntries(deps.db, { merchantId: by.person.merchantId });
      return { stored: await releasePayouts(deps.payments, { by, idempotencyKey, payoutIds, at: new Date() }) };
    },
  }),
  reject,
  cancel,
]);
