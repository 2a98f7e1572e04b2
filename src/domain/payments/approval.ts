// The approvals of payouts and refunds: who gave one, and what the state says of them.
import type { UserId } from '../ids.ts';

export const APPROVAL_STATES = ['pending', 'approved', 'rejected', 'cancelled', 'expired'] as const;
/** A number of payouts, or of reversals, that waits for approvals: it stands for itself and for any greater one. */
export const MAX_WAITING_SHOWN = 1000;

export type ApprovalState = (typeof APPROVAL_STATES)[number];

export type Approval = {
  readonly userId: UserId;
  readonly approvedAt: Date;
  /** By the process that recorded it; null when no process of ours did, or one of a version that attested none. */
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
