// The operators that we reach: which phones they serve, in which currency, and within which amounts.
import type { Currency } from '../money.ts';

export type OperatorId = 'mtn-momo';

type Market = {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** The operator's own name for its system there. */
  readonly targetEnvironment: string;
  readonly currency: Currency;
  /** National prefixes that the regulator gave this operator. Only a guess: numbers are ported between networks. */
  readonly nationalPrefixes: readonly string[];
  /** Inclusive, in the currency's smallest unit. */
  readonly minAmountMinor: bigint;
  readonly maxAmountMinor: bigint;
};

const MTN_MARKETS: readonly Market[] = [
  {
    country: 'UG',
    targetEnvironment: 'mtnuganda',
    currency: 'UGX',
    nationalPrefixes: prefixes('76 77 78 79'),
    minAmountMinor: 100n,
    maxAmountMinor: 5_000_000n,
  },
  {
    country: 'RW',
    targetEnvironment: 'mtnrwanda',
    currency: 'RWF',
    nationalPrefixes: prefixes('78 79'),
    minAmountMinor: 100n,
    maxAmountMinor: 5_000_000n,
  },
  {
    country: 'CM',
    targetEnvironment: 'mtncameroon',
    currency: 'XAF',
    nationalPrefixes: prefixes('67 650 651 652 653 654 680 681 682 683'),
    minAmountMinor: 100n,
    maxAmountMinor: 1_000_000n,
  },
  {
    country: 'CI',
    targetEnvironment: 'mtnivorycoast',
    currency: 'XOF',
    nationalPrefixes: prefixes('05'),
    minAmountMinor: 100n,
    maxAmountMinor: 2_000_000n,
  },
  {
    country: 'BJ',
    targetEnvironment: 'mtnbenin',
    currency: 'XOF',
    nationalPrefixes: prefixes(
      '0142 0146 0150 0151 0152 0153 0154 0156 0157 0159 0161 0162 0166 0167 0169 0190 0191 0196 0197',
    ),
    minAmountMinor: 100n,
    maxAmountMinor: 2_000_000n,
  },
  {
    country: 'GH',
    targetEnvironment: 'mtnghana',
    currency: 'GHS',
    nationalPrefixes: prefixes('24 25 53 54 55 59'),
    minAmountMinor: 100n,
    maxAmountMinor: 1_500_000n,
  },
  {
    country: 'ZM',
    targetEnvironment: 'mtnzambia',
    currency: 'ZMW',
    nationalPrefixes: prefixes('76 96'),
    minAmountMinor: 100n,
    maxAmountMinor: 2_000_000n,
  },
];

type OperatorEntry = {
  readonly name: string;
  readonly markets: readonly Market[];
  /** How often it must say that it does not know a payout or refund before that counts: its statuses may lag. */
  readonly notFoundsNeeded: number;
};

/** Prefixes from the countries' numbering plans; amounts from the operators' published customer tariffs. */
export const OPERATORS: Readonly<Record<OperatorId, OperatorEntry>> = {
  'mtn-momo': { name: 'MTN MoMo', markets: MTN_MARKETS, notFoundsNeeded: 3 },
};

export const OPERATOR_IDS = Object.keys(OPERATORS) as [OperatorId, ...OperatorId[]];

/** The countries in which a deployment reaches each operator. */
export type Coverage = Readonly<Record<OperatorId, readonly string[]>>;

const MTN_SANDBOX = 'sandbox';
/** The sandbox takes the phones of every country; any other target environment is one country's. */
export const MTN_TARGET_ENVIRONMENTS = [MTN_SANDBOX, ...MTN_MARKETS.map(({ targetEnvironment }) => targetEnvironment)];

/** What a deployment reaches at this target environment of MTN: nothing when there is no such environment. */
export function coverageOf(mtnTargetEnvironment: string): Coverage {
  const isReached = (market: Market) =>
    mtnTargetEnvironment === MTN_SANDBOX || market.targetEnvironment === mtnTargetEnvironment;
  return { 'mtn-momo': MTN_MARKETS.filter(isReached).map(({ country }) => country) };
}

export type Route =
  { readonly kind: 'operator'; readonly operator: OperatorId; readonly market: Market } | { readonly kind: 'none' };

/**
 * The operator that serves this phone in this currency, guessed by its prefix; `none` when no operator does, or none that
 * the deployment reaches there.
 */
export function routePhone(
  phone: { country: string; nationalNumber: string },
  currency: Currency,
  coverage: Coverage,
): Route {
  for (const [operator, { markets }] of Object.entries(OPERATORS) as [OperatorId, (typeof OPERATORS)[OperatorId]][]) {
    for (const market of markets) {
      if (market.country !== phone.country || market.currency !== currency) continue;
      if (!coverage[operator].includes(market.country)) continue;
      if (market.nationalPrefixes.some((prefix) => phone.nationalNumber.startsWith(prefix))) {
        return { kind: 'operator', operator, market };
      }
    }
  }
  return { kind: 'none' };
}

/** The operators and countries in which this currency is paid, as far as the deployment reaches them. */
function marketsOf(
  currency: Currency,
  coverage: Coverage,
): { readonly operator: OperatorId; readonly market: Market }[] {
  return (Object.entries(OPERATORS) as [OperatorId, OperatorEntry][]).flatMap(([operator, { markets }]) =>
    markets
      .filter((market) => market.currency === currency && coverage[operator].includes(market.country))
      .map((market) => ({ operator, market })),
  );
}

export function countriesOf(currency: Currency, coverage: Coverage): string[] {
  return [...new Set(marketsOf(currency, coverage).map(({ market }) => market.country))];
}

export function operatorsOf(currency: Currency, coverage: Coverage): OperatorId[] {
  return [...new Set(marketsOf(currency, coverage).map(({ operator }) => operator))];
}

/** The widest bounds of any operator: what is outside of them nobody can pay. Null: no operator takes the currency. */
export function amountBounds(
  currency: Currency,
  coverage: Coverage,
): { readonly min: bigint; readonly max: bigint } | null {
  const [first, ...others] = marketsOf(currency, coverage).map(({ market }) => market);
  if (!first) return null;
  return others.reduce(
    ({ min, max }, { minAmountMinor, maxAmountMinor }) => ({
      min: minAmountMinor < min ? minAmountMinor : min,
      max: maxAmountMinor > max ? maxAmountMinor : max,
    }),
    { min: first.minAmountMinor, max: first.maxAmountMinor },
  );
}

function prefixes(text: string): readonly string[] {
  return text.split(' ');
}
