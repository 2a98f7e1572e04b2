// The approvals of payouts and refunds: who gave an approval, and the approval state that follows from a payment's state.
import type { UserId } from '../ids.ts';

export const APPROVAL_STATES = ['pending', 'approved', 'rejected', 'cancelled', 'expired'] as const;
/** The largest number of payouts, or of reversals, shown as waiting for approvals. It also stands for any greater number. */
export const MAX_WAITING_SHOWN = 1000;

export type ApprovalState = (typeof APPROVAL_STATES)[number];

export type Approval = {
  readonly userId: UserId;
  readonly approvedAt: Date;
  /** By the process that recorded the approval; null if no process of ours did, or if its version attested none. */
  readonly attestation: string | null;
};

const APPROVAL_STATE = {
  queued: 'pending',
  released: 'approved',
  reconciling: 'approved',
  succeeded: 'approved',
  failed: 'approved',
  reversed: 'approved',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
} as const satisfies Readonly<Record<string, ApprovalState>>;

export type ApprovedState = keyof typeof APPROVAL_STATE;

export function approvalState(state: ApprovedState): ApprovalState {
  return APPROVAL_STATE[state];
}
