// Who decided on a payout or refund, and when, with names.
import { z } from 'zod';
import type { KnownPerson } from '../../../domain/accounts/member.ts';
import { approvalState, type ApprovedState } from '../../../domain/payments/approval.ts';
import { isFinal } from '../../../domain/payments/payment.ts';
import { knownPerson } from '../accounts/person.ts';
import { objectSchema, printable, time } from '../primitives.ts';

/** For payouts and refunds. */
export const rejectSchema = objectSchema('RejectPayout', {
  reason: printable('reason', 200).meta({
    description: 'The reason. The maker can read it.',
    example: 'Paid by bank already.',
  }),
});

type NamedApproval = { readonly person: KnownPerson; readonly approvedAt: Date };

export const namedApprovals = z
  .array(z.strictObject({ person: knownPerson, approved_at: time }))
  .meta({ example: [], description: 'Oldest first.' });

export const completedAt = time.nullable().meta({
  description: 'When it reached its current state, if that state is final.',
});

export const decisionFields = {
  released_at: time.nullable().meta({ description: 'When it had all required approvals.' }),
  released_by: knownPerson.nullable().meta({ description: 'The person who gave the last required approval.' }),
  decided_by: knownPerson.nullable().meta({ description: 'The person who rejected or cancelled it.' }),
  completed_at: completedAt,
};

export function namedApprovalObject({ person, approvedAt }: NamedApproval) {
  return { person, approved_at: approvedAt.toISOString() };
}

type Decided = { readonly state: ApprovedState; readonly updatedAt: Date };

export function decisionObject(
  { state, updatedAt }: Decided,
  approvals: readonly NamedApproval[],
  decidedBy: KnownPerson | null,
) {
  const last = approvalState(state) === 'approved' ? approvals.at(-1) : undefined;
  return {
    released_at: last?.approvedAt.toISOString() ?? null,
    released_by: last?.person ?? null,
    decided_by: decidedBy,
    completed_at: isFinal(state) ? updatedAt.toISOString() : null,
  };
}
