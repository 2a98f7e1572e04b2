// The judgement of a payout before its release: earlier payouts to its number, and warnings about unusual facts.
import type { PayoutId } from '../ids.ts';
import { isSameName, type PayeeName } from './payee-name.ts';
import type { Payout, PayoutState } from './payout.ts';

/** The states of payouts that were released and did not fail: paid, or on their way. */
export const SENT_STATES = [
  'released',
  'reconciling',
  'succeeded',
  'reversed',
] as const satisfies readonly PayoutState[];

/** Earlier payouts are counted up to this number. */
export const MAX_EARLIER = 100;
/** Two payouts of the same amount to the same number within this time may be one payout made twice. */
export const SAME_PAYOUT_MS = 24 * 60 * 60 * 1000;
/** The usual amount comes from the newest payouts: from at most this many days, and at most this many payouts. */
export const USUAL_DAYS = 90;
export const USUAL_PAYOUTS = 500;
/** With fewer payouts, no amount counts as usual. */
const LEAST_USUAL = 10;
/** An amount above this multiple of the median is unusual. */
const TIMES_USUAL = 5n;

/** Other payouts to the same number that are paid or on their way. */
export type EarlierPayouts = {
  readonly count: number;
  readonly isAtLeast: boolean;
  readonly last: Pick<Payout, 'id' | 'createdAt' | 'amountMinor' | 'state'> | null;
};

/** The recorded facts with which a payout is compared. */
export type PayoutHistory = {
  readonly earlier: EarlierPayouts;
  /** The newest payout to the same number with the same amount, queued or sent, created within 24 hours of it. */
  readonly same: Pick<Payout, 'id' | 'createdAt' | 'state'> | null;
  /** The newest sent payout with the same reference, and to how many numbers the last sent payouts with that reference went. */
  readonly ofReference: (Pick<Payout, 'id' | 'phone'> & { readonly phones: number }) | null;
  /** Null: the operator was not asked for the name of the payee, or has not answered. */
  readonly payee: PayeeName | null;
};

/** The median amount of the merchant's recent payouts, and the number of these payouts. */
export type UsualAmount = { readonly medianMinor: bigint | null; readonly count: number };

export type PayoutWarning =
  | { readonly code: 'first_payout_to_number' }
  | {
      readonly code: 'same_number_and_amount_within_24h';
      readonly payoutId: PayoutId;
      readonly createdAt: Date;
      readonly state: PayoutState;
    }
  | { readonly code: 'number_changed_since_last'; readonly payoutId: PayoutId; readonly phone: string }
  | { readonly code: 'above_usual'; readonly usualMinor: bigint; readonly times: number }
  | { readonly code: 'payee_name_differs'; readonly typed: string; readonly name: string };

export type PayoutJudgement = Pick<PayoutHistory, 'earlier' | 'payee'> & {
  readonly warnings: readonly PayoutWarning[];
};

/**
 * The warnings of a payout that waits for release:
 * - no payout to its number was sent before, or all sent payouts failed;
 * - another payout of the same amount to the same number, queued or sent, was created within 24 hours;
 * - the last 20 sent payouts with its reference all went to one other number: a reference for several numbers identifies no payee;
 * - its amount is more than five times the median of the newest 500 payouts that succeeded within 90 days, if at least ten did;
 * - the operator has another name for the number than the maker typed.
 */
export function warningsOf(
  { phone, amountMinor, payeeName }: Pick<Payout, 'phone' | 'amountMinor' | 'payeeName'>,
  { earlier, same, ofReference, payee }: PayoutHistory,
  usual: UsualAmount,
): PayoutWarning[] {
  const warnings: PayoutWarning[] = [];
  if (earlier.count === 0) warnings.push({ code: 'first_payout_to_number' });
  if (same) {
    const { id: payoutId, createdAt, state } = same;
    warnings.push({ code: 'same_number_and_amount_within_24h', payoutId, createdAt, state });
  }
  if (ofReference?.phones === 1 && ofReference.phone !== phone) {
    warnings.push({ code: 'number_changed_since_last', payoutId: ofReference.id, phone: ofReference.phone });
  }
  const { medianMinor, count } = usual;
  if (medianMinor !== null && count >= LEAST_USUAL && amountMinor > TIMES_USUAL * medianMinor) {
    warnings.push({ code: 'above_usual', usualMinor: medianMinor, times: Number(TIMES_USUAL) });
  }
  const name = payee?.name ?? null;
  if (payeeName !== null && name !== null && !isSameName(payeeName, name)) {
    warnings.push({ code: 'payee_name_differs', typed: payeeName, name });
  }
  return warnings;
}
