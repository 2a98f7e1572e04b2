// Errors for statements that a trigger refuses because a row changed after an operation checked it. The caller gets the error that the
// operation gives if it sees the change itself.
import { DatabaseError } from 'pg';
import { permissionDenied } from '../../domain/accounts/member.ts';
import { secondOwnerNeeded } from '../../domain/accounts/waiting-time.ts';
import { DomainError, inRecovery, notFenced } from '../../domain/errors.ts';

/** The errors by the trigger's name for its rule. A refusal that no race can cause is a bug, and its rule is not listed. */
const REFUSALS: Readonly<Record<string, () => DomainError>> = {
  approvals_while_queued: () => conflict('This payment can no longer be released, rejected or cancelled.'),
  approvals_by_another: () =>
    new DomainError('approval_self', 'You made this payment, so another person must release it.'),
  approvals_by_approvers: () => permissionDenied('no longer an approver'),
  approver_daily_limit: () => permissionDenied('more than this person may release in 24 hours'),
  releases_approved: () => conflict('An approval of this payment no longer counts. Read the payment again.'),
  refunds_of_paid: () => conflict('The operator has already returned the money of this collection. Reject the refund.'),
  money_out_two_owners: secondOwnerNeeded,
  fence_open: inRecovery,
  restore_found: () =>
    conflict('The operator has this payment from before our records were restored: it can only be released.'),
  fence_fresh: notFenced,
  money_out_after_waiting: () => permissionDenied('in the waiting time'),
  money_out_by_recovered_key: () =>
    new DomainError(
      'insufficient_scope',
      'The account of the person who created this key was recovered. The key creates no payouts yet.',
    ),
};

/** Names of the rules whose refusal has a code. */
export const RULES_WITH_CODE = Object.keys(REFUSALS);

function conflict(message: string): DomainError {
  return new DomainError('state_conflict', message);
}

/** The error for the rule that refused the statement; null for every other database error. */
export function refusedBy(error: unknown): DomainError | null {
  if (!(error instanceof DatabaseError)) return null;
  return REFUSALS[error.constraint ?? '']?.() ?? null;
}
