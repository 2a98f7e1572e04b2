// The payments of a campaign, and the decisions of people on them: all from the seed.
import type { Random } from './random.ts';
import { AIRTEL, chooseWire, CURRENCIES, MPESA, phoneOf, type Wire } from './wires.ts';

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
  /** The operator takes multiples of it. */
  readonly amountStep: number;
  readonly repetition: Repetition;
  readonly decision: Decision;
  /** The maker requests the reversal of a collection that is paid. */
  readonly isReversed: boolean;
  /** Since the start of the campaign. */
  readonly atMs: number;
  /** Between the creation and the decision. */
  readonly thoughtMs: number;
};

/** Rows without a discrepancy, a breaker that opens, or a person. */
const ROWS = [...Array.from({ length: 16 }, (_, row) => String(row).padStart(3, '0')), '018'];

/** Every payment of this row is paid. */
export const PAID_ROW = '000';

/** A payout of this row is sent again until its send deadline, which is later than a campaign ends. */
const FLOAT_LOW_ROW = '003';

const PAYOUT_SHARE = 0.45;
const REVERSAL_SHARE = 0.25;
const MIN_AMOUNT = 1000;
const MAX_AMOUNT = 5000;
const LONGEST_THOUGHT_MS = 3000;

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
    const kind = random.chance(PAYOUT_SHARE) ? 'payout' : 'collection';
    const merchant = random.integer(0, merchants - 1);
    const wire = chooseWire(CURRENCIES[merchant], random);
    const row = rowFor(wire, kind, rows.pop() ?? PAID_ROW);
    const { amountStep } = wire;
    return {
      index,
      kind,
      merchant,
      row,
      phone: phoneOf(index, row, wire),
      amount: amountStep * random.integer(MIN_AMOUNT / amountStep, MAX_AMOUNT / amountStep),
      amountStep,
      repetition: chooseRepetition(random),
      decision: chooseDecision(random),
      // Of a refund at M-Pesa nobody can ask whose response and message are lost, so a checker cannot say how it must end.
      isReversed: random.chance(REVERSAL_SHARE) && wire !== MPESA,
      atMs: Math.floor((index * durationMs) / payments),
      thoughtMs: random.integer(0, LONGEST_THOUGHT_MS),
    };
  });
}

/** Instead of rows in which a person must find out what happened. */
function rowFor(wire: Wire, kind: PlannedPayment['kind'], row: string): string {
  // One message to a payout's own address that says that it is paid is believed.
  const isForged = wire === MPESA && kind === 'payout' && row === '013';
  // Once Airtel returned a payment its status names no receipt, and a fault may have hidden that it was paid.
  const isReturned = wire === AIRTEL && row === '015';
  const isRefusedForFloat = kind === 'payout' && row === FLOAT_LOW_ROW;
  return isForged || isReturned || isRefusedForFloat ? PAID_ROW : row;
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
