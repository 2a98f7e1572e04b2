// Whether a person may release a payout: by the two-person rule, and by what the merchant's policy requires besides.
import { DomainError } from '../errors.ts';
import { hasFreshSecondFactor, permissionDenied, type Person } from '../accounts/member.ts';
import type { Payout } from './payout.ts';
import type { Policy } from '../accounts/policy.ts';

export const DAILY_LIMIT_WINDOW_MS = 24 * 60 * 60 * 1000;

export function approvalsRequired(policy: Policy, amountMinor: bigint): number {
  return policy.twoApproversAboveMinor !== null && amountMinor > policy.twoApproversAboveMinor ? 2 : 1;
}

export type ReleaseAttempt = {
  readonly payout: Payout;
  readonly person: Person;
  readonly policy: Policy;
  /** What this person released in the 24 hours before `at`. */
  readonly releasedMinor: bigint;
  readonly at: Date;
};

/** Throws `approval_self`, `state_conflict` or `permission_denied` when this person may not approve this payout now. */
export function checkRelease(attempt: ReleaseAttempt): void {
  const { payout, person, policy, at } = attempt;
  if (payout.createdBy === person.userId) {
    throw new DomainError('approval_self', 'You made this payout, so another person must release it.');
  }
  if (payout.state !== 'queued') throw notQueued(payout);
  if (payout.expiresAt <= at) {
    throw new DomainError('state_conflict', 'This payout ran out before it was released. Create a new one.');
  }
  checkSecondFactor(person, policy, at);
  const limit = policy.approverDailyLimitMinor;
  if (limit !== null && attempt.releasedMinor + payout.amountMinor > limit) {
    throw permissionDenied('more than this person may release in 24 hours');
  }
}

/** Throws `permission_denied` when this person must verify the second factor again before they release anything. */
export function checkSecondFactor(person: Person, policy: Policy, at: Date): void {
  if ((person.hasSecondFactor || policy.secondFactorRequired) && !hasFreshSecondFactor(person, at)) {
    throw permissionDenied('no fresh second factor');
  }
}

export function notQueued(payout: Payout): DomainError {
  return new DomainError('state_conflict', `This payout is ${payout.state}: only a queued one can be decided on.`);
}

/** Whether as many people approved the payout as it needs, each once and none of them its maker. */
export function isReleasedByOthers({ approvals, approvalsRequired: required, createdBy }: Payout): boolean {
  const others = new Set(approvals.map(({ userId }) => userId).filter((userId) => userId !== createdBy));
  return others.size >= required && others.size === approvals.length;
}
