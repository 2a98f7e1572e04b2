// The amounts that the operators accept, as a sentence for a person who types one.
import { exponentOf, type Currency } from '../../../src/domain/money.ts';
import { formatAmount } from '../ui/format.ts';

/** In the form of the API; a separate type, so that tests can create some. */
type Rules = { readonly min_amount: number; readonly max_amount: number; readonly amount_step: number };
type Market = Readonly<Record<'country' | 'currency', string>> & Readonly<Record<'collections' | 'payouts', Rules>>;
type Operators = readonly { readonly id: string; readonly name: string; readonly markets: readonly Market[] }[];

export type AmountsOf = {
  readonly kind: 'collections' | 'payouts';
  readonly currency: string;
  /** ISO 3166-1 alpha-2; null: every country in which the currency is paid. */
  readonly country?: string | null;
  /** An operator's id; empty: all of them. */
  readonly operator?: string;
};

/** `MTN MoMo takes 100 to 5,000,000 UGX.`, a sentence for each operator and rule; empty without such a market. */
export function describeAmounts(
  operators: Operators,
  { kind, currency, country = null, operator = '' }: AmountsOf,
): string {
  const sentences = operators
    .filter(({ id }) => operator === '' || id === operator)
    .flatMap(({ name, markets }) =>
      markets
        .filter((market) => market.currency === currency && (country === null || market.country === country))
        .map((market) => `${name} takes ${describeRules(market[kind], currency)}.`),
    );
  return [...new Set(sentences)].join(' ');
}

function describeRules({ min_amount: min, max_amount: max, amount_step: step }: Rules, currency: string): string {
  const bounds = `${formatAmount(min, currency)} to ${formatAmount(max, currency)} ${currency}`;
  if (step === 1) return bounds;
  const isWhole = step === 10 ** exponentOf(currency as Currency);
  return `${bounds}, ${isWhole ? `whole ${currency} only` : `in steps of ${formatAmount(step, currency)}`}`;
}
