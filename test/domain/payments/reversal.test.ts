// Reversals: the table of transitions, which transition follows from an operator status, and what merchants see.
import assert from 'node:assert/strict';
import { payoutFailure } from '../../../src/domain/payments/failure.ts';
import {
  REVERSAL_STATES,
  REVERSAL_TRANSITIONS,
  reversalObject,
  type ReversalState,
  type ReversalTransitionKind,
} from '../../../src/domain/payments/reversal.ts';
import {
  nextReversalTransition,
  type ReversalTransitionInput,
} from '../../../src/domain/payments/reversal-progress.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import { MONEY_OUT_TRANSITIONS, SHOWN_UNDECIDED } from './payouts.ts';
import { reversalWith } from './reversals.ts';
import { DEADLINE_MS, GRACE_MS, rulesOfUnpaid, statusesWhenDeclined } from './money-out-rules.ts';
import { itFollowsRules, itIsTheTable, type ProgressRule } from './transition-cases.ts';

const MOMENTS = [0, DEADLINE_MS - 1, DEADLINE_MS, DEADLINE_MS + GRACE_MS - 1, DEADLINE_MS + GRACE_MS, 10_000_000];
const STATUSES = statusesWhenDeclined('operator_rejected');

type Case = { state: ReversalState; status: OperatorStatus; nowMs: number; hasEvidence: boolean };
type Rule = ProgressRule<Case, ReversalTransitionInput | null>;

// Read from the top: the first rule that fits applies.
const RULES: readonly Rule[] = [
  {
    title: 'records nothing for a final reversal',
    fits: ({ state }) => state !== 'released' && state !== 'reconciling',
    records: () => null,
  },
  {
    title: 'records refunded when the operator paid the refund',
    fits: ({ status }) => status.kind === 'paid',
    records: () => ({ kind: 'refunded' }),
  },
  ...rulesOfUnpaid('operator_rejected'),
];

const CASES: readonly Case[] = REVERSAL_STATES.flatMap((state) =>
  STATUSES.flatMap((status) =>
    MOMENTS.flatMap((nowMs) => [true, false].map((hasEvidence) => ({ state, status, nowMs, hasEvidence }))),
  ),
);

const TRANSITION_KINDS: readonly ReversalTransitionKind[] = [
  'released',
  'rejected',
  'cancelled',
  'approval_expired',
  'outcome_unknown',
  'refunded',
  'declined',
  'never_sent',
  'never_accepted',
];

// Every other pair of a state and a kind of transition leads to none.
const EXPECTED: Readonly<Record<string, ReversalState>> = {
  ...MONEY_OUT_TRANSITIONS,
  'released refunded': 'succeeded',
  'reconciling refunded': 'succeeded',
};

describe('the table of reversal transitions', () => {
  itIsTheTable(REVERSAL_TRANSITIONS, TRANSITION_KINDS, EXPECTED);
});

const APPROVED = { approvals: 1, approvalsRequired: 1, expiresAtMs: 0 };

describe('the progress of a reversal', () => {
  itFollowsRules(RULES, CASES, ({ state, status, nowMs, hasEvidence }) =>
    nextReversalTransition(
      {
        ...APPROVED,
        state,
        sendDeadlineAtMs: DEADLINE_MS,
        isSendBegun: true,
        isCollectionReturned: false,
        isAccepted: false,
        notFoundCount: 0,
        hasNotFoundEvidence: hasEvidence,
      },
      { status, queriedAtMs: nowMs },
      GRACE_MS,
    ),
  );
});

describe('a reversal as merchants see it', () => {
  const reversal = reversalWith();

  it('has these fields in this order', () => {
    assert.deepEqual(Object.entries(reversalObject(reversal)), [
      ['id', reversal.id],
      ['collection_id', reversal.collectionId],
      ['state', 'released'],
      ['approval_state', 'approved'],
      ['amount', 5000],
      ['currency', 'UGX'],
      ['phone', '256772000100'],
      ['reference', 'INV-1042'],
      ['failure', null],
      ['operator_reference', 'bab7498a-e092-4d89-8fba-2f337846fdb9'],
      ['requested_by', reversal.createdBy],
      ...SHOWN_UNDECIDED,
    ]);
  });

  it('says why it failed', () => {
    const shown = reversalObject({ ...reversal, state: 'failed', failureCode: 'operator_rejected' });
    assert.deepEqual(shown.failure, payoutFailure('operator_rejected'));
  });

  it('stays pending on not_found once the operator accepted the refund', () => {
    const snapshot = {
      ...APPROVED,
      state: 'reconciling',
      sendDeadlineAtMs: 1000,
      isSendBegun: true,
      isCollectionReturned: false,
      isAccepted: true,
      notFoundCount: 9,
      hasNotFoundEvidence: true,
    } as const;
    assert.equal(nextReversalTransition(snapshot, { status: { kind: 'not_found' }, queriedAtMs: 1_000_000 }, 10), null);
  });
});
