// Decides how a transition input changes a payment, and which money the change moves. The operations record the change.
import type { Clocks } from '../clocks.ts';
import type { UserId } from '../ids.ts';
import { COLLECTION_TRANSITIONS, type Collection } from './collection.ts';
import { failureOf, type FailureCause } from './failure.ts';
import { QUERY_PRIORITY, type QueryDue } from '../work.ts';
import { firstLateCheckAt, type LateCheckReason } from './late-checks.ts';
import { posting, type Posting, type PostingKind } from './ledger.ts';
import type { TransitionInput } from './lifecycle.ts';
import { isFinal, type MoneyOut, type Payment, type PaymentKind, type PaymentState } from './payment.ts';
import { PAYOUT_TRANSITIONS, type Payout } from './payout.ts';
import { REVERSAL_TRANSITIONS } from './reversal.ts';
import { nextQueryDue, type ScheduleClocks } from './status-schedule.ts';

type ChangeClocks = ScheduleClocks &
  Pick<Clocks, 'promptWindowMs' | 'staleAfterMs' | 'lateCheckAgesMs' | 'returnCheckAgesMs'>;

export type Decision =
  | { readonly kind: 'released'; readonly sendDeadlineAt: Date; readonly releaseAttestation: string }
  | { readonly kind: 'rejected'; readonly by: UserId; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: UserId };

/** The input of a change: a transition input from the workflow or, for a payout or refund, a decision of people. */
export type ChangeInput<Kind extends PaymentKind = PaymentKind> =
  TransitionInput<Kind> | (Kind extends 'collection' ? never : Decision);

export type PaymentChange<Changed extends Payment = Payment> = {
  readonly before: Changed;
  readonly after: Changed;
  /** The cause of a payout's or refund's failure; null unless it failed. */
  readonly failedBy: FailureCause | null;
  /** Whether the change may be written only while no acceptance by the operator is recorded. A collection's state shows that. */
  readonly requiresNotAccepted: boolean;
  /** Whether the change may be written only while no try to send the payment is recorded. */
  readonly requiresNotSent: boolean;
  /** When the workflow is checked, unless the payment has changed by then; null when nothing more is awaited. */
  readonly checkDueAt: Date | null;
  /** When the operator is asked about the payment, unless it has changed by then; null: only after a callback. */
  readonly queryDue: QueryDue | null;
};

type Transitions = Readonly<Record<string, Readonly<Partial<Record<string, PaymentState>>>>>;

const TRANSITIONS: Readonly<Record<PaymentKind, Transitions>> = {
  collection: COLLECTION_TRANSITIONS,
  payout: PAYOUT_TRANSITIONS,
  reversal: REVERSAL_TRANSITIONS,
};

/** The change, or null when the current state has no transition for the input. */
export function changePayment<Changed extends Payment>(
  before: Changed,
  input: ChangeInput<Changed['kind']>,
  at: Date,
  clocks: ChangeClocks,
): PaymentChange<Changed> | null {
  const state = TRANSITIONS[before.kind][before.state]?.[input.kind];
  if (state === undefined || !isOutcomeOpen(before, input)) return null;
  const changed = { state, failureCode: failureOf(input), updatedAt: at };
  const after: Changed = { ...before, ...changed, ...fieldsOfKind(before, { state, input, at, clocks }) };
  return {
    before,
    after,
    failedBy: state === 'failed' ? (input.kind as FailureCause) : null,
    requiresNotAccepted: input.kind === 'never_accepted',
    requiresNotSent: input.kind === 'never_sent' || input.kind === 'cancelled',
    checkDueAt: checkDueAt(after, clocks),
    queryDue: queryDue(after, input, clocks),
  };
}

// An expired collection may still turn out to be paid. A decline counts only if the operator had not said how the collection ended.
function isOutcomeOpen({ kind, state, failureCode }: Payment, input: ChangeInput): boolean {
  return kind !== 'collection' || state !== 'expired' || input.kind !== 'declined' || failureCode === 'unknown';
}

type Entry = {
  readonly state: PaymentState;
  readonly input: ChangeInput;
  readonly at: Date;
  readonly clocks: ChangeClocks;
};

