// Decisions of people on one queued payout or refund: release, rejection, cancellation.
import type { MoneyOutKind, Payment } from '../../../domain/payments/payment.ts';
import { checkMerchantEntries } from '../../../operations/payments/check-ledger-changes.ts';
import { endQueuedPayment, type EndQueuedPayment } from '../../../operations/payments/end-queued-payment.ts';
import { releasePayment } from '../../../operations/payments/release-payment.ts';
import type { ActedBy } from '../../../domain/accounts/member.ts';
import { route, type DeclaredRoute, type PaymentDeps } from '../../route.ts';
import type { RouteDescription } from '../../route-description.ts';
import { rejectSchema } from '../../schemas/payments/decision.ts';

export type DecisionOptions<Kind extends MoneyOutKind> = {
  readonly kind: Kind;
  readonly idPrefix: 'pay' | 'rev';
  readonly response: RouteDescription['response'];
  readonly toObject: (payment: Payment<Kind>) => object;
  readonly texts: Readonly<Record<'release' | 'description' | 'reject' | 'cancel', string>>;
};

/** The three routes, for a list whose paths begin with `/v1/console`. */
export function decisionRoutes<Kind extends MoneyOutKind>(
  approvable: DecisionOptions<Kind>,
): Readonly<Record<'release' | 'reject' | 'cancel', DeclaredRoute<PaymentDeps>>> {
  const { kind, idPrefix, response, texts } = approvable;
  const noun = kind === 'payout' ? 'Payout' : 'Reversal';
  const path = `/${kind}s/{id}`;
  return {
    release: route(`POST ${path}/release`, {
      operationId: `release${noun}`,
      summary: texts.release,
      description: texts.description,
      access: { roles: ['approver'] },
      needsStepUp: true,
      idPrefix,
      isIdempotent: true,
      response,
      errors: ['approval_self', 'state_conflict'],
      handle: async ({ id, idempotencyKey, by }, deps) => {
        await checkMerchantEntries(deps.db, { merchantId: by.person.merchantId });
        return { stored: await releasePayment(deps.payments, { kind, id, by, idempotencyKey, at: new Date() }) };
      },
    }),
    reject: route(`POST ${path}/reject`, {
      operationId: `reject${noun}`,
      summary: texts.reject,
      access: { roles: ['approver'] },
      idPrefix,
      body: rejectSchema,
      response,
      errors: ['state_conflict'],
      handle: async ({ id, body: { reason }, by }, deps) => ({
        body: await end(deps, approvable, { id, by, kind: 'reject', reason }),
      }),
    }),
    cancel: route(`POST ${path}/cancel`, {
      operationId: `cancel${noun}`,
      summary: texts.cancel,
      access: 'session',
      idPrefix,
      response,
      errors: ['state_conflict'],
      handle: async ({ id, by }, deps) => ({ body: await end(deps, approvable, { id, by, kind: 'cancel' }) }),
    }),
  };
}

type Ending = EndQueuedPayment['decision'] & { readonly id: string; readonly by: ActedBy };

async function end<Kind extends MoneyOutKind>(
  deps: PaymentDeps,
  { kind, toObject }: DecisionOptions<Kind>,
  { id, by, ...decision }: Ending,
): Promise<object> {
  const payment = await endQueuedPayment(deps.payments, { kind, id, by, decision, at: new Date() });
  deps.offer(payment);
  return toObject(payment);
}
