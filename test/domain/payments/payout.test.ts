// Payouts: the table of transitions, the approval states, and what merchants see.
import assert from 'node:assert/strict';
import { FAILURE_CODES, payoutFailure } from '../../../src/domain/payments/failure.ts';
import { MAX_AMOUNT_MINOR } from '../../../src/domain/money.ts';
import { APPROVAL_STATES, approvalState } from '../../../src/domain/payments/approval.ts';
import {
  PAYOUT_STATES,
  PAYOUT_TRANSITIONS,
  payoutObject,
  statesOfApproval,
  type PayoutTransitionKind,
  type PayoutState,
} from '../../../src/domain/payments/payout.ts';
import { newId } from '../../../src/domain/ids.ts';
import { isFinal } from '../../../src/domain/payments/payment.ts';
import { AT } from './collections.ts';
import { MONEY_OUT_TRANSITIONS, payoutWith, SHOWN_UNDECIDED } from './payouts.ts';
import { itIsTheTable } from './transition-cases.ts';

const TRANSITION_KINDS: readonly PayoutTransitionKind[] = [
  'released',
  'rejected',
  'cancelled',
  'approval_expired',
  'outcome_unknown',
  'paid',
  'declined',
  'never_sent',
  'never_accepted',
  'returned',
];

// Every other pair of a state and a kind of transition leads to none.
const EXPECTED: Readonly<Record<string, PayoutState>> = {
  ...MONEY_OUT_TRANSITIONS,
  'released paid': 'succeeded',
  'reconciling paid': 'succeeded',
  'succeeded returned': 'reversed',
};

// The contract's table: the approval state in each state.
const APPROVAL: Readonly<Record<PayoutState, string>> = {
  ...{ queued: 'pending', rejected: 'rejected', cancelled: 'cancelled', expired: 'expired' },
  ...{ released: 'approved', reconciling: 'approved', succeeded: 'approved', failed: 'approved', reversed: 'approved' },
};

describe('the table of payout transitions', () => {
  itIsTheTable(PAYOUT_TRANSITIONS, TRANSITION_KINDS, EXPECTED);

  it('lets money leave only through a release', () => {
    const toPaid = PAYOUT_STATES.filter((state) => Object.values(PAYOUT_TRANSITIONS[state]).includes('succeeded'));
    assert.deepEqual(toPaid, ['released', 'reconciling']);
    assert.deepEqual(
      Object.entries(PAYOUT_TRANSITIONS.queued)
        .filter(([, to]) => to === 'released')
        .flat(),
      ['released', 'released'],
    );
  });

  it('leaves a payout pending while it is queued, released or reconciling', () => {
    assert.deepEqual(
      PAYOUT_STATES.filter((state) => !isFinal(state)),
      ['queued', 'released', 'reconciling'],
    );
  });
});

describe('the approval state of a payout', () => {
  it('is the one of the contract in each state', () => {
    for (const state of PAYOUT_STATES) assert.equal(approvalState(state), APPROVAL[state], state);
  });

  it('has five values to filter by, each for some states and no state twice', () => {
    assert.deepEqual([...APPROVAL_STATES].sort(), [...new Set(Object.values(APPROVAL))].sort());
    assert.deepEqual(APPROVAL_STATES.flatMap(statesOfApproval).sort(), [...PAYOUT_STATES].sort());
    for (const approval of APPROVAL_STATES) {
      for (const state of statesOfApproval(approval)) assert.equal(approvalState(state), approval);
    }
  });
});

describe('a payout as merchants see it', () => {
  it('has these fields in this order after its creation', () => {
    const payout = payoutWith({ metadata: { month: '1' } });
    assert.deepEqual(Object.entries(payoutObject(payout)), [
      ['id', payout.id],
      ['state', 'queued'],
      ['approval_state', 'pending'],
      ['amount', 5000],
      ['currency', 'UGX'],
      ['reference', 'SAL-1042'],
      ['phone', '256772000100'],
      ['operator', 'mtn-momo'],
      ['description', null],
      ['metadata', { month: '1' }],
      ['failure', null],
      ['operator_reference', 'bab7498a-e092-4d89-8fba-2f337846fdb9'],
      ['amount_reversed', 0],
      ['payee_name', null],
      ['created_by', payout.createdBy],
      ...SHOWN_UNDECIDED,
    ]);
  });

  it('names who approved it and when, in the order of the approvals', () => {
    const [first, second] = [newId('usr'), newId('usr')];
    const approvals = [
      { userId: first, approvedAt: AT, attestation: 'attested' },
      { userId: second, approvedAt: new Date(AT.getTime() + 1), attestation: null },
    ];
    assert.deepEqual(payoutObject(payoutWith({ state: 'released', approvals })).approvals, [
      { user_id: first, approved_at: '2026-01-31T12:00:00.000Z' },
      { user_id: second, approved_at: '2026-01-31T12:00:00.001Z' },
    ]);
  });

  it('says why it was rejected, and how much of it was reversed', () => {
    const rejected = payoutWith({ state: 'rejected', decidedBy: newId('usr'), rejectionReason: 'wrong person' });
    assert.equal(payoutObject(rejected).rejection_reason, 'wrong person');
    assert.equal(payoutObject(payoutWith({ state: 'reversed', amountReversedMinor: 5000n })).amount_reversed, 5000);
  });

  it('shows the largest amount without loss', () => {
    assert.equal(payoutObject(payoutWith({ amountMinor: MAX_AMOUNT_MINOR })).amount, 9_007_199_254_740_991);
  });

  it('says why it failed, for every code', () => {
    for (const failureCode of FAILURE_CODES) {
      assert.deepEqual(payoutObject(payoutWith({ state: 'failed', failureCode })).failure, payoutFailure(failureCode));
    }
  });
});
