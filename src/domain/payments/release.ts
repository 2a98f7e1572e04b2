// Whether a person may release a payout or a refund, by the two-person rule and the merchant's policy.
import { DomainError, stateConflict } from '../errors.ts';
import { hasFreshSecondFactor, permissionDenied, type Person } from '../accounts/member.ts';
import type { MoneyOut } from './payment.ts';
import type { Policy } from '../accounts/policy.ts';

export const DAILY_LIMIT_WINDOW_MS = 24 * 60 * 60 * 1000;

export function approvalsRequired(policy: Policy, amountMinor: bigint): number {
  return policy.twoApproversAboveMinor !== null && amountMinor > policy.twoApproversAboveMinor ? 2 : 1;
}

export type ReleaseAttempt = {
  readonly payment: MoneyOut;
  readonly person: Person;
  readonly policy: Policy;
  /** The amount that this person released in the 24 hours before `at`, payouts and refunds together. */
  readonly releasedMinor: bigint;
  readonly at: Date;
};

/** Throws `approval_self`, `state_conflict` or `permission_denied` if this person may not approve this payment now. */
export function checkRelease(attempt: ReleaseAttempt): void {
  const { payment, person, policy, at } = attempt;
  const noun = nounOf(payment);
  if (payment.createdBy === person.userId) {
    throw new DomainError('approval_self', `You made this ${noun}, so another person must release it.`);
  }
  if (payment.state !== 'queued') throw notQueued(payment);
  if (payment.expiresAt <= at) throw stateConflict(`This ${noun} expired before it was released. Create a new one.`);
  checkSecondFactor(person, policy, at);
  const limit = policy.approverDailyLimitMinor;
  if (limit !== null && attempt.releasedMinor + payment.amountMinor > limit) {
    throw permissionDenied('more than this person may release in 24 hours');
  }
  if (payment.kind === 'reversal' && payment.isCollectionReturned) {
    throw stateConflict('The operator has already returned the money of this collection. Reject the refund.');
  }
}

/** Throws `permission_denied` if this person must verify the second factor again before a release. */
export function checkSecondFactor(person: Person, policy: Policy, at: Date): void {
  if ((person.hasSecondFactor || policy.secondFactorRequired) && !hasFreshSecondFactor(person, at)) {
    throw permissionDenied('no fresh second factor');
  }
}

export function notQueued(payment: MoneyOut): DomainError {
  const text = `This ${nounOf(payment)} is ${payment.state}: only a queued one can be decided on.`;
  return stateConflict(text);
}

/** Whether the maker may cancel the payment: until somebody tries to send it. */
export function isCancellable({ state, sendBegunAt }: Pick<MoneyOut, 'state' | 'sendBegunAt'>): boolean {
  return state === 'queued' || (state === 'released' && sendBegunAt === null);
}

export function sendBegun(payment: MoneyOut): DomainError {
  return stateConflict(`This ${nounOf(payment)} is being sent, so it cannot be cancelled any more.`);
}

export function notReleasedByUs(payment: MoneyOut): DomainError {
  const text = 'Only the staff of the service can resolve that.';
  return stateConflict(`This ${nounOf(payment)} was released, and the service did not record that. ${text}`);
}

function nounOf({ kind }: Pick<MoneyOut, 'kind'>): 'payout' | 'refund' {
  return kind === 'payout' ? 'payout' : 'refund';
}

/** Whether enough people approved the payment, each once and none of them its maker. */
export function isReleasedByOthers({ approvals, approvalsRequired: required, createdBy }: MoneyOut): boolean {
  const others = new Set(approvals.map(({ userId }) => userId).filter((userId) => userId !== createdBy));
  return others.size >= required && others.size === approvals.length;
}
