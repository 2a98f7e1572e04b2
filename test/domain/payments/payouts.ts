// Builds payouts for unit tests: valid, with the fields that the test replaces.
import { DEFAULT_POLICY } from '../../../src/domain/accounts/policy.ts';
import { newId } from '../../../src/domain/ids.ts';
import { newMoneyOut } from '../../../src/domain/payments/new-payment.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { anyPayment, AT, REQUESTED } from './collections.ts';

/** What payouts and refunds start with besides what every payment does. */
export const moneyOut = () =>
  newMoneyOut({
    amountMinor: 5000n,
    createdBy: newId('usr'),
    createdAt: AT,
    policy: DEFAULT_POLICY,
    expiryMs: 86_400_000,
  });

/** As JSON shows a payout or refund on which nobody decided. */
export const SHOWN_UNDECIDED = [
  ['approvals_required', 1],
  ['approvals', []],
  ['rejection_reason', null],
  ['created_at', '2026-01-31T12:00:00.000Z'],
  ['updated_at', '2026-01-31T12:00:00.000Z'],
  ['expires_at', '2026-02-01T12:00:00.000Z'],
];

// Written out once more from the contract: a state and a kind of transition lead to a state.
export const MONEY_OUT_TRANSITIONS = {
  'queued released': 'released',
  'queued rejected': 'rejected',
  'queued cancelled': 'cancelled',
  'queued approval_expired': 'expired',
  'released cancelled': 'cancelled',
  'released outcome_unknown': 'reconciling',
  'released declined': 'failed',
  'released never_sent': 'failed',
  'released never_accepted': 'failed',
  'reconciling declined': 'failed',
  'reconciling never_sent': 'failed',
  'reconciling never_accepted': 'failed',
} as const;

export function payoutWith(fields: Partial<Payout> = {}): Payout {
  return {
    ...anyPayment('payout', 'pay', 'queued'),
    ...REQUESTED,
    ...moneyOut(),
    reference: 'SAL-1042',
    idempotencyKey: 'salary-1042',
    generation: null,
    payeeName: null,
    ...fields,
  };
}
