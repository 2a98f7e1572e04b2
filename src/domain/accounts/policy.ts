// A merchant's payout policy (second factor, approvers, limits, expiry, waiting time), and how strict a policy is.

export type Policy = {
  readonly secondFactorRequired: boolean;
  /** Payouts above this amount need two approvers; null: one approver is enough for any amount. */
  readonly twoApproversAboveMinor: bigint | null;
  /** The most that one approver may release in 24 hours; null: no limit. */
  readonly approverDailyLimitMinor: bigint | null;
  /** Null: the limit of the service applies. */
  readonly payoutExpiresAfterMs: number | null;
  /** How long a new approver and a recovered account cannot move money; null: as long as the service requires. */
  readonly approverWaitMs: number | null;
  /** The most that the unreleased payouts of one API key may hold together; null: no limit. */
  readonly keyHeldLimitMinor: bigint | null;
};

/** The policy of a merchant that has never changed it. */
export const DEFAULT_POLICY: Policy = {
  secondFactorRequired: false,
  twoApproversAboveMinor: null,
  approverDailyLimitMinor: null,
  payoutExpiresAfterMs: null,
  approverWaitMs: null,
  keyHeldLimitMinor: null,
};

/** A policy as callers see it; amounts in the smallest unit of the merchant's currency. */
export type PolicyObject = {
  readonly second_factor_required: boolean;
  readonly two_approvers_above: number | null;
  readonly approver_daily_limit: number | null;
  readonly payout_expires_after_seconds: number | null;
  readonly approver_wait_seconds: number | null;
  readonly key_held_limit: number | null;
};

export function policyObject(policy: Policy): PolicyObject {
  return {
    second_factor_required: policy.secondFactorRequired,
    two_approvers_above: toNumber(policy.twoApproversAboveMinor),
    approver_daily_limit: toNumber(policy.approverDailyLimitMinor),
    payout_expires_after_seconds: toSeconds(policy.payoutExpiresAfterMs),
    approver_wait_seconds: toSeconds(policy.approverWaitMs),
    key_held_limit: toNumber(policy.keyHeldLimitMinor),
  };
}

export function changedPolicy(policy: Policy, changes: Partial<PolicyObject>): Policy {
  const { two_approvers_above: above, approver_daily_limit: daily, payout_expires_after_seconds: seconds } = changes;
  const { approver_wait_seconds: wait, key_held_limit: held } = changes;
  return {
    secondFactorRequired: changes.second_factor_required ?? policy.secondFactorRequired,
    twoApproversAboveMinor: above === undefined ? policy.twoApproversAboveMinor : toMinor(above),
    approverDailyLimitMinor: daily === undefined ? policy.approverDailyLimitMinor : toMinor(daily),
    payoutExpiresAfterMs: seconds === undefined ? policy.payoutExpiresAfterMs : toMs(seconds),
    approverWaitMs: wait === undefined ? policy.approverWaitMs : toMs(wait),
    keyHeldLimitMinor: held === undefined ? policy.keyHeldLimitMinor : toMinor(held),
  };
}

/** The service's limits: used where a policy says null, and as the least waiting time. */
export type ServiceLimits = { readonly payoutExpiryMs: number; readonly leastWaitingTimeMs: number };

// One line per rule, which the compiler enforces: how strict a policy is in it. A higher value is stricter.
const STRICTNESS: Readonly<Record<keyof Policy, (policy: Policy, limits: ServiceLimits) => number | bigint>> = {
  secondFactorRequired: ({ secondFactorRequired }) => (secondFactorRequired ? 1 : 0),
  twoApproversAboveMinor: ({ twoApproversAboveMinor }) => strictnessOf(twoApproversAboveMinor),
  approverDailyLimitMinor: ({ approverDailyLimitMinor }) => strictnessOf(approverDailyLimitMinor),
  payoutExpiresAfterMs: ({ payoutExpiresAfterMs }, { payoutExpiryMs }) => -(payoutExpiresAfterMs ?? payoutExpiryMs),
  approverWaitMs: ({ approverWaitMs }, { leastWaitingTimeMs }) => Math.max(approverWaitMs ?? 0, leastWaitingTimeMs),
  keyHeldLimitMinor: ({ keyHeldLimitMinor }) => strictnessOf(keyHeldLimitMinor),
};

/** Whether any rule becomes looser, even if others become stricter. Such a change needs a second person. */
export function isLooser(before: Policy, after: Policy, limits: ServiceLimits): boolean {
  return Object.values(STRICTNESS).some((strictness) => strictness(after, limits) < strictness(before, limits));
}

/** How strict an amount limit is; null: no limit. */
function strictnessOf(limitMinor: bigint | null): number | bigint {
  return limitMinor === null ? -Infinity : -limitMinor;
}

function toNumber(amountMinor: bigint | null): number | null {
  return amountMinor === null ? null : Number(amountMinor);
}

function toMinor(amount: number | null): bigint | null {
  return amount === null ? null : BigInt(amount);
}

function toSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms / 1000);
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}
