// Defines how to trigger an event of each type in a test environment, by the sandbox operator's table of phone numbers.
import { randomInt } from 'node:crypto';
import type { EventType } from '../domain/event.ts';
import type { Currency } from '../domain/money.ts';
import { CliFailure } from './failure.ts';

/** The last digits of the phone number. The payer of a number outside the sandbox's table simply pays. */
type Row = '001' | '003' | '009' | '015' | '100';

export type Recipe =
  | { readonly kind: 'collection'; readonly row: Row }
  | { readonly kind: 'payout'; readonly row: Row; readonly decision: 'none' | 'release' | 'reject' | 'cancel' }
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

/** The prefix of mobile numbers that one of our operators serves, and the number of free digits before the row. */
const PHONES: Readonly<Partial<Record<Currency, readonly [prefix: string, free: number]>>> = {
  UGX: ['25677', 4],
  RWF: ['25078', 4],
  XAF: ['23767', 4],
  XOF: ['22505', 5],
  GHS: ['23324', 4],
  ZMW: ['26096', 4],
  KES: ['25473', 4],
  TZS: ['25578', 4],
};

/** A random number, unlikely to be in use at the same time. Throws if no operator serves the currency. */
export function phoneFor(currency: string, row: Row): string {
  const [prefix, free] = PHONES[currency as Currency] ?? [];
  if (prefix === undefined || free === undefined) {
    throw new CliFailure('failed', `no operator of the sandbox supports ${currency}, so no event can be triggered`);
  }
  return `${prefix}${String(randomInt(10 ** free)).padStart(free, '0')}${row}`;
}
