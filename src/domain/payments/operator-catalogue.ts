// The operators that we reach: which phones they serve, in which currency, and within which amounts.
import { CURRENCIES, type Currency, type Money } from '../money.ts';
import {
  isAllowed,
  type AmountBounds,
  type AmountChange,
  type RequestedKind,
  type RulesByKind,
  type Taker,
} from './amount-rules.ts';
import { MTN_PREFIXES, type PrefixChange } from './operator-prefixes.ts';

export type OperatorId = 'mtn-momo';

export type Market = {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** The operator's own name for its system there. */
  readonly targetEnvironment: string;
  readonly currency: Currency;
  /** Of the numbers that are led to this operator where a request names none. */
  readonly nationalPrefixes: readonly string[];
  readonly amounts: RulesByKind;
};

/**
 * The smallest unit: MTN takes two decimals of GHS and ZMW, and whole units of currencies without decimals (pawaPay's list of providers
 * with their decimals, 2026-11, for collections and payouts alike).
 */
const MTN_STEP = 1n;

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
  const { prefixes: nationalPrefixes } = MTN_PREFIXES[country];
  return { country, targetEnvironment, currency, nationalPrefixes, amounts: amountsWithin(bounds, MTN_STEP) };
}

/** The same for collections and payouts, where the operator publishes one pair of bounds. */
function amountsWithin(bounds: AmountBounds, stepMinor: bigint): RulesByKind {
  const rules = { ...bounds, stepMinor };
  return { collection: rules, payout: rules };
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

/** The coverage with what the deployment's contracts say of amounts. A change of a market that it does not reach changes nothing. */
export function withAmountChanges(coverage: Coverage, changes: readonly AmountChange[] = []): Coverage {
  const changed: Record<OperatorId, readonly Market[]> = { ...coverage };
  for (const operator of OPERATOR_IDS) {
    const withAll = (market: Market) => changes.filter(isAbout(operator, market)).reduce(withAmounts, market);
    changed[operator] = coverage[operator].map(withAll);
  }
  return changed;
}

function isAbout(operator: OperatorId, { country, currency }: Market) {
  return (change: AmountChange) =>
    change.operator === operator && change.country === country && change.currency === currency;
}

function withAmounts(market: Market, { kind, minAmountMinor, maxAmountMinor, stepMinor }: AmountChange): Market {
  return { ...market, amounts: { ...market.amounts, [kind]: { minAmountMinor, maxAmountMinor, stepMinor } } };
}

/** Whether the operator has a market in the country, and in this currency if one is named. */
export function isMarket(operator: string, country: string, currency?: string): boolean {
  if (!isOperator(operator)) return false;
  const isNamed = (market: Market) => market.country === country && (currency ?? market.currency) === market.currency;
  return OPERATORS[operator].markets.some(isNamed);
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

/** The operators that a request can name to collect this from a phone of the country. */
export function operatorsIn(country: string, money: Money, coverage: Coverage): OperatorId[] {
  return collectorsOf(money, coverage)
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

/** The operators that can collect this. None: nobody can pay it. */
export function operatorsCollecting(money: Money, coverage: Coverage): OperatorId[] {
  return [...new Set(collectorsOf(money, coverage).map(({ operator }) => operator))];
}

function collectorsOf({ amountMinor, currency }: Money, coverage: Coverage) {
  return marketsOf(currency, coverage).filter(({ market }) => isAllowed(amountMinor, market.amounts.collection));
}

/** The currencies that an operator takes, as far as the deployment reaches it. In another one nobody is paid or pays. */
export function currenciesServed(coverage: Coverage): Currency[] {
  return CURRENCIES.filter((currency) => marketsOf(currency, coverage).length > 0);
}

/** Who may take a payment of this kind in this currency, in whichever country. */
export function takersOf(kind: RequestedKind, currency: Currency, coverage: Coverage): Taker[] {
  return marketsOf(currency, coverage).map(({ operator, market }) => takerOf(kind, operator, market));
}

export function takerOf(kind: RequestedKind, operator: OperatorId, market: Market): Taker {
  return { name: OPERATORS[operator].name, rules: market.amounts[kind] };
}
