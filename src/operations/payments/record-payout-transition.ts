// Records a transition of a payout that no person decides: its approval expired, or the operator reported an outcome.
import { compareAndSet } from '../../db/payments/compare-and-set.ts';
import { isSendRepeated } from '../../db/payments/payment-progress.ts';
import { getPayout } from '../../db/payments/payout.ts';
import { recordPayoutChange } from '../../db/payments/payout-change.ts';
import type { Clocks } from '../../domain/clocks.ts';
import { isRefusedSend, type StatusBasis } from '../../domain/payments/operator-status.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import type { PayoutOutcomeInput } from '../../domain/payments/payout-progress.ts';
import { confirmsNeverAccepted, confirmsNeverSent } from '../../domain/payments/recorded-send.ts';
import type { PaymentContext } from './payment-context.ts';

export type RecordPayoutTransition = {
  readonly ref: Omit<PaymentRef<'payout'>, 'kind'>;
  readonly transition: PayoutOutcomeInput;
  readonly at: Date;
  /** Of the verified status from which the input follows; null without one. */
  readonly basis: StatusBasis | null;
};

/**
 * Returns the payout as it is afterwards. An input for which its state has no transition changes nothing, so repeated,
 * late and contradicting inputs are harmless. `approval_expired` is recorded only when the expiry in the row has
 * passed, `never_sent` and `never_accepted` only if the row and our own clock confirm it, and the refusal of a send only while
 * there was no other try. Throws `payout_not_found`, and `ReceiptReused` for a receipt that has paid another payout.
 */
export async function recordPayoutTransition(
  { db, environment, clocks }: PaymentContext,
  { ref, transition, at, basis }: RecordPayoutTransition,
): Promise<Payout> {
  return compareAndSet(ref.id, async () => {
    const before = await getPayout(db, ref.merchantId, ref.id);
    if (!isTimely(before, transition, at, clocks)) return before;
    const change = changePayout(before, transition, at, clocks);
    if (change === null) return before;
    const requiresOneTry = isRefusedSend(basis);
    if (await recordPayoutChange(db, change, environment, { requiresOneTry, basis })) return change.after;
    return requiresOneTry && (await isSendRepeated(db, { kind: 'payout', ...ref })) ? before : 'missed';
  });
}

function isTimely(payout: Payout, transition: PayoutOutcomeInput, at: Date, clocks: Clocks): boolean {
  if (transition.kind === 'approval_expired') return at >= payout.expiresAt;
  if (transition.kind === 'never_sent') return confirmsNeverSent(payout, at);
  if (transition.kind !== 'never_accepted') return true;
  return confirmsNeverAccepted(payout, transition.queriedAtMs, at, clocks);
}