function fieldsOfKind(before: Payment, entry: Entry): Partial<Payment> {
  switch (before.kind) {
    case 'collection':
      return { ...requestedFields(before, entry), ...promptFields(before, entry) };
    case 'payout':
      return { ...requestedFields(before, entry), ...decidedFields(before, entry) };
    case 'reversal':
      return {
        ...decidedFields(before, entry),
        ...(entry.input.kind === 'never_sent' && before.isCollectionReturned && { failureCode: 'already_returned' }),
        // The same transaction reverses the collection.
        isCollectionReturned: before.isCollectionReturned || entry.state === 'succeeded',
      };
  }
}

function requestedFields(before: Collection | Payout, { state, input }: Entry) {
  return {
    previousState: before.state,
    version: before.version + 1,
    amountReversedMinor: state === 'reversed' ? before.amountMinor : before.amountReversedMinor,
    operatorReceipt: 'operatorReceipt' in input ? input.operatorReceipt : before.operatorReceipt,
  };
}

function promptFields({ sendBegunAt, createdAt, promptExpiresAt }: Collection, { state, at, clocks }: Entry) {
  if (state !== 'prompted') return { sendBegunAt, promptExpiresAt };
  // A prompted collection was sent, but an older version did not record when. The database adds the same time.
  return { sendBegunAt: sendBegunAt ?? createdAt, promptExpiresAt: after(at, clocks.promptWindowMs) };
}

function decidedFields(before: MoneyOut, { input }: Entry) {
  return {
    decidedBy: 'by' in input ? input.by : before.decidedBy,
    rejectionReason: 'reason' in input ? input.reason : before.rejectionReason,
    sendDeadlineAt: 'sendDeadlineAt' in input ? input.sendDeadlineAt : before.sendDeadlineAt,
    releaseAttestation: 'releaseAttestation' in input ? input.releaseAttestation : before.releaseAttestation,
  };
}

function queryDue(payment: Payment, { kind: by }: ChangeInput, clocks: ChangeClocks): QueryDue | null {
  const { state, updatedAt } = payment;
  if (!isFinal(state)) return nextQueryDue(payment, 0, updatedAt, clocks);
  const dueAt = firstLateCheckAt(lateCheckReason(payment, by), updatedAt, clocks);
  return dueAt && { dueAt, priority: QUERY_PRIORITY.final };
}

function checkDueAt(payment: Payment, clocks: ChangeClocks): Date | null {
  const { state, updatedAt } = payment;
  if (isFinal(state)) return null;
  const expiresAt = payment.kind === 'collection' && state === 'prompted' ? payment.promptExpiresAt : null;
  return after(expiresAt ?? updatedAt, clocks.staleAfterMs);
}

// A payment that ended on evidence, and not by the operator's own status, may still turn out to be paid.
function lateCheckReason({ kind, state }: Payment, by: ChangeInput['kind']): LateCheckReason | null {
  if (state === 'succeeded') return 'may_be_returned';
  const mayBePaid = kind === 'collection' ? state === 'expired' : by === 'never_accepted';
  return mayBePaid ? 'may_be_paid' : null;
}

function after(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

type PostingsOfStates<State extends PaymentState> = Readonly<Record<State, PostingKind | null>>;

/** The posting on entry into each state. The money of a payout is held from `queued` until the payout is final. */
const POSTINGS: {
  readonly collection: PostingsOfStates<Collection['state']>;
  readonly payout: PostingsOfStates<Payout['state']>;
} = {
  collection: {
    initiated: null,
    prompted: null,
    reconciling: null,
    succeeded: 'collection_paid',
    failed: null,
    expired: null,
    reversed: 'collection_reversed',
  },
  payout: {
    queued: 'payout_held',
    released: null,
    reconciling: null,
    succeeded: 'payout_paid',
    failed: 'payout_voided',
    rejected: 'payout_voided',
    cancelled: 'payout_voided',
    expired: 'payout_voided',
    reversed: 'payout_returned',
  },
};

/** The posting on entry into the payment's current state, or null if the state moves no money. A refund has its collection's posting. */
export function postingOf(payment: Collection | Payout): Posting | null {
  const kind = payment.kind === 'collection' ? POSTINGS.collection[payment.state] : POSTINGS.payout[payment.state];
  return kind && posting(kind, payment);
}
