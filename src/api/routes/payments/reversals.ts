// The reversals of collections: makers request them, approvers release them.
import { reversalObject, statesOfReversalApproval } from '../../../domain/payments/reversal.ts';
import { createReversal } from '../../../operations/payments/create-reversal.ts';
import {
  getLatestReversal,
  getConsoleReversal,
  listConsoleReversals,
} from '../../../operations/payments/read-console-payments.ts';
import { isCancellable } from '../../../domain/payments/release.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { linksFor, type LinkDeps } from '../../workflow-links.ts';
import { onePage, pageObject, rangeOf } from '../../schemas/page.ts';
import { statusQueriesObject, wantedStates } from '../../schemas/payments/payment.ts';
import {
  consoleReversalObject,
  consoleReversalSchema,
  listReversalsSchema,
  reversalListSchema,
  reversalSchema,
  reversalWithWorkflowSchema,
} from '../../schemas/payments/reversal.ts';
import { decisionRoutes } from './decisions.ts';

const { release, reject, cancel } = decisionRoutes({
  kind: 'reversal',
  idPrefix: 'rev',
  response: { status: 200, description: 'The reversal after the call.', schema: reversalSchema },
  toObject: reversalObject,
  texts: {
    release: 'Release a refund that somebody else requested',
    description:
      'The rules are those for a payout. The limit of what an approver releases in a day covers payouts and refunds ' +
      'together. If the policy requires two approvers, the reversal stays `queued` after the first approval.',
    reject: 'Reject a queued refund',
    cancel: 'Cancel your own refund, queued or released and not yet being sent',
  },
});

export const reversalRoutes = routesUnder<PaymentDeps & LinkDeps>('Console reversals', '/v1/console', [
  route('POST /collections/{id}/reversal', {
    operationId: 'reverseCollection',
    summary: 'Request the return of the whole amount of a collection to its payer',
    description:
      'Nothing is sent until another person releases the refund. Meanwhile the amount is reserved. The collection ' +
      'becomes `reversed` only once the operator confirms the refund. If the available balance is too low, the ' +
      'response is 402 and is stored like any other.',
    access: { roles: ['maker'] },
    needsStepUp: true,
    idPrefix: 'col',
    isIdempotent: true,
    response: { status: 202, description: 'Recorded and queued.', schema: reversalSchema },
    errors: ['state_conflict', 'balance_insufficient'],
    handle: async ({ id: collectionId, idempotencyKey, by }, deps) => ({
      stored: await createReversal(deps.payments, { by, collectionId, idempotencyKey, at: new Date() }),
    }),
  }),
  route('GET /collections/{id}/reversal', {
    operationId: 'getLatestReversal',
    summary: 'Fetch the latest requested reversal of a collection',
    access: 'session',
    ...oneObject('col', 'The reversal.', consoleReversalSchema),
    errors: ['reversal_not_found'],
    handle: async ({ merchantId, id }, deps) => ({
      body: consoleReversalObject(await getLatestReversal(deps.db, merchantId, id)),
    }),
  }),
  route('GET /reversals', {
    operationId: 'listReversals',
    summary: 'List reversals, newest first',
    description: 'With `approval_state=pending`, only reversals that wait for an approver.',
    access: 'session',
    ...onePage(listReversalsSchema, reversalListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const states = wantedStates(query, statesOfReversalApproval);
      const filter = { ...rangeOf(query), ...(states && { states }) };
      return {
        body: pageObject(await listConsoleReversals(deps.db, merchantId, filter, query.limit), consoleReversalObject),
      };
    },
  }),
  route('GET /reversals/{id}', {
    operationId: 'getReversal',
    summary: 'Fetch one reversal with its approval state',
    access: 'session',
    ...oneObject('rev', 'The reversal.', reversalWithWorkflowSchema),
    handle: async ({ merchantId, session, id }, deps) => {
      const { statusQueries, ...named } = await getConsoleReversal(deps.db, merchantId, id);
      const workflow_url = linksFor(session.person, deps)?.reversal(named.reversal) ?? null;
      const status_queries = statusQueriesObject(statusQueries);
      const cancellable = isCancellable(named.reversal);
      return { body: { ...consoleReversalObject(named), cancellable, status_queries, workflow_url } };
    },
  }),
  release,
  reject,
  cancel,
]);
