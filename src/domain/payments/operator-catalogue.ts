// The operators that we reach: which phones they serve, in which currency, and within which amounts.
import { CURRENCIES, type Currency } from '../money.ts';
import { MTN_PREFIXES, type PrefixChange } from './operator-prefixes.ts';

export type OperatorId = 'mtn-momo';

/** Inclusive, in the currency's smallest unit. */
export type AmountBounds = { readonly minAmountMinor: bigint; readonly maxAmountMinor: bigint };

export type Market = AmountBounds & {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** The operator's own name for its system there. */
  readonly targetEnvironment: string;
  readonly currency: Currency;
  /** Of the numbers that are led to this operator where a request names none. */
  readonly nationalPrefixes: readonly string[];
};

const MTN_MARKETS: readonly Market[] = [
  mtnMarket('UG', 'mtnuganda', 'UGX', { minAmountMinor: 100n, maxAmountMinor: 5_000_000n }),
  mtnMarket('RW', 'mtnrwanda', 'RWF', { minAmountMinor: 100n, maxAmountMinor: 5_000_000n }),
  mtnMarket('CM', 'mtncameroon', 'XAF', { minAmountMinor: 100n, maxAmountMinor: 1_000_000n }),
  mtnMarket('CI', 'mtnivorycoast', 'XOF', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }),
  mtnMarket('BJ', 'mtnbenin', 'XOF', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }),
  mtnMarket('GH', 'mtnghana', 'GHS', { minAmountMinor: 100n, maxAmountMinor: 1_500_000n }),
  mtnMarket('ZM', 'mtnzambia', 'ZMW', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }),
];

function mtnMarket(
  country: keyof typeof MTN_PREFIXES,
  targetEnvironment: string,
  currency: Currency,
  bounds: AmountBounds,
): Market {
  return { country, targetEnvironment, currency, nationalPrefixes: MTN_PREFIXES[country].prefixes, ...bounds };
}

type OperatorEntry = {
  readonly name: string;
  readonly markets: readonly Market[];
  /** How often it must say that it does not know a payout or refund before that counts: its statuses may lag. */
  readonly notFoundsNeeded: number;
};

/** Amounts from the operators' published customer tariffs; prefixes with their sources in `operator-prefixes.ts`. */
export const OPERATORS: Readonly<Record<OperatorId, OperatorEntry>> = {
  'mtn-momo': { name: 'MTN MoMo', markets: MTN_MARKETS, notFoundsNeeded: 3 },
};

export function isOperator(value: unknown): value is OperatorId {
  return typeof value === 'string' && Object.hasOwn(OPERATORS, value);
}

export const OPERATOR_IDS = Object.keys(OPERATORS) as [OperatorId, ...OperatorId[]];

/** The markets in which a deployment reaches each operator. */
export type Coverage = Readonly<Record<OperatorId, readonly Market[]>>;

const MTN_SANDBOX = 'sandbox';
/** The sandbox takes the phones of every country; any other target environment is one country's. */
export const MTN_TARGET_ENVIRONMENTS = [MTN_SANDBOX, ...MTN_MARKETS.map(({ targetEnvironment }) => targetEnvironment)];

/**
 * What a deployment reaches at this target environment of MTN, with its changes of prefixes: nothing when there is no such environment.
 */
export function coverageOf(mtnTargetEnvironment: string, changes: readonly PrefixChange[] = []): Coverage {
  const isReached = (market: Market) =>
    mtnTargetEnvironment === MTN_SANDBOX || market.targetEnvironment === mtnTargetEnvironment;
  return { 'mtn-momo': MTN_MARKETS.filter(isReached).map((market) => withChange('mtn-momo', market, changes)) };
}

function withChange(operator: OperatorId, market: Market, changes: readonly PrefixChange[]): Market {
  const change = changes.find((each) => each.operator === operator && each.country === market.country);
  if (!change) return market;
  const kept = change.kind === 'added' ? market.nationalPrefixes : [];
  return { ...market, nationalPrefixes: [...new Set([...kept, ...change.prefixes])] };
}

/** Whether the operator has a market in the country, which its prefixes can be changed for. */
export function isMarket(operator: string, country: string): boolean {
  return isOperator(operator) && OPERATORS[operator].markets.some((market) => market.country === country);
}

export type Route =
  { readonly kind: 'operator'; readonly operator: OperatorId; readonly market: Market } | { readonly kind: 'none' };

type RoutedPhone = { readonly country: string; readonly nationalNumber: string };

/** The operator of this phone in this currency, guessed by its prefix; `none` if the deployment reaches none. */
export function routePhone(phone: RoutedPhone, currency: Currency, coverage: Coverage): Route {
  for (const { operator, market } of marketsOf(currency, coverage)) {
    if (market.country !== phone.country) continue;
    if (market.nationalPrefixes.some((prefix) => phone.nationalNumber.startsWith(prefix))) {
      return { kind: 'operator', operator, market };
    }
  }
  return { kind: 'none' };
}

/** The operator that a request names, whatever the prefix; `none` when it has no market there, or none that the deployment reaches. */
export function routeToOperator(
  operator: OperatorId,
  { country }: RoutedPhone,
  currency: Currency,
  coverage: Coverage,
): Route {
  const market = coverage[operator].find((each) => each.country === country && each.currency === currency);
  return market ? { kind: 'operator', operator, market } : { kind: 'none' };
}

/** The operators that a request can name for a phone of this country in this currency. */
export function operatorsIn(country: string, currency: Currency, coverage: Coverage): OperatorId[] {
  return marketsOf(currency, coverage)
    .filter(({ market }) => market.country === country)
    .map(({ operator }) => operator);
}

/** The operators and countries in which this currency is paid, as far as the deployment reaches them. */
function marketsOf(
  currency: Currency,
  coverage: Coverage,
): { readonly operator: OperatorId; readonly market: Market }[] {
  return (Object.entries(coverage) as [OperatorId, readonly Market[]][]).flatMap(([operator, markets]) =>
    markets.filter((market) => market.currency === currency).map((market) => ({ operator, market })),
  );
}

export function countriesOf(currency: Currency, coverage: Coverage): string[] {
  return [...new Set(marketsOf(currency, coverage).map(({ market }) => market.country))];
}

export function operatorsOf(currency: Currency, coverage: Coverage): OperatorId[] {
  return [...new Set(marketsOf(currency, coverage).map(({ operator }) => operator))];
}

/** The currencies that an operator takes, as far as the deployment reaches it. In another one nobody is paid or pays. */
export function currenciesServed(coverage: Coverage): Currency[] {
  return CURRENCIES.filter((currency) => marketsOf(currency, coverage).length > 0);
}

/** The widest bounds of any operator: what is outside of them nobody can pay. Null: no operator takes the currency. */
export function amountBounds(currency: Currency, coverage: Coverage): AmountBounds | null {
  const [first, ...others] = marketsOf(currency, coverage).map(({ market }) => market);
  if (!first) return null;
  return others.reduce<AmountBounds>(
    ({ minAmountMinor: min, maxAmountMinor: max }, market) => ({
      minAmountMinor: market.minAmountMinor < min ? market.minAmountMinor : min,
      maxAmountMinor: market.maxAmountMinor > max ? market.maxAmountMinor : max,
    }),
    first,
  );
}
