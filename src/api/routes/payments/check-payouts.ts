// Checks the payouts of a list before any is created, by the rules of their creation.
import { DomainError, type ParameterIssue } from '../../../domain/errors.ts';
import type { Currency } from '../../../domain/money.ts';
import type { OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import { planPayment, type PaymentRequest } from '../../../domain/payments/payment-request.ts';
import {
  findKeysOutcomes,
  judgePlannedPayouts,
  type KeysOutcome,
} from '../../../operations/payments/judge-planned-payouts.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import {
  checkedPayoutObject,
  checkedPayoutsSchema,
  checkPayoutsSchema,
  MAX_CHECKED,
} from '../../schemas/payments/check-payouts.ts';
import { CREATE_PAYMENT_CODES } from '../../schemas/payments/payment.ts';
import { createPayoutSchema, toPaymentRequest } from '../../schemas/payments/payout.ts';
import { validate } from '../../validation.ts';

type Fields = Readonly<Record<string, unknown>>;
type Planned = {
  readonly operator: OperatorId | null;
  readonly issues: readonly ParameterIssue[];
  /** Null: the row has issues. */
  readonly request: PaymentRequest | null;
};

const NO_KEYS: KeysOutcome = { payout: null, unusedKey: null };

export const checkPayoutRoutes = routesUnder<PaymentDeps>('Console payouts', '/v1/console/payouts/check', [
  route('POST', {
    operationId: 'checkPayouts',
    summary: `Check up to ${MAX_CHECKED} payouts before creating any`,
    description:
      'Creates nothing. The response describes each row separately: what `POST /v1/api/payouts` would refuse, the ' +
      'operator, the payout already created under one of its keys, and the warnings that an approver would get. The ' +
      'check ignores the balance and the backlog, because both can change before the payout is created.',
    access: { roles: ['maker'] },
    body: checkPayoutsSchema,
    response: { status: 200, description: 'Each row, in the order of the request.', schema: checkedPayoutsSchema },
    handle: async ({ merchantId, session, body: { rows } }, deps) => {
      const lists = rows.map(({ idempotency_keys: keys }) => keys);
      const at = new Date();
      const found = await findKeysOutcomes(deps.db, merchantId, lists, at);
      const { merchantCurrency } = session.person;
      const checked = rows.map(({ payout }, index) => ({
        ...plan(deps, payout, merchantCurrency),
        ...(found[index] ?? NO_KEYS),
      }));
      const planned = checked.map(({ request, payout: existing }) => request && { request, existing });
      const judgements = await judgePlannedPayouts(deps.db, merchantId, planned, at);
      const data = checked.map((row, index) => checkedPayoutObject({ ...row, judgement: judgements[index] ?? null }));
      return { body: { data } };
    },
  }),
]);

function plan({ payments }: PaymentDeps, fields: Fields, currency: Currency): Planned {
  const found = issuesOf(() => toPaymentRequest(validate(createPayoutSchema, fields, CREATE_PAYMENT_CODES)));
  if (found.issues.length === 0 && found.result) {
    const { result, issues } = issuesOf(() => planPayment(found.result, currency, payments.coverage, 'payout'));
    return { operator: result?.operator ?? null, issues, request: issues.length === 0 ? found.result : null };
  }
  // Fields without a fault of form are checked further in any case, so that a row names all its faults at once.
  const named = new Set(found.issues.map(({ param }) => param));
  const { issues } = issuesOf(() => planPayment(readable(fields, named), currency, payments.coverage, 'payout'));
  return {
    operator: null,
    issues: [...found.issues, ...issues.filter(({ param }) => !named.has(param))],
    request: null,
  };
}

function readable(fields: Fields, named: ReadonlySet<string>): PaymentRequest {
  const text = (name: string) => (named.has(name) ? null : ((fields[name] as string | undefined) ?? null));
  const operator = text('operator');
  const amountMinor = named.has('amount') ? 1n : BigInt(fields['amount'] as number);
  return {
    phone: text('phone') ?? '',
    amountMinor,
    reference: '',
    currency: text('currency'),
    description: null,
    metadata: {},
    ...(operator !== null && { operator: operator as OperatorId }),
  };
}

type Found<Result> =
  | { readonly result: Result; readonly issues: readonly [] }
  | { readonly result: null; readonly issues: readonly ParameterIssue[] };

/** The result of the check, or the reason of its refusal. */
function issuesOf<Result>(check: () => Result): Found<Result> {
  try {
    return { result: check(), issues: [] };
  } catch (error) {
    if (!(error instanceof DomainError) || error.issues.length === 0) throw error;
    return { result: null, issues: error.issues };
  }
}
