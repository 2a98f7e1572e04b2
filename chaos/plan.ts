// The payments of a campaign, and the decisions of people on them: all from the seed.
import type { Random } from './random.ts';

/** How the creation is requested: once, again with the same key, several times at once, or again with another body. */
export type Repetition = 'once' | 'repeated' | 'concurrent' | 'conflicting';
/** The decision of people on a payout or a refund. `race`: an approver releases it while its maker cancels it. */
export type Decision = 'release' | 'release_twice' | 'release_in_batch' | 'reject' | 'cancel' | 'race' | 'leave';

export type PlannedPayment = {
  readonly index: number;
  readonly kind: 'collection' | 'payout';
  readonly merchant: number;
  /** The row of the sandbox operator's table: the last three digits of the phone. */
  readonly row: string;
  /** Unique to this payment, so that the operator's records of a phone are those of one payment. */
  readonly phone: string;
  readonly amount: number;
  readonly repetition: Repetition;
  readonly decision: Decision;
  /** The maker requests the reversal of a collection that is paid. */
  readonly isReversed: boolean;
  /** Since the start of the campaign. */
  readonly atMs: number;
  /** Between the creation and the decision. */
  readonly thoughtMs: number;
};

/** All rows except 099, which waits for a person. */
const ROWS = Array.from({ length: 16 }, (_, row) => String(row).padStart(3, '0'));

/** Every payment of this row is paid. */
export const PAID_ROW = '000';

const PAYOUT_SHARE = 0.45;
const REVERSAL_SHARE = 0.25;
const MIN_AMOUNT = 500;
const MAX_AMOUNT = 5000;
const LONGEST_THOUGHT_MS = 3000;
/** MTN's national prefixes in Uganda, each with 10,000 numbers before the three digits of the row. */
const PREFIXES = ['77', '78', '76', '79'];
const NUMBERS_PER_PREFIX = 10_000;

type Plan = {
  readonly payments: number;
  readonly merchants: number;
  readonly durationMs: number;
  readonly except: readonly string[];
};

export function planPayments(plan: Plan, random: Random): PlannedPayment[] {
  const { payments, merchants, durationMs, except } = plan;
  let rows: string[] = [];
  return Array.from({ length: payments }, (_, index) => {
    // Every row occurs once before any occurs again.
    if (rows.length === 0) rows = random.shuffled(ROWS.filter((each) => !except.includes(each)));
    const row = rows.pop() ?? PAID_ROW;
    return {
      index,
      kind: random.chance(PAYOUT_SHARE) ? 'payout' : 'collection',
      merchant: random.integer(0, merchants - 1),
      row,
      phone: phoneOf(index, row),
      amount: random.integer(MIN_AMOUNT, MAX_AMOUNT),
      repetition: chooseRepetition(random),
      decision: chooseDecision(random),
      isReversed: random.chance(REVERSAL_SHARE),
      atMs: Math.floor((index * durationMs) / payments),
      thoughtMs: random.integer(0, LONGEST_THOUGHT_MS),
    };
  });
}

export function phoneOf(index: number, row: string): string {
  const prefix = PREFIXES[Math.floor(index / NUMBERS_PER_PREFIX)];
  if (prefix === undefined) throw new Error(`there are phones for ${PREFIXES.length * NUMBERS_PER_PREFIX} payments`);
  return `256${prefix}${String(index % NUMBERS_PER_PREFIX).padStart(4, '0')}${row}`;
}

function chooseRepetition(random: Random): Repetition {
  const number = random.next();
  if (number < 0.6) return 'once';
  if (number < 0.8) return 'repeated';
  return number < 0.9 ? 'concurrent' : 'conflicting';
}

const DECISIONS: readonly (readonly [Decision, number])[] = [
  ['release', 0.5],
  ['release_twice', 0.15],
  ['release_in_batch', 0.2],
  ['race', 0.05],
  ['reject', 0.04],
  ['cancel', 0.04],
  ['leave', 0.02],
];

function chooseDecision(random: Random): Decision {
  let number = random.next();
  for (const [decision, share] of DECISIONS) {
    if (number < share) return decision;
    number -= share;
  }
  return 'release';
}
