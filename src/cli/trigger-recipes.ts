// Defines how to trigger an event of each type in a test environment, by the sandbox operator's table of phone numbers.
import { randomInt } from 'node:crypto';
import type { EventType } from '../domain/event.ts';
import type { Currency } from '../domain/money.ts';
import {
  OPERATOR_IDS,
  OPERATORS,
  routePhone,
  type Coverage,
  type OperatorId,
} from '../domain/payments/operator-catalogue.ts';
import { parsePhone } from '../domain/payments/phone.ts';
import { CliFailure, usage } from './failure.ts';

/** `row`: the last three digits of the phone. The payer of a number outside the sandbox's table simply pays. */
export type Recipe =
  | { readonly kind: 'collection'; readonly row: string }
  | { readonly kind: 'payout'; readonly row: string; readonly decision: 'none' | 'release' | 'reject' | 'cancel' }
  | { readonly kind: 'endpoint' };

export const RECIPES: Readonly<Record<EventType, Recipe>> = {
  'collection.prompted': { kind: 'collection', row: '100' },
  'collection.succeeded': { kind: 'collection', row: '100' },
  'collection.failed': { kind: 'collection', row: '001' },
  'collection.expired': { kind: 'collection', row: '003' },
  'collection.reconciling': { kind: 'collection', row: '009' },
  'collection.reversed': { kind: 'collection', row: '015' },
  'payout.queued': { kind: 'payout', row: '100', decision: 'none' },
  'payout.released': { kind: 'payout', row: '100', decision: 'release' },
  'payout.succeeded': { kind: 'payout', row: '100', decision: 'release' },
  'payout.failed': { kind: 'payout', row: '001', decision: 'release' },
  'payout.reconciling': { kind: 'payout', row: '009', decision: 'release' },
  'payout.reversed': { kind: 'payout', row: '015', decision: 'release' },
  'payout.rejected': { kind: 'payout', row: '100', decision: 'reject' },
  'payout.cancelled': { kind: 'payout', row: '100', decision: 'cancel' },
  'payout.expired': { kind: 'payout', row: '100', decision: 'none' },
  'endpoint.test': { kind: 'endpoint' },
};

/** The recipe with another row, which a person chose. Throws where no phone is involved, or what is given is no row. */
export function withRow(recipe: Recipe, row: string | null): Recipe {
  if (row === null) return recipe;
  if (recipe.kind === 'endpoint') throw usage('--row is not for endpoint.test');
  if (!/^[0-9]{3}$/.test(row)) throw usage('--row takes the last three digits of a phone number');
  return { ...recipe, row };
}

type Numbers = readonly [prefix: string, free: number];

/** For each operator of a currency a prefix of its mobile numbers, and the number of free digits before the row. */
const PHONES: Readonly<Partial<Record<Currency, readonly Numbers[]>>> = {
  UGX: [['25677', 4]],
  RWF: [['25078', 4]],
  XAF: [['23767', 4]],
  XOF: [['22505', 5]],
  GHS: [['23324', 4]],
  ZMW: [['26096', 4]],
  KES: [
    ['25472', 4],
    ['25473', 4],
  ],
  TZS: [['25578', 4]],
};

/**
 * A random number, unlikely to be in use at the same time, of the first of the operators in PHONES that the deployment reaches. Throws if
 * it reaches none in this currency.
 */
export function phoneFor(merchantCurrency: string, row: string, isReached: (operator: OperatorId) => boolean): string {
  const currency = merchantCurrency as Currency;
  const coverage = Object.fromEntries(
    OPERATOR_IDS.map((id) => [id, isReached(id) ? OPERATORS[id].markets : []]),
  ) as Coverage;
  const phone = PHONES[currency]
    ?.map(([prefix, free]) => `${prefix}${String(randomInt(10 ** free)).padStart(free, '0')}${row}`)
    .find((text) => {
      const parsed = parsePhone(text);
      return parsed !== null && routePhone(parsed, currency, coverage).kind === 'operator';
    });
  if (phone !== undefined) return phone;
  throw new CliFailure('failed', `no operator of the sandbox supports ${currency}, so no event can be triggered`);
}
