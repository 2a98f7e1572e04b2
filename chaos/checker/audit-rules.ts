// Rules about the audit log: every decision of a person has exactly one entry, and every entry has its decision.
import type { AuditRow } from './records.ts';
import type { Case, Rules, Violation } from './violation.ts';

const APPROVAL_ACTIONS = ['payout.approved', 'payout.released', 'reversal.approved', 'reversal.released'];

export const auditRules: Rules = ({ records }: Case) => {
  const decisions = [
    ...records.approvals.map(({ paymentId, userId }) => entryOf('approval', paymentId, userId)),
    ...[...records.payouts, ...records.reversals]
      .filter(({ state }) => state === 'rejected' || state === 'cancelled')
      .map(({ id, state, decidedBy }) => entryOf(state, id, decidedBy)),
    ...records.reversals.map(({ id, createdBy }) => entryOf('reversal', id, createdBy)),
  ];
  const entries = records.audit.flatMap(decisionIn);
  return [
    ...surplusOf(decisions, entries).map((entry) => toViolation('audit_missing', entry, 'it has no audit entry')),
    ...surplusOf(entries, decisions).map((entry) => toViolation('audit_surplus', entry, 'only the audit log has it')),
  ];
};

/** The decision in an entry of the audit log, as `entryOf` names it; none for other entries. */
function decisionIn({ action, outcome, subjectId, userId, after }: AuditRow): string[] {
  if (outcome !== 'done') return [];
  if (APPROVAL_ACTIONS.includes(action)) return [entryOf('approval', subjectId, userId)];
  if (action === 'payout.rejected' || action === 'reversal.rejected') return [entryOf('rejected', subjectId, userId)];
  if (action === 'payout.cancelled' || action === 'reversal.cancelled')
    return [entryOf('cancelled', subjectId, userId)];
  if (action === 'reversal.requested') return [entryOf('reversal', after?.['reversal_id'], userId)];
  return [];
}

function entryOf(decision: string, id: unknown, userId: string | null): string {
  return `${String(id)} ${decision} ${userId ?? 'nobody'}`;
}

/** The entries that occur more often in `entries` than in `others`. */
function surplusOf(entries: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const entry of others) left.set(entry, (left.get(entry) ?? 0) + 1);
  return entries.filter((entry) => {
    const count = left.get(entry) ?? 0;
    left.set(entry, count - 1);
    return count <= 0;
  });
}

function toViolation(rule: 'audit_missing' | 'audit_surplus', entry: string, text: string): Violation {
  const [id = '', decision = '', userId = ''] = entry.split(' ');
  return { rule, id, text: `${decision} by ${userId}: ${text}` };
}
