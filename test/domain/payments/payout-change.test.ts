// What a fact makes of a payout: every state, every fact.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type Payout } from '../../../src/domain/payments/payout.ts';
import { changePayout, type PayoutStep } from '../../../src/domain/payments/payout-change.ts';
import { AT } from './collections.ts';
import { payoutWith } from './payouts.ts';

const OVERDUE_AFTER_MS = 100;
const NOW = new Date(AT.getTime() + 60_000);
const SEND_DEADLINE = new Date(NOW.getTime() + 300_000);
const PERSON = newId('usr');

/** Each fact, and what it writes besides the state. */
const STEPS: readonly (readonly [PayoutStep, Partial<Payout>])[] = [
  [{ fact: 'approved', sendDeadlineAt: SEND_DEADLINE }, { sendDeadlineAt: SEND_DEADLINE }],
  [
    { fact: 'refused', by: PERSON, reason: 'wrong person' },
    { decidedBy: PERSON, rejectionReason: 'wrong person' },
  ],
  [{ fact: 'withdrawn', by: PERSON }, { decidedBy: PERSON }],
  [{ fact: 'lapsed' }, {}],
  [{ fact: 'outcome_unknown' }, {}],
  [{ fact: 'paid', operatorReceipt: '42' }, {}],
  [{ fact: 'declined', failureCode: 'payer_not_found' }, { failureCode: 'payer_not_found' }],
  [{ fact: 'never_taken', askedAtMs: 1 }, { failureCode: 'operator_unavailable' }],
  [{ fact: 'returned' }, { amountReversedMinor: 5000n }],
];

describe('a change of a payout', () => {
  for (const state of PAYOUT_STATES) {
    for (const [step, written] of STEPS) {
      const to = PAYOUT_TRANSITIONS[state][step.fact];
      it(`from ${state} by ${step.fact} ${to === undefined ? 'is none' : `leads to ${to}`}`, () => {
        const sendDeadlineAt = state === 'queued' ? null : AT;
        const before = payoutWith({ state, version: 3, sendDeadlineAt });
        const change = changePayout(before, step, NOW, OVERDUE_AFTER_MS);
        if (to === undefined) {
          assert.equal(change, null);
          return;
        }
        assert.equal(change?.before, before);
        assert.deepEqual(change.after, {
          ...before,
          state: to,
          previousState: state,
          version: 4,
          updatedAt: NOW,
          ...written,
        });
        assert.equal(change.operatorReceipt, step.fact === 'paid' ? '42' : null);
        const isUnderWay = to === 'released' || to === 'reconciling';
        assert.deepEqual(change.checkDueAt, isUnderWay ? new Date(NOW.getTime() + OVERDUE_AFTER_MS) : null);
      });
    }
  }

  it('tries every fact there is', () => {
    const known = new Set(Object.values(PAYOUT_TRANSITIONS).flatMap((facts) => Object.keys(facts)));
    assert.deepEqual(STEPS.map(([{ fact }]) => fact).sort(), [...known].sort());
  });

  it('keeps who approved it, and how many had to', () => {
    const approvals = [{ userId: PERSON, approvedAt: AT }];
    const before = payoutWith({ state: 'released', approvals, approvalsRequired: 1, sendDeadlineAt: SEND_DEADLINE });
    const after = changePayout(before, { fact: 'paid', operatorReceipt: '42' }, NOW, OVERDUE_AFTER_MS)?.after;
    assert.deepEqual([after?.approvals, after?.approvalsRequired], [approvals, 1]);
  });
});
