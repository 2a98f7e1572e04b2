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
  /** With which the international numbers there begin. */
  readonly callingCode: string;
  readonly currency: Currency;
  /** Of the numbers that are led to this operator where a request names none. */
  readonly nationalPrefixes: readonly string[];
  readonly amounts: RulesByKind;
};

/** The countries of MTN's systems, by its own names for them. */
const MTN_SYSTEMS = {
  mtnuganda: 'UG',
  mtnrwanda: 'RW',
  mtncameroon: 'CM',
  mtnivorycoast: 'CI',
  mtnbenin: 'BJ',
  mtnghana: 'GH',
  mtnzambia: 'ZM',
} as const satisfies Readonly<Record<string, keyof typeof MTN_PREFIXES>>;

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

/** M-Pesa takes whole shillings, and tells least and most of a payment and of a payout apart. */
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
 * The same for collections and payouts, where the operator publishes one pair of bounds. The step is the smallest unit: MTN takes two
 * decimals of GHS and ZMW, and whole units of currencies without decimals (pawaPay's list of providers with their decimals, 2026-11).
 * Airtel's API takes any decimals; where a contract takes whole units only, the deployment says so.
 */
function amountsWithin(bounds: AmountBounds): RulesByKind {
  const rules = { ...bounds, stepMinor: 1n };
  return { collection: rules, payout: rules };
}

/** What an operator can do for one product. Code asks for these and never for an operator. */
export type Capabilities = {
  /**
   * `idempotent`: a send with the same reference never pays twice. `once`: it may, so a send begins once; after its first byte may have
   * left it is never sent again, by no retry, reset or restart.
   */
  readonly send: 'idempotent' | 'once';
  /** Whether a status is the answer to the query, comes later to the address of the query, or is not to be had. */
  readonly status: 'sync' | 'by_callback' | 'none';
  /** Whether the operator finds a payment by our reference, or by the id alone that it issued when it accepted the payment. */
  readonly statusKey: 'ours' | 'theirs';
  /** Whether it lists what was paid with our reference, so that one whose issued id is lost is found by that. */
  readonly listsPaid: boolean;
  /** Whether a status names the amount that was paid, and the receipt. */
  readonly statusSays: { readonly amount: boolean; readonly receipt: boolean };
  /** How the payer agrees; null where nobody is asked. */
  readonly authorisation: 'prompt' | 'redirect' | 'otp' | null;
  /** `at_once`: the answer to the send may be final. */
  readonly settles: 'later' | 'at_once';
};

/**
 * What an address that we give to an operator for one request is for: the result of a payment, the news that it was not processed in time,
 * or the answer to a status query.
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

type Messages = {
  readonly purposes: readonly MessagePurpose[];
  /** The body of our response, in the operator's own words: it says that the message came, and nothing of what follows from it. */
  readonly acknowledgement: Readonly<Record<string, string | number>>;
};

type OperatorEntry = {
  readonly name: string;
  readonly markets: readonly Market[];
  /** How often it must say that it does not know a payout or refund before that counts: its statuses may lag. */
  readonly notFoundsNeeded: number;
  readonly capabilities: {
    readonly collection: Capabilities;
    readonly payout: Capabilities;
    /** Null: none is sent. The operator offers none, or none that is certain to be paid once. */
    readonly refund: Capabilities | null;
  };
  /** What arrives at addresses that it gets for one payment or query each; null: its callbacks are hints, at any address. */
  readonly messages: Messages | null;
};

/** Amounts from the operators' published customer tariffs; prefixes with their sources in `operator-prefixes.ts`. */
export const OPERATORS: Readonly<Record<OperatorId, OperatorEntry>> = {
  'mtn-momo': {
    name: 'MTN MoMo',
    markets: MTN_MARKETS,
    notFoundsNeeded: 3,
    capabilities: {
      collection: { ...ASKED_BY_OUR_KEY, statusSays: { amount: true, receipt: true }, authorisation: 'prompt' },
      payout: { ...ASKED_BY_OUR_KEY, statusSays: { amount: true, receipt: true }, authorisation: null },
      refund: { ...ASKED_BY_OUR_KEY, statusSays: { amount: true, receipt: true }, authorisation: null },
    },
    messages: null,
  },
  'airtel-money': {
    name: 'Airtel Money',
    markets: AIRTEL_MARKETS,
    notFoundsNeeded: 3,
    capabilities: {
      collection: { ...ASKED_BY_OUR_KEY, statusSays: { amount: false, receipt: true }, authorisation: 'prompt' },
      payout: { ...ASKED_BY_OUR_KEY, statusSays: { amount: false, receipt: true }, authorisation: null },
      refund: null,
    },
    messages: null,
  },
  daraja: {
    name: 'M-Pesa',
    markets: DARAJA_MARKETS,
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
      payout: {
        send: 'once',
        status: 'by_callback',
        statusKey: 'ours',
        listsPaid: false,
        statusSays: { amount: true, receipt: true },
        authorisation: null,
        settles: 'later',
      },
      refund: null,
    },
    messages: {
      purposes: ['result', 'timeout', 'query'],
      acknowledgement: { ResultCode: 0, ResultDesc: 'Accepted' },
    },
  },
};

/** What the operator can do with payments of this kind. Throws for a refund where it offers none: no such payment is made. */
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

const MTN_SANDBOX = 'sandbox';
/** The sandbox takes the phones of every country; any other target environment is one country's. */
export const MTN_TARGET_ENVIRONMENTS = [MTN_SANDBOX, ...Object.keys(MTN_SYSTEMS)];
/** An account with Airtel is one country's. */
export const AIRTEL_COUNTRIES = AIRTEL_MARKETS.map(({ country }) => country);

/** What a deployment is set up to reach: the target environment of MTN, and the countries of its accounts with others, if it has any. */
export type Reach = {
  readonly mtnMomo: string;
  readonly airtelMoney?: string | undefined;
  readonly daraja?: 'KE' | undefined;
};

/** The markets that a deployment with this reach serves, with its changes of prefixes. */
export function coverageOf({ mtnMomo, airtelMoney, daraja }: Reach, changes: readonly PrefixChange[] = []): Coverage {
  const mtnCountry: string | undefined = new Map(Object.entries(MTN_SYSTEMS)).get(mtnMomo);
  const reached = {
    'mtn-momo': ({ country }: Market) => mtnMomo === MTN_SANDBOX || country === mtnCountry,
    'airtel-money': ({ country }: Market) => country === airtelMoney,
    daraja: ({ country }: Market) => country === daraja,
  };
  const served = (operator: OperatorId) =>
    OPERATORS[operator].markets.filter(reached[operator]).map((market) => withChange(operator, market, changes));
  return { 'mtn-momo': served('mtn-momo'), 'airtel-money': served('airtel-money'), daraja: served('daraja') };
}

export function reachedOperators(coverage: Coverage): OperatorId[] {
  return OPERATOR_IDS.filter((operator) => coverage[operator].length > 0);
}

/** The market of an account with Airtel. Throws for a country where there is none. */
export function airtelMarket(country: string): Market {
  const market = AIRTEL_MARKETS.find((each) => each.country === country);
  if (!market) throw new Error(`Airtel Money has no market in ${country}`);
  return market;
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
