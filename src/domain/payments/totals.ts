// Totals of payments by the day of their creation and their state, with the success rate and the operator health.
import type { OperatorId } from './operator-catalogue.ts';
import type { CollectionState } from './collection.ts';
import type { PayoutState } from './payout.ts';

export type TotalKind = 'collection' | 'payout';
export const TOTAL_KINDS = ['collection', 'payout'] as const satisfies readonly TotalKind[];

/** The number and amount of payments of one kind, operator and state that were created in one span of time. */
export type PaymentTotal = {
  readonly kind: TotalKind;
  readonly operator: OperatorId;
  readonly state: CollectionState | PayoutState;
  readonly count: number;
  readonly amountMinor: bigint;
};

/** The total of one day, as `YYYY-MM-DD` in the requested time zone. */
export type DayTotal = PaymentTotal & { readonly date: string };

/** The longest range of days that one request reads. */
export const MAX_TOTAL_DAYS = 92;

export const QUARTER_MS = 15 * 60_000;

export function quarterOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / QUARTER_MS) * QUARTER_MS);
}

/** One total for each kind, operator and state. */
export function mergeTotals(totals: readonly PaymentTotal[]): PaymentTotal[] {
  const merged = new Map<string, PaymentTotal>();
  for (const total of totals) {
    const key = `${total.kind} ${total.operator} ${total.state}`;
    const { count = 0, amountMinor = 0n } = merged.get(key) ?? {};
    merged.set(key, { ...total, count: count + total.count, amountMinor: amountMinor + total.amountMinor });
  }
  return [...merged.values()];
}

const PAID: readonly string[] = ['succeeded', 'reversed'];
// A payment that people or a deadline ended before anything was sent says nothing about the operator.
const UNPAID: Readonly<Record<TotalKind, readonly string[]>> = {
  collection: ['failed', 'expired'],
  payout: ['failed'],
};

const countOf = (totals: readonly PaymentTotal[], states: readonly string[]): number =>
  totals.filter(({ state }) => states.includes(state)).reduce((sum, { count }) => sum + count, 0);

/** The share, 0 to 1, of paid payments (returned ones included) among payments with an outcome; null if none has an outcome. */
export function successRate(totals: readonly PaymentTotal[], kind: TotalKind): number | null {
  const ofKind = totals.filter((total) => total.kind === kind);
  const paid = countOf(ofKind, PAID);
  const decided = paid + countOf(ofKind, UNPAID[kind]);
  return decided === 0 ? null : paid / decided;
}

/** `undecided`: the operator does not say how payments end. `unknown`: no payment shows the operator's health. */
export const OPERATOR_HEALTH = ['working', 'undecided', 'unknown'] as const;
export type OperatorHealth = (typeof OPERATOR_HEALTH)[number];

const UNDECIDED_SHARE = 0.2;

/** The health of an operator, by these payments. An operator is `undecided` if at least a fifth of them have no outcome. */
export function operatorHealth(totals: readonly PaymentTotal[]): OperatorHealth {
  const undecided = countOf(totals, ['reconciling']);
  const known = countOf(totals, [...PAID, 'failed']);
  if (undecided + known === 0) return 'unknown';
  return undecided >= (undecided + known) * UNDECIDED_SHARE ? 'undecided' : 'working';
}
