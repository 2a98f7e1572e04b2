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
import {
  AIRTEL_PREFIXES,
  MTN_PREFIXES,
  SAFARICOM_PREFIXES,
  type PrefixChange,
  type PrefixList,
} from './operator-prefixes.ts';

export type OperatorId = 'mtn-momo' | 'airtel-money' | 'daraja';

export type Market = {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** The first digits of the country's international numbers. */
  readonly callingCode: string;
  readonly currency: Currency;
  /** Numbers with these prefixes are routed to this operator if the request names none. */
  readonly nationalPrefixes: readonly string[];
  readonly amounts: RulesByKind;
};

const MTN_MARKETS: readonly Market[] = marketsWith(MTN_PREFIXES, {
  UG: ['256', 'UGX', { minAmountMinor: 100n, maxAmountMinor: 5_000_000n }],
  RW: ['250', 'RWF', { minAmountMinor: 100n, maxAmountMinor: 5_000_000n }],
  CM: ['237', 'XAF', { minAmountMinor: 100n, maxAmountMinor: 1_000_000n }],
  CI: ['225', 'XOF', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }],
  BJ: ['229', 'XOF', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }],
  GH: ['233', 'GHS', { minAmountMinor: 100n, maxAmountMinor: 1_500_000n }],
  ZM: ['260', 'ZMW', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }],
});

const AIRTEL_MARKETS: readonly Market[] = marketsWith(AIRTEL_PREFIXES, {
  UG: ['256', 'UGX', { minAmountMinor: 500n, maxAmountMinor: 5_000_000n }],
  KE: ['254', 'KES', { minAmountMinor: 1000n, maxAmountMinor: 15_000_000n }],
  TZ: ['255', 'TZS', { minAmountMinor: 10_000n, maxAmountMinor: 300_000_000n }],
  RW: ['250', 'RWF', { minAmountMinor: 100n, maxAmountMinor: 2_000_000n }],
  ZM: ['260', 'ZMW', { minAmountMinor: 100n, maxAmountMinor: 1_000_000n }],
});

/** M-Pesa takes whole shillings, and has separate bounds for collections and payouts. */
const DARAJA_MARKETS: readonly Market[] = [
  {
    country: 'KE',
    callingCode: '254',
    currency: 'KES',
    nationalPrefixes: SAFARICOM_PREFIXES.KE.prefixes,
    amounts: {
      collection: { minAmountMinor: 100n, maxAmountMinor: 25_000_000n, stepMinor: 100n },
      payout: { minAmountMinor: 1000n, maxAmountMinor: 25_000_000n, stepMinor: 100n },
    },
  },
];

function marketsWith<Country extends string>(
  prefixes: Readonly<Record<Country, PrefixList>>,
  markets: Readonly<Record<Country, readonly [callingCode: string, currency: Currency, bounds: AmountBounds]>>,
): readonly Market[] {
  return (Object.keys(markets) as Country[]).map((country) => {
    const [callingCode, currency, bounds] = markets[country];
    const { prefixes: nationalPrefixes } = prefixes[country];
    return { country, callingCode, currency, nationalPrefixes, amounts: amountsWithin(bounds) };
  });
}

/**
 * The rules of an operator that publishes one pair of bounds for collections and payouts. The step is the smallest unit: MTN takes two
 * decimals of GHS and ZMW, and whole units of currencies without decimals (pawaPay's list of providers with their decimals, 2026-11).
 * Airtel's API takes any decimals; if a contract allows whole units only, the deployment configures that step.
 */
function amountsWithin(bounds: AmountBounds): RulesByKind {
  const rules = { ...bounds, stepMinor: 1n };
  return { collection: rules, payout: rules };
}

/** The capabilities of an operator's product. Code depends on capabilities, and never on which operator it is. */
export type Capabilities = {
  /**
   * `idempotent`: a send with the same reference never pays twice. `once`: a repeated send may pay twice, so a send begins once. After the
   * first byte may have left, no retry, reset or restart sends the payment again.
   */
  readonly send: 'idempotent' | 'once';
  /** Whether a status is the response to the query, arrives later at the query's own address, or is unavailable. */
  readonly status: 'sync' | 'by_callback' | 'none';
  /** Whether the operator finds a payment by our reference, or only by the issued id. */
  readonly statusKey: 'ours' | 'theirs';
  /** Whether the operator lists paid payments with our reference. The list finds a payment whose issued id is lost. */
  readonly listsPaid: boolean;
  /** Whether a status contains the paid amount, and the receipt. */
  readonly statusSays: { readonly amount: boolean; readonly receipt: boolean };
  /** How the payer authorises the payment; null if nobody is asked. */
  readonly authorisation: 'prompt' | 'redirect' | 'otp' | null;
  /** `at_once`: the answer to the send may be final. */
  readonly settles: 'later' | 'at_once';
};

