// A merchant's request for a new collection or payout, and whether an operator can carry it out.
import { invalidParameters, type ParameterIssue } from '../errors.ts';
import type { Currency } from '../money.ts';
import { amountIssue, describeStep, type RequestedKind } from './amount-rules.ts';
import {
  currenciesServed,
  OPERATORS,
  routePhone,
  routeToOperator,
  takerOf,
  takersOf,
  type Coverage,
  type OperatorId,
} from './operator-catalogue.ts';
import { countryName, invalidPhone, parsePhone, type Phone } from './phone.ts';

/** How long an idempotency key counts after its first use: far longer than a merchant's server retries. The key may be kept longer. */
export const IDEMPOTENCY_KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

/** A well-formed request. The merchant and the operators determine whether the request can be carried out. */
export type PaymentRequest = {
  readonly phone: string;
  readonly amountMinor: bigint;
  readonly reference: string;
  readonly currency: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Takes precedence over the phone's prefix. Absent if none was named: two equal requests without an operator have one fingerprint. */
  readonly operator?: OperatorId | undefined;
  /** For a payout: the name of the payee, as the maker knows it. Absent if none was given, for the same reason as `operator`. */
  readonly payeeName?: string | undefined;
};

/**
 * The operator that will raise the prompt or pay: the request names it, or the phone's prefix suggests it. Throws one error that lists
 * every problem: a phone of the wrong form or network, or of a country that the deployment does not reach; an amount outside the
 * operator's bounds or off its step; a currency that is not the merchant's. If no operator is found, the amount must be one that some
 * operator takes.
 */
export function planPayment(
  request: PaymentRequest,
  merchantCurrency: Currency,
  coverage: Coverage,
  kind: RequestedKind,
): { operator: OperatorId } {
  const issues: (ParameterIssue | null)[] = [currencyIssue(request.currency, merchantCurrency)];
  const phone = parsePhone(request.phone);
  const route = phone && routeOf(phone, request.operator, merchantCurrency, coverage);
  if (phone === null) {
    issues.push({ param: 'phone', code: 'phone_invalid', message: invalidPhone(request.phone) });
  } else if (route?.kind === 'none') {
    issues.push({
      param: 'phone',
      code: 'phone_unsupported',
      message: currenciesServed(coverage).includes(merchantCurrency)
        ? unsupportedPhone(phone, request.operator, merchantCurrency)
        : `No available operator supports ${merchantCurrency}, the currency of your account.`,
    });
  }
  const takers =
    route?.kind === 'operator'
      ? [takerOf(kind, route.operator, route.market)]
      : takersOf(kind, merchantCurrency, coverage);
  issues.push(amountIssue(request.amountMinor, merchantCurrency, takers));
  throwIfAny(issues);
  if (route?.kind !== 'operator') throw new Error('a phone without a route passed the checks');
  return { operator: route.operator };
}

/** The problem of the currency that a request states; null: no problem. */
export function currencyIssue(stated: string | null, currency: Currency): ParameterIssue | null {
  if (stated === null || stated === currency) return null;
  const message = `currency must be ${currency}, the currency of your account. Leave it out to use that.`;
  return { param: 'currency', code: 'parameter_invalid', message };
}

type Refundable = Pick<PaymentRequest, 'phone' | 'amountMinor'> & {
  readonly operator: OperatorId;
  readonly currency: Currency;
};

/**
 * Why a paid collection cannot be refunded, as a sentence: the operator's step for collections has grown since the payment, and nobody
 * knows how the operator treats an amount off its step. Null: a refund is possible.
 */
export function refundRefusal(
  { phone: digits, amountMinor, operator, currency }: Refundable,
  coverage: Coverage,
): string | null {
  const phone = parsePhone(digits);
  const route = phone && routeToOperator(operator, phone, currency, coverage);
  const step = route?.kind === 'operator' ? route.market.amounts.collection.stepMinor : 1n;
  if (amountMinor % step === 0n) return null;
  return (
    `The amount of this collection, ${amountMinor}, is no multiple of ${step} in the smallest unit of ${currency}, and ` +
    `${OPERATORS[operator].name} takes ${describeStep(step, currency)} only. Give the money back by a payout.`
  );
}

/** Throws one error for all of these problems. */
export function throwIfAny(issues: readonly (ParameterIssue | null)[]): void {
  const [first, ...rest] = issues.filter((issue) => issue !== null);
  if (first) throw invalidParameters([first, ...rest]);
}

function routeOf(phone: Phone, operator: OperatorId | undefined, currency: Currency, coverage: Coverage) {
  if (operator === undefined) return routePhone(phone, currency, coverage);
  return routeToOperator(operator, phone, currency, coverage);
}

function unsupportedPhone({ country }: Phone, operator: OperatorId | undefined, currency: Currency): string {
  if (operator !== undefined) {
    const { name } = OPERATORS[operator];
    return `${name} serves no numbers of ${countryName(country)} in ${currency} here. Name another operator, or ask for another number.`;
  }
  return (
    `The first digits of this number belong to no available operator for ${currency}. If the number was moved to ` +
    'another operator, name that operator. Otherwise ask for another number.'
  );
}
