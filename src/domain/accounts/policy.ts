// A merchant's policy for payouts beyond the second person, and proposals to change it.
import { DomainError } from '../errors.ts';
import type { MerchantId, PolicyChangeId, UserId } from '../ids.ts';

export type Policy = {
  readonly secondFactorRequired: boolean;
  /** Above this amount two approvers must release; null: one is enough for any amount. */
  readonly twoApproversAboveMinor: bigint | null;
  /** The most one person releases in 24 hours; null: no limit. */
  readonly approverDailyLimitMinor: bigint | null;
  /** Null: as long as the service itself lets a payout wait. */
  readonly payoutExpiresAfterMs: number | null;
};

/** The policy of a merchant that never changed it. */
export const DEFAULT_POLICY: Policy = {
  secondFactorRequired: false,
  twoApproversAboveMinor: null,
  approverDailyLimitMinor: null,
  payoutExpiresAfterMs: null,
};

/** A policy as callers see it; amounts in the smallest unit of the merchant's currency. */
export type PolicyObject = {
  readonly second_factor_required: boolean;
  readonly two_approvers_above: number | null;
  readonly approver_daily_limit: number | null;
  readonly payout_expires_after_seconds: number | null;
};

export type PolicyChangeState = 'pending' | 'approved' | 'rejected' | 'replaced';

/** Somebody's proposal: only the fields to change, as the policy object names them. */
export type PolicyChange = {
  readonly id: PolicyChangeId;
  readonly merchantId: MerchantId;
  readonly state: PolicyChangeState;
  readonly changes: Partial<PolicyObject>;
  readonly proposedBy: { readonly id: UserId; readonly name: string };
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: { readonly id: UserId; readonly name: string } | null;
  readonly decidedAt: Date | null;
};

export const POLICY_CHANGE_LIFE_MS = 7 * 24 * 60 * 60_000;

export function policyObject(policy: Policy): PolicyObject {
  return {
    second_factor_required: policy.secondFactorRequired,
    two_approvers_above: toNumber(policy.twoApproversAboveMinor),
    approver_daily_limit: toNumber(policy.approverDailyLimitMinor),
    payout_expires_after_seconds:
      policy.payoutExpiresAfterMs === null ? null : Math.ceil(policy.payoutExpiresAfterMs / 1000),
  };
}

/** The policy with the changed fields in place of its own. */
export function changedPolicy(policy: Policy, changes: Partial<PolicyObject>): Policy {
  const { two_approvers_above: above, approver_daily_limit: daily, payout_expires_after_seconds: seconds } = changes;
  return {
    secondFactorRequired: changes.second_factor_required ?? policy.secondFactorRequired,
    twoApproversAboveMinor: above === undefined ? policy.twoApproversAboveMinor : toMinor(above),
    approverDailyLimitMinor: daily === undefined ? policy.approverDailyLimitMinor : toMinor(daily),
    payoutExpiresAfterMs: seconds === undefined ? policy.payoutExpiresAfterMs : toMs(seconds),
  };
}

function toNumber(amountMinor: bigint | null): number | null {
  return amountMinor === null ? null : Number(amountMinor);
}

function toMinor(amount: number | null): bigint | null {
  return amount === null ? null : BigInt(amount);
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

/** The same for an unknown id and for another merchant's. */
export function policyChangeNotFound(): DomainError {
  return new DomainError('policy_change_not_found', 'There is no such proposal. Read the policy for those that wait.');
}