/** What code must know of refunds besides. Every refund returns the whole collection. */
export type RefundCapabilities = Capabilities & {
  /** How the request names the collection: by our reference, or by the operator's receipt, for which the refund waits. */
  readonly needs: 'reference' | 'receipt';
  /** `collection`: the operator says only that it returned the collection, and not by whose request. */
  readonly statusOf: 'refund' | 'collection';
};

/**
 * The purpose of an address that we give to an operator for one request: to receive the result of a payment, the notice that the payment
 * was not processed in time, or the answer to a status query.
 */
export type MessagePurpose = (typeof MESSAGE_PURPOSES)[number];
export const MESSAGE_PURPOSES = ['result', 'timeout', 'query'] as const;

const ASKED_BY_OUR_KEY = {
  send: 'idempotent',
  status: 'sync',
  statusKey: 'ours',
  listsPaid: false,
  settles: 'later',
} as const;

const TOLD_BY_MESSAGE = {
  send: 'once',
  status: 'by_callback',
  listsPaid: false,
  statusSays: { amount: true, receipt: true },
  authorisation: null,
  settles: 'later',
} as const;

type Messages = {
  readonly purposes: readonly MessagePurpose[];
  /** The body of our response, in the operator's format. It confirms receipt of the message, and does not report its effect. */
  readonly acknowledgement: Readonly<Record<string, string | number>>;
};

type OperatorEntry = {
  readonly name: string;
  readonly markets: readonly Market[];
  /** Whether one account with its test system serves every market; any other account serves one country. */
  readonly hasSharedTestSystem: boolean;
  /** How many `not_found` statuses in a row count as evidence for a payout or refund: statuses may lag. */
  readonly notFoundsNeeded: number;
  readonly capabilities: {
    readonly collection: Capabilities;
    readonly payout: Capabilities;
    /** Null: no refund is sent. The operator offers none, or none that is certain to be paid once. */
    readonly refund: RefundCapabilities | null;
  };
  /** The messages to addresses for one payment or query each; null: callbacks arrive at any address, and are only hints. */
  readonly messages: Messages | null;
};

/** Amounts from the operators' published customer tariffs; prefixes with their sources in `operator-prefixes.ts`. */
export const OPERATORS: Readonly<Record<OperatorId, OperatorEntry>> = {
  'mtn-momo': {
    name: 'MTN MoMo',
    markets: MTN_MARKETS,
    hasSharedTestSystem: true,
    notFoundsNeeded: 3,
    capabilities: {
      collection: { ...ASKED_BY_OUR_KEY, statusSays: { amount: true, receipt: true }, authorisation: 'prompt' },
      payout: { ...ASKED_BY_OUR_KEY, statusSays: { amount: true, receipt: true }, authorisation: null },
      refund: {
        ...ASKED_BY_OUR_KEY,
        statusSays: { amount: true, receipt: true },
        authorisation: null,
        needs: 'reference',
        statusOf: 'refund',
      },
    },
    messages: null,
  },
  'airtel-money': {
    name: 'Airtel Money',
    markets: AIRTEL_MARKETS,
    hasSharedTestSystem: false,
    notFoundsNeeded: 3,
    capabilities: {
      collection: { ...ASKED_BY_OUR_KEY, statusSays: { amount: false, receipt: true }, authorisation: 'prompt' },
      payout: { ...ASKED_BY_OUR_KEY, statusSays: { amount: false, receipt: true }, authorisation: null },
      refund: {
        ...ASKED_BY_OUR_KEY,
        send: 'once',
        statusSays: { amount: false, receipt: false },
        authorisation: null,
        needs: 'receipt',
        statusOf: 'collection',
      },
    },
    messages: null,
  },
  daraja: {
    name: 'M-Pesa',
    markets: DARAJA_MARKETS,
    hasSharedTestSystem: false,
    notFoundsNeeded: 3,
    capabilities: {
      collection: {
        send: 'once',
        status: 'sync',
        statusKey: 'theirs',
        listsPaid: true,
        statusSays: { amount: false, receipt: false },
        authorisation: 'prompt',
        settles: 'later',
      },
      payout: { ...TOLD_BY_MESSAGE, statusKey: 'ours' },
      refund: { ...TOLD_BY_MESSAGE, statusKey: 'theirs', needs: 'receipt', statusOf: 'refund' },
    },
    messages: {
      purposes: ['result', 'timeout', 'query'],
      acknowledgement: { ResultCode: 0, ResultDesc: 'Accepted' },
    },
  },
};

