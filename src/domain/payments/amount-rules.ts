// The amounts that an operator takes: bounds and step, how a deployment changes them, and the messages about other amounts.
import type { ParameterIssue } from '../errors.ts';
import { exponentOf, MAX_AMOUNT_MINOR, toDecimalString, type Currency } from '../money.ts';

/** Inclusive, in the currency's smallest unit. */
export type AmountBounds = { readonly minAmountMinor: bigint; readonly maxAmountMinor: bigint };

export type AmountRules = AmountBounds & {
  /** Every amount, the bounds too, is a multiple of the step. Any other amount is refused, and never rounded. */
  readonly stepMinor: bigint;
};

/** The kinds of payments whose amount is requested. A refund gives back a whole collection. */
export const REQUESTED_KINDS = ['collection', 'payout'] as const;
export type RequestedKind = (typeof REQUESTED_KINDS)[number];
export type RulesByKind = Readonly<Record<RequestedKind, AmountRules>>;

/** An operator that may take an amount, by its name for people. */
export type Taker = { readonly name: string; readonly rules: AmountRules };

/** The nearest amounts that the rules allow, the smaller first; only one if the amount is allowed, or out of bounds. */
function nearestAllowed(amountMinor: bigint, { minAmountMinor, maxAmountMinor, stepMinor }: AmountRules): bigint[] {
  if (amountMinor < minAmountMinor) return [minAmountMinor];
  if (amountMinor > maxAmountMinor) return [maxAmountMinor];
  const below = amountMinor - (amountMinor % stepMinor);
  return below === amountMinor ? [below] : [below, below + stepMinor];
}

/** How far the amount is from the nearest allowed amount; 0: the rules allow it. */
function distance(amountMinor: bigint, rules: AmountRules): bigint {
  const distances = nearestAllowed(amountMinor, rules).map((near) =>
    near > amountMinor ? near - amountMinor : amountMinor - near,
  );
  return distances.reduce((least, each) => (each < least ? each : least));
}

export function isAllowed(amountMinor: bigint, rules: AmountRules): boolean {
  return distance(amountMinor, rules) === 0n;
}

/**
 * The problem of an amount that none of these operators takes, by the rules that the amount misses by the least: `amount_out_of_bounds`,
 * or `parameter_invalid` for an amount that is no multiple of the step. Null: an operator takes the amount, or there is no operator.
 */
export function amountIssue(amountMinor: bigint, currency: Currency, takers: readonly Taker[]): ParameterIssue | null {
  const byDistance = takers.map((taker) => ({ ...taker, distance: distance(amountMinor, taker.rules) }));
  const [first, ...others] = byDistance;
  if (!first) return null;
  const nearest = others.reduce((least, each) => (each.distance < least.distance ? each : least), first);
  return nearest.distance === 0n ? null : issueOf(amountMinor, currency, nearest);
}

function issueOf(amountMinor: bigint, currency: Currency, { name, rules }: Taker): ParameterIssue {
  const { minAmountMinor: min, maxAmountMinor: max, stepMinor: step } = rules;
  const unit = `in the smallest unit of ${currency}`;
  if (amountMinor < min || amountMinor > max) {
    const steps = step === 1n ? '' : `, and a multiple of ${step}`;
    const message = `amount must be from ${min} to ${max} ${unit}${steps}: these are the bounds of ${name}.`;
    return { param: 'amount', code: 'amount_out_of_bounds', message };
  }
  const nearest = nearestAllowed(amountMinor, rules).join(' and ');
  const message =
    `amount must be a multiple of ${step} ${unit}, because ${name} takes ${describeStep(step, currency)} only. ` +
    `The nearest amounts are ${nearest}.`;
  return { param: 'amount', code: 'parameter_invalid', message };
}

/** `whole KES`, or `multiples of 0.50 KES`. */
export function describeStep(stepMinor: bigint, currency: Currency): string {
  if (stepMinor === 10n ** BigInt(exponentOf(currency))) return `whole ${currency}`;
  return `multiples of ${toDecimalString({ amountMinor: stepMinor, currency })} ${currency}`;
}

/** The amount rules in a deployment's contract, for one kind of payment in one market. */
export type AmountChange = AmountRules & {
  readonly operator: string;
  readonly country: string;
  /** A country may have several currencies. */
  readonly currency: string;
  readonly kind: RequestedKind;
};

/**
 * Reads `mtn-momo/UG/UGX/payout=500-4000000/100, …`: the least and the most amount, and the step after the slash (1 if none is given).
 * All are in the smallest unit. Null if an entry has another form, or bounds that are not allowed amounts, or if two entries have the
 * same operator, country, currency and kind.
 */
export function readAmountChanges(text: string): readonly AmountChange[] | null {
  const changes = text.split(',').map(readChange);
  const known = changes.filter((change) => change !== null);
  const subjects = new Set(
    known.map(({ operator, country, currency, kind }) => `${operator}/${country}/${currency}/${kind}`),
  );
  return subjects.size === changes.length ? known : null;
}

const CHANGE =
  /^\s*([a-z0-9-]+)\/([A-Z]{2})\/([A-Z]{3})\/(collection|payout)\s*=\s*([1-9][0-9]{0,15})\s*-\s*([1-9][0-9]{0,15})(?:\s*\/\s*([1-9][0-9]{0,15}))?\s*$/;

function readChange(entry: string): AmountChange | null {
  const [whole, operator = '', country = '', currency = '', kind, min = '', max = '', step = '1'] =
    CHANGE.exec(entry) ?? [];
  if (whole === undefined) return null;
  const rules = { minAmountMinor: BigInt(min), maxAmountMinor: BigInt(max), stepMinor: BigInt(step) };
  return areSound(rules) ? { operator, country, currency, kind: kind as RequestedKind, ...rules } : null;
}

/** Whether both bounds are amounts that the rules allow. */
export function areSound({ minAmountMinor: min, maxAmountMinor: max, stepMinor: step }: AmountRules): boolean {
  const isOrdered = step >= 1n && step <= min && min <= max && max <= MAX_AMOUNT_MINOR;
  return isOrdered && min % step === 0n && max % step === 0n;
}
