// What people decide about one queued payout or refund: they release, reject or cancel it.
import type { MoneyOutKind, Payment } from '../../../domain/payments/payment.ts';
import type { EndQueuedPayment } from '../../../operations/payments/end-queued-payment.ts';
import type { ActedBy } from '../../../domain/accounts/member.ts';
import type { ApiDeps } from '../../context.ts';
import type { Tag } from '../../openapi-tags.ts';
import { route, type Route, type RouteDescription } from '../../route.ts';
import { rejectPayoutSchema } from '../../schemas/payments/payout.ts';

/** What differs between payouts and refunds. */
export type DecisionOptions<Kind extends MoneyOutKind> = {
  readonly kind: Kind;
  readonly idPrefix: 'pay' | 'rev';
  readonly tag: Tag;
  readonly response: RouteDescription['response'];
  readonly toObject: (payment: Payment<Kind>) => object;
  /** The `description` is of the release. */
  readonly texts: Readonly<Record<'release' | 'description' | 'reject' | 'cancel', string>>;
};

export type DecisionRoutes = { readonly release: Route; readonly reject: Route; readonly cancel: Route };

export function decisionRoutes<Kind extends MoneyOutKind>(deps: ApiDeps, of: DecisionOptions<Kind>): DecisionRoutes {
  const { kind, idPrefix, tag, response, texts } = of;
  const noun = kind === 'payout' ? 'Payout' : 'Reversal';
  const path = `/v1/console/${kind}s/{id}`;
  const notFound = `${kind}_not_found` as const;
  return {
    release: route(deps, {
      method: 'post',
      path: `${path}/release`,
      operationId: `release${noun}`,
      tag,
      summary: texts.release,
      description: texts.description,
      access: { roles: ['approver'] },
      needsStepUp: true,
      idPrefix,
      isIdempotent: true,
      response,
      errors: [notFound, 'approval_self', 'state_conflict'],
      handle: async ({ id, idempotencyKey, by }) => {
        await deps.payments.checkEntries({ merchantId: by.person.merchantId });
        return { stored: await deps.payments.releasePayment({ kind, id, by, idempotencyKey, at: new Date() }) };
      },
    }),
    reject: route(deps, {
      method: 'post',
      path: `${path}/reject`,
      operationId: `reject${noun}`,
      tag,
      summary: texts.reject,
      access: { roles: ['approver'] },
      idPrefix,
      body: rejectPayoutSchema,
      response,
      errors: [notFound, 'state_conflict'],
      handle: async ({ id, body: { reason }, by }) => ({
        body: await end(deps, of, { id, by, kind: 'reject', reason }),
      }),
    }),
    cancel: route(deps, {
      method: 'post',
      path: `${path}/cancel`,
      operationId: `cancel${noun}`,
      tag,
      summary: texts.cancel,
      access: 'session',
      idPrefix,
      response,
      errors: [notFound, 'state_conflict'],
      handle: async ({ id, by }) => ({ body: await end(deps, of, { id, by, kind: 'cancel' }) }),
    }),
  };
}

type Ending = EndQueuedPayment['decision'] & { readonly id: string; readonly by: ActedBy };

async function end<Kind extends MoneyOutKind>(
  deps: ApiDeps,
  { kind, toObject }: DecisionOptions<Kind>,
  { id, by, ...decision }: Ending,
): Promise<object> {
  const payment = await deps.payments.endQueuedPayment({ kind, id, by, decision, at: new Date() });
  deps.offer(payment);
  return toObject(payment);
}
