// Which transition of a payout follows: every state, every operator status, every relation of now to the limits.
import assert from 'node:assert/strict';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type PayoutState } from '../../../src/domain/payments/payout.ts';
import {
  nextPayoutTransition,
  type PayoutSnapshot,
  type PayoutOutcomeInput,
} from '../../../src/domain/payments/payout-progress.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import { DEADLINE_MS, GRACE_MS, isNeverAccepted, rulesOfUnpaid, statusesWhenDeclined } from './money-out-rules.ts';
import { itFollowsTheTable, type ProgressRule } from './transition-cases.ts';

const STATUSES = statusesWhenDeclined('payer_not_found');

// Each boundary, the millisecond before it, and far beyond.
const MOMENTS = [
  0,
  DEADLINE_MS - 1,
  DEADLINE_MS,
  DEADLINE_MS + GRACE_MS - 1,
  DEADLINE_MS + GRACE_MS,
  10_000_000,
  100_000_000_000,
];

type Case = {
  state: PayoutState;
  status: OperatorStatus;
  nowMs: number;
  deadlineMs: number | null;
  hasEvidence: boolean;
};
type Rule = ProgressRule<Case, PayoutOutcomeInput | null>;

const isSent = ({ state }: Case) => state === 'released' || state === 'reconciling';

// The rules written once more, as a table that is read from the top: the first rule that fits applies.
const RULES: readonly Rule[] = [
  {
    title: 'records returned when the operator returned a succeeded payout',
    fits: ({ state, status }) => state === 'succeeded' && status.kind === 'returned',
    records: () => ({ kind: 'returned' }),
  },
  {
    title: 'records nothing for a payout that is not released yet, or is final',
    fits: (given) => !isSent(given),
    records: () => null,
  },
  {
    title: 'records nothing for a payout that could not have been sent',
    fits: ({ deadlineMs }) => deadlineMs === null,
    records: () => null,
  },
  {
    title: 'records paid when the operator paid, even if it returned the money since',
    fits: ({ status }) => status.kind === 'paid' || status.kind === 'returned',
    records: () => ({ kind: 'paid', operatorReceipt: '42' }),
  },
  ...rulesOfUnpaid('payer_not_found'),
];

const CASES: readonly Case[] = PAYOUT_STATES.flatMap((state) =>
  STATUSES.flatMap((status) =>
    MOMENTS.flatMap((nowMs) =>
      [DEADLINE_MS, null].flatMap((deadlineMs) =>
        [true, false].map((hasEvidence) => ({ state, status, nowMs, deadlineMs, hasEvidence })),
      ),
    ),
  ),
);

function decide({ state, status, nowMs, deadlineMs, hasEvidence }: Case): PayoutOutcomeInput | null {
  const snapshot: PayoutSnapshot = {
    state,
    approvals: 1,
    approvalsRequired: 1,
    expiresAtMs: 500_000,
    sendDeadlineAtMs: deadlineMs,
    isSendBegun: true,
    isAccepted: false,
    notFoundCount: 0,
    hasNotFoundEvidence: hasEvidence,
  };
  return nextPayoutTransition(snapshot, { status, queriedAtMs: nowMs }, GRACE_MS);
}

describe('the progress of a payout', () => {
  itFollowsTheTable(RULES, CASES, decide, PAYOUT_TRANSITIONS);

  it('records paid only when the operator status says so', () => {
    for (const given of CASES) {
      if (decide(given)?.kind !== 'paid') continue;
      assert.ok(given.status.kind === 'paid' || given.status.kind === 'returned', JSON.stringify(given));
    }
  });

  it('voids the hold only when the operator declines, or never accepted the payout and never will', () => {
    for (const given of CASES) {
      const transition = decide(given)?.kind;
      if (transition === 'declined') assert.equal(given.status.kind, 'declined', JSON.stringify(given));
      if (transition === 'never_accepted')
        assert.ok(given.deadlineMs !== null && isNeverAccepted(given), JSON.stringify(given));
    }
  });

  it('never makes a payout final by waiting alone, however long', () => {
    for (const given of CASES.filter(({ status }) => status.kind === 'pending' || status.kind === 'unknown')) {
      assert.ok([undefined, 'outcome_unknown'].includes(decide(given)?.kind), JSON.stringify(given));
    }
  });

  it('never voids the hold on not_found once the operator accepted the payout, however late that comes', () => {
    for (const state of ['released', 'reconciling'] as const) {
      const snapshot: PayoutSnapshot = {
        state,
        approvals: 1,
        approvalsRequired: 1,
        expiresAtMs: 0,
        sendDeadlineAtMs: 1000,
        isSendBegun: true,
        isAccepted: true,
        notFoundCount: 9,
        hasNotFoundEvidence: true,
      };
      const transition = nextPayoutTransition(snapshot, { status: { kind: 'not_found' }, queriedAtMs: 1_000_000 }, 10);
      assert.deepEqual(transition, state === 'released' ? { kind: 'outcome_unknown' } : null);
    }
  });
});
