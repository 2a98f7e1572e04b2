// The rules of the policy: the name of each, its effect in one sentence, and the form of its value.
import type { Schemas } from '../api/client.ts';
import { formatAmount } from '../ui/format.ts';

export type PolicyValues = Schemas['PolicyValues'];
export type Rule = keyof PolicyValues;

type RuleWords = {
  readonly name: string;
  readonly what: string;
  readonly kind: 'yes_or_no' | 'amount' | 'time';
  /** The meaning of an empty value. */
  readonly empty: string;
};

export const RULES: Readonly<Record<Rule, RuleWords>> = {
  second_factor_required: {
    name: 'Second factor for every release',
    what: 'A person who releases money must have proved their second factor within the last five minutes.',
    kind: 'yes_or_no',
    empty: 'no',
  },
  two_approvers_above: {
    name: 'Two approvers above',
    what: 'A payout or refund of more than this amount needs two approvers in addition to its maker.',
    kind: 'amount',
    empty: 'one approver is enough for any amount',
  },
  approver_daily_limit: {
    name: 'Daily limit of an approver',
    what: 'The most that one person releases within 24 hours.',
    kind: 'amount',
    empty: 'no limit',
  },
  payout_expires_after_seconds: {
    name: 'Payouts expire after',
    what: 'A payout that nobody releases within this time expires, and its money is available again.',
    kind: 'time',
    empty: 'the service’s own time, usually seven days',
  },
  approver_wait_seconds: {
    name: 'Waiting time of new approvers',
    what: 'A new owner or approver, or a person with a recovered account, moves no money for this time.',
    kind: 'time',
    empty: 'as long as the service requires: 24 hours with real money',
  },
  key_held_limit: {
    name: 'Held by one API key',
    what: 'The most that the unreleased payouts of one API key hold together; with 0, keys make no payouts.',
    kind: 'amount',
    empty: 'no limit',
  },
};

export const ALL_RULES = Object.keys(RULES) as Rule[];

/** A value of the policy as people read it. */
export function formatRule(rule: Rule, value: PolicyValues[Rule] | undefined, currency: string): string {
  const { kind, empty } = RULES[rule];
  if (value === null || value === undefined) return empty;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return kind === 'amount' ? `${formatAmount(value, currency)} ${currency}` : formatSeconds(value);
}

const UNITS = [
  ['days', 86_400],
  ['hours', 3600],
  ['minutes', 60],
  ['seconds', 1],
] as const;
export type Unit = (typeof UNITS)[number][0];
export const UNIT_NAMES: readonly Unit[] = UNITS.map(([unit]) => unit);

/** In the largest unit in which it is a whole number: nothing is rounded. */
export function inUnit(seconds: number): { readonly count: number; readonly unit: Unit } {
  for (const [unit, length] of UNITS) {
    if (seconds % length === 0) return { count: seconds / length, unit };
  }
  return { count: seconds, unit: 'seconds' };
}

function formatSeconds(seconds: number): string {
  const { count, unit } = inUnit(seconds);
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}

/** Null for an empty text; `wrong` for an invalid one. */
export function parseTime(text: string, unit: Unit): number | null | 'wrong' {
  if (text.trim() === '') return null;
  const length = UNITS.find(([name]) => name === unit)?.[1] ?? 1;
  return /^\d{1,7}$/.test(text.trim()) && Number(text) > 0 ? Number(text) * length : 'wrong';
}