/** The capabilities for payments of this kind. Throws for a refund if the operator offers none: no such payment is made. */
export function capabilitiesOf({
  operator,
  kind,
}: {
  readonly operator: OperatorId;
  readonly kind: 'collection' | 'payout' | 'reversal';
}): Capabilities {
  const { collection, payout, refund } = OPERATORS[operator].capabilities;
  const found = { collection, payout, reversal: refund }[kind];
  if (found === null) throw new Error(`${OPERATORS[operator].name} offers no refund`);
  return found;
}

export function isOperator(value: unknown): value is OperatorId {
  return typeof value === 'string' && Object.hasOwn(OPERATORS, value);
}

export const OPERATOR_IDS = Object.keys(OPERATORS) as [OperatorId, ...OperatorId[]];

/** The markets in which a deployment reaches each operator. */
export type Coverage = Readonly<Record<OperatorId, readonly Market[]>>;

/** The country of the account with each operator; null: every market. Without an account it has no entry. */
export type Reach = Readonly<Partial<Record<OperatorId, string | null>>>;

/** The markets that a deployment with this reach serves, with its changes of prefixes. */
export function coverageOf(reach: Reach, changes: readonly PrefixChange[] = []): Coverage {
  const served = (operator: OperatorId): readonly Market[] => {
    const country = reach[operator];
    if (country === undefined) return [];
    const markets = OPERATORS[operator].markets.filter((market) => country === null || market.country === country);
    return markets.map((market) => withChange(operator, market, changes));
  };
  return Object.fromEntries(OPERATOR_IDS.map((id) => [id, served(id)])) as Record<OperatorId, readonly Market[]>;
}

export function reachedOperators(coverage: Coverage): OperatorId[] {
  return OPERATOR_IDS.filter((operator) => coverage[operator].length > 0);
}

/** Throws for a country in which the operator has no market. */
export function marketOf(operator: OperatorId, country: string): Market {
  const market = OPERATORS[operator].markets.find((each) => each.country === country);
  if (!market) throw new Error(`${OPERATORS[operator].name} has no market in ${country}`);
  return market;
}

function withChange(operator: OperatorId, market: Market, changes: readonly PrefixChange[]): Market {
  const change = changes.find((each) => each.operator === operator && each.country === market.country);
  if (!change) return market;
  const kept = change.kind === 'added' ? market.nationalPrefixes : [];
  return { ...market, nationalPrefixes: [...new Set([...kept, ...change.prefixes])] };
}

/** The coverage with the amount rules of the deployment's contracts. A change for a market that is not reached has no effect. */
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

/** The operator of this phone in this currency, guessed from its prefix; `none` if the deployment reaches none. */
export function routePhone(phone: RoutedPhone, currency: Currency, coverage: Coverage): Route {
  for (const { operator, market } of marketsOf(currency, coverage)) {
    if (market.country !== phone.country) continue;
    if (market.nationalPrefixes.some((prefix) => phone.nationalNumber.startsWith(prefix))) {
      return { kind: 'operator', operator, market };
    }
  }
  return { kind: 'none' };
}

/** The operator that a request names, regardless of the prefix; `none` if the deployment reaches no market of the operator there. */
export function routeToOperator(
  operator: OperatorId,
  { country }: RoutedPhone,
  currency: Currency,
  coverage: Coverage,
): Route {
  const market = coverage[operator].find((each) => each.country === country && each.currency === currency);
  return market ? { kind: 'operator', operator, market } : { kind: 'none' };
}

/** The operators that a request can name to collect this amount from a phone of the country. */
export function operatorsIn(country: string, money: Money, coverage: Coverage): OperatorId[] {
  return collectorsOf(money, coverage)
    .filter(({ market }) => market.country === country)
    .map(({ operator }) => operator);
}

/** The markets with this currency that the deployment reaches, each with its operator. */
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

/** The operators that can collect this amount. If there are none, nobody can pay it. */
export function operatorsCollecting(money: Money, coverage: Coverage): OperatorId[] {
  return [...new Set(collectorsOf(money, coverage).map(({ operator }) => operator))];
}

function collectorsOf({ amountMinor, currency }: Money, coverage: Coverage) {
  return marketsOf(currency, coverage).filter(({ market }) => isAllowed(amountMinor, market.amounts.collection));
}

/** The currencies that the reached operators take. No payment is possible in another currency. */
export function currenciesServed(coverage: Coverage): Currency[] {
  return CURRENCIES.filter((currency) => marketsOf(currency, coverage).length > 0);
}

/** The operators that may take a payment of this kind in this currency, in any country. */
export function takersOf(kind: RequestedKind, currency: Currency, coverage: Coverage): Taker[] {
  return marketsOf(currency, coverage).map(({ operator, market }) => takerOf(kind, operator, market));
}

export function takerOf(kind: RequestedKind, operator: OperatorId, market: Market): Taker {
  return { name: OPERATORS[operator].name, rules: market.amounts[kind] };
}
