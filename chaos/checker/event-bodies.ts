// The required body of an event: the payment as it was at that change, field by field.
import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRow, CollectionRow, EventRow, PayoutRow } from './records.ts';

export type Subject =
  | { readonly kind: 'collection'; readonly row: CollectionRow }
  | { readonly kind: 'payout'; readonly row: PayoutRow; readonly approvals: readonly ApprovalRow[] };

/** A change of a payment, with its predecessor. */
export type Change = {
  readonly event: EventRow;
  readonly state: string;
  /** Null for the first. */
  readonly previous: string | null;
  /** Whether the prompt was raised with this change or earlier. */
  readonly isPrompted: boolean;
  readonly isLast: boolean;
};

type Fields = Readonly<Record<string, unknown>>;

/** No campaign is live. */
const ENVIRONMENT = 'test';
const APPROVAL_STATES: Readonly<Record<string, string>> = {
  queued: 'pending',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
};
/** Failures that a later outcome removed from the row: the operator had said nothing. */
const REVISED_REASONS = ['unknown', 'prompt_expired', 'operator_unavailable', 'service_unavailable'];

/** The faults of the body, in words; none if it shows the payment correctly. */
export function problemsWith(subject: Subject, change: Change): string[] {
  const { event, state, previous } = change;
  const { data, ...envelope } = JSON.parse(event.body) as { readonly data: Fields & { readonly object: Fields } };
  const { object, ...rest } = data;
  const { failure, ...fields } = object;
  const shown = 'approvals' in fields ? { ...fields, approvals: inOrder(fields['approvals']) } : fields;
  const wanted = { id: event.id, type: event.type, created_at: iso(event.createdAt), environment: ENVIRONMENT };
  return [
    ...(event.type === `${subject.kind}.${state}` ? [] : [`it is ${event.type}`]),
    ...differences(envelope, wanted),
    ...differences(rest, { previous_state: previous, ...(isLate(subject, change) && { late: true }) }),
    ...differences(shown, objectAt(subject, change)),
    ...problemsWithFailure(failure, subject, change),
  ];
}

function objectAt(subject: Subject, { event, state, isPrompted, isLast }: Change): Fields {
  const { row } = subject;
  const common = {
    id: row.id,
    state,
    amount: row.amount,
    currency: row.currency,
    reference: row.reference,
    phone: row.phone,
    operator: row.operator,
    description: row.description,
    metadata: row.metadata,
    operator_reference: row.operatorReference,
    amount_reversed: state === 'reversed' ? row.amount : 0,
    created_at: iso(row.createdAt),
    // Approvals also update a queued payout, without a change of its state.
    updated_at: iso(isLast && state !== 'queued' ? row.updatedAt : event.createdAt),
  };
  if (subject.kind === 'collection') {
    const { promptExpiresAt } = subject.row;
    return { ...common, prompt_expires_at: isPrompted && promptExpiresAt !== null ? iso(promptExpiresAt) : null };
  }
  const { payeeName, createdBy, approvalsRequired, rejectionReason, expiresAt } = subject.row;
  return {
    ...common,
    approval_state: APPROVAL_STATES[state] ?? 'approved',
    payee_name: payeeName,
    created_by: createdBy,
    approvals_required: approvalsRequired,
    approvals:
      state === 'queued'
        ? []
        : inOrder(subject.approvals.map((each) => ({ user_id: each.userId, approved_at: iso(each.approvedAt) }))),
    rejection_reason: state === 'rejected' ? rejectionReason : null,
    expires_at: iso(expiresAt),
  };
}

/** By person: two of them may approve at the same moment. */
function inOrder(approvals: unknown): unknown {
  if (!Array.isArray(approvals)) return approvals;
  return approvals.map((approval) => JSON.stringify(approval)).sort();
}

/** An outcome is late after the reported expiry, and a payment after the end of its prompt. */
function isLate({ kind, row }: Subject, { event, state, previous }: Change): boolean {
  if (kind !== 'collection' || (state !== 'succeeded' && state !== 'failed')) return false;
  if (previous === 'expired') return true;
  return state === 'succeeded' && row.promptExpiresAt !== null && event.createdAt > row.promptExpiresAt;
}

function problemsWithFailure(failure: unknown, { kind, row }: Subject, { state, isLast }: Change): string[] {
  const fails = state === 'failed' || (kind === 'collection' && state === 'expired');
  if (!fails) return failure === null ? [] : [`it shows the failure ${JSON.stringify(failure)}, and it is ${state}`];
  const { code, message } = (failure ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const isRight = isLast ? code === row.failureCode : REVISED_REASONS.includes(String(code));
  return [
    ...(isRight
      ? []
      : [`its reason is ${String(code)}, and the payment's ${isLast ? String(row.failureCode) : 'was revised'}`]),
    ...(typeof message === 'string' && message !== '' ? [] : ['its reason has no message']),
  ];
}

/** Every field that differs, is missing, or is unknown to this checker. */
function differences(shown: Fields, wanted: Fields): string[] {
  const names = new Set([...Object.keys(wanted), ...Object.keys(shown)]);
  return [...names]
    .filter((name) => !isDeepStrictEqual(shown[name], wanted[name]))
    .map((name) => `its ${name} is ${JSON.stringify(shown[name])}, and must be ${JSON.stringify(wanted[name])}`);
}

function iso(at: Date): string {
  return at.toISOString();
}
