// The lifecycle rules of each kind of payment, and the transitions that follow from an operator status. Pure, because workflows
// replay these functions.
import type { PaymentClocks } from '../clocks.ts';
import {
  nextCollectionTransition,
  type CollectionSnapshot,
  type CollectionTransitionInput,
} from './collection-progress.ts';
import { isAcceptance, type OperatorStatus, type QueriedStatus } from './operator-status.ts';
import { isFinal, type MoneyOutKind, type PaymentKind } from './payment.ts';
import { nextPayoutTransition, type PayoutOutcomeInput, type PayoutSnapshot } from './payout-progress.ts';
import {
  isRefundNeverSent,
  nextReversalTransition,
  type ReversalSnapshot,
  type ReversalTransitionInput,
} from './reversal-progress.ts';
import { isNeverSent, notFoundStep, overdueAtMs, type SendProgress } from './send-progress.ts';

type Snapshots = {
  readonly collection: CollectionSnapshot;
  readonly payout: PayoutSnapshot;
  readonly reversal: ReversalSnapshot;
};
type TransitionInputs = {
  readonly collection: CollectionTransitionInput;
  readonly payout: PayoutOutcomeInput;
  readonly reversal: ReversalTransitionInput;
};

/** The snapshot from which the next step of a payment of this kind is decided. */
export type PaymentSnapshot<Kind extends PaymentKind = PaymentKind> = Snapshots[Kind];
/** The transition inputs of a payment of this kind. Decisions of people are recorded by their own operations. */
export type TransitionInput<Kind extends PaymentKind = PaymentKind> = TransitionInputs[Kind];

/** The inputs that report no operator status: they depend on the row, which the recorder reads. */
export const INPUTS_WITHOUT_STATUS = ['approval_expired', 'outcome_unknown', 'never_sent'] as const;
export type InputWithoutStatus = (typeof INPUTS_WITHOUT_STATUS)[number];

/** Whether the transition is recorded only on an operator status, because the operator decides it. */
export function needsOperatorStatus({ kind }: TransitionInput): boolean {
  return !(INPUTS_WITHOUT_STATUS as readonly string[]).includes(kind);
}

type Lifecycle<Kind extends PaymentKind> = {
  /** When the outcome of a sent payment becomes overdue, in Unix milliseconds; null while it has no such time. */
  overdueAtMs(snapshot: PaymentSnapshot<Kind>): number | null;
  /**
   * Until when a payment that may be sent, and that nobody has tried to send, waits for its send or for its next step; null for any other
   * payment. Its queries by schedule begin with its send.
   */
  unsentUntilMs(snapshot: PaymentSnapshot<Kind>): number | null;
  /** Whether the payment, which the operator refused for our float, is to be sent again now. */
  isSendDue(snapshot: PaymentSnapshot<Kind>, nowMs: number): boolean;
  /** Whether nobody tried to send the pending payment, and nobody may any more. */
  isNeverSent(snapshot: PaymentSnapshot<Kind>, nowMs: number): boolean;
  /** Whether the status shows that the operator accepted the payment, and the acceptance is not recorded. */
  isAcceptanceUnrecorded(snapshot: PaymentSnapshot<Kind>, status: OperatorStatus): boolean;
  /** How the status changes the evidence, recorded in the row, that the operator never accepted the payment. */
  notFoundStep(
    snapshot: PaymentSnapshot<Kind>,
    queried: QueriedStatus,
    clocks: PaymentClocks,
  ): 'count' | 'reset' | null;
  /** The transition that follows from the status, or null to keep waiting. */
  next(snapshot: PaymentSnapshot<Kind>, queried: QueriedStatus, clocks: PaymentClocks): TransitionInput<Kind> | null;
};

/** The rules that payouts and refunds share: both send money out. */
const MONEY_OUT = {
  overdueAtMs,
  unsentUntilMs: ({ state, isSendBegun, sendDeadlineAtMs, sendAgainAtMs }: PaymentSnapshot<MoneyOutKind>) =>
    state === 'released' && !isSendBegun && sendDeadlineAtMs !== null
      ? Math.min(sendDeadlineAtMs, sendAgainAtMs ?? Infinity)
      : null,
  isSendDue: ({ sendAgainAtMs }: PaymentSnapshot<MoneyOutKind>, nowMs: number) => nowMs >= (sendAgainAtMs ?? Infinity),
  isNeverSent: (snapshot: PaymentSnapshot<MoneyOutKind>, nowMs: number) =>
    !isFinal(snapshot.state) && isNeverSent(snapshot, nowMs),
  isAcceptanceUnrecorded: ({ isAccepted }: SendProgress, status: OperatorStatus) => !isAccepted && isAcceptance(status),
  notFoundStep: (
    snapshot: PaymentSnapshot<MoneyOutKind>,
    queried: QueriedStatus,
    { notFoundGraceMs }: PaymentClocks,
  ) => (isFinal(snapshot.state) ? null : notFoundStep(snapshot, queried, notFoundGraceMs)),
};

export const LIFECYCLES: { readonly [Kind in PaymentKind]: Lifecycle<Kind> } = {
  collection: {
    overdueAtMs: ({ promptExpiresAtMs }) => promptExpiresAtMs,
    // The workflow queries a collection at once if its send did not end well.
    unsentUntilMs: () => null,
    isSendDue: () => false,
    isNeverSent: (snapshot, nowMs) => !isFinal(snapshot.state) && isNeverSent(sendOfPrompt(snapshot), nowMs),
    // The state `prompted` records the acceptance.
    isAcceptanceUnrecorded: () => false,
    // One `not_found` is enough: an expired collection still succeeds if it turns out to be paid.
    notFoundStep: () => null,
    next: (snapshot, queried, clocks) => nextCollectionTransition(snapshot, queried, clocks),
  },
  payout: {
    ...MONEY_OUT,
    next: (snapshot, queried, { notFoundGraceMs }) => nextPayoutTransition(snapshot, queried, notFoundGraceMs),
  },
  reversal: {
    ...MONEY_OUT,
    isNeverSent: (snapshot, nowMs) => !isFinal(snapshot.state) && isRefundNeverSent(snapshot, nowMs),
    // A refund that came back to us leads to no transition.
    isAcceptanceUnrecorded: (snapshot, status) =>
      MONEY_OUT.isAcceptanceUnrecorded(snapshot, status) || (!snapshot.isAccepted && status.kind === 'returned'),
    next: (snapshot, queried, { notFoundGraceMs }) => nextReversalTransition(snapshot, queried, notFoundGraceMs),
  },
};

// An accepted prompt was sent, perhaps by an older version that recorded no send.
function sendOfPrompt({ promptDeadlineAtMs, promptExpiresAtMs, isSendBegun }: CollectionSnapshot) {
  return { sendDeadlineAtMs: promptDeadlineAtMs, isSendBegun: isSendBegun || promptExpiresAtMs !== null };
}
