// How a transition input changes a payout: every state with every input.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, PAYOUT_TRANSITIONS, type Payout } from '../../../src/domain/payments/payout.ts';
import { changePayout, type PayoutTransitionInput } from '../../../src/domain/payments/payout-change.ts';
import { AT } from './collections.ts';
import { payoutWith } from './payouts.ts';

const STALE_AFTER_MS = 100;
const LATE_AFTER_MS = 10_000;
const RETURN_AFTER_MS = 30_000;
const CLOCKS = {
  staleAfterMs: STALE_AFTER_MS,
  lateCheckAgesMs: [LATE_AFTER_MS, 20_000],
  returnCheckAgesMs: [RETURN_AFTER_MS],
};
const NOW = new Date(AT.getTime() + 60_000);
const SEND_DEADLINE = new Date(NOW.getTime() + 300_000);
const PERSON = newId('usr');

/** Each input, and what it writes besides the state. */
const INPUTS: readonly (readonly [PayoutTransitionInput, Partial<Payout>])[] = [
  [
    { kind: 'released', sendDeadlineAt: SEND_DEADLINE, releaseAttestation: 'attested' },
    { sendDeadlineAt: SEND_DEADLINE, releaseAttestation: 'attested' },
  ],
  [
    { kind: 'rejected', by: PERSON, reason: 'wrong person' },
    { decidedBy: PERSON, rejectionReason: 'wrong person' },
  ],
  [{ kind: 'cancelled', by: PERSON }, { decidedBy: PERSON }],
  [{ kind: 'approval_expired' }, {}],
  [{ kind: 'outcome_unknown' }, {}],
  [{ kind: 'paid', operatorReceipt: '42' }, { operatorReceipt: '42' }],
  [{ kind: 'declined', failureCode: 'payer_not_found' }, { failureCode: 'payer_not_found' }],
  [{ kind: 'never_sent' }, { failureCode: 'service_unavailable' }],
  [{ kind: 'never_accepted', queriedAtMs: 1 }, { failureCode: 'operator_unavailable' }],
  [{ kind: 'returned' }, { amountReversedMinor: 5000n }],
];

describe('a transition input of a payout', () => {
  for (const state of PAYOUT_STATES) {
    for (const [input, written] of INPUTS) {
      const to = PAYOUT_TRANSITIONS[state][input.kind];
      it(`${input.kind} ${to === undefined ? 'changes nothing in' : `leads to ${to} from`} ${state}`, () => {
        const sendDeadlineAt = state === 'queued' ? null : AT;
        const before = payoutWith({ state, version: 3, sendDeadlineAt });
        const change = changePayout(before, input, NOW, CLOCKS);
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
        assert.equal(change.failedBy, to === 'failed' ? input.kind : null);
        const isPending = to === 'released' || to === 'reconciling';
        // The operator may still turn out to have paid what it did not know, and may return what it paid.
        const whenFinal = { never_accepted: LATE_AFTER_MS, paid: RETURN_AFTER_MS }[input.kind as string] ?? null;
        const dueAfterMs = isPending ? STALE_AFTER_MS : whenFinal;
        assert.deepEqual(change.checkDueAt, dueAfterMs === null ? null : new Date(NOW.getTime() + dueAfterMs));
      });
    }
  }

  it('is tested with every kind of transition', () => {
    const known = new Set(Object.values(PAYOUT_TRANSITIONS).flatMap((transitions) => Object.keys(transitions)));
    assert.deepEqual(INPUTS.map(([{ kind }]) => kind).sort(), [...known].sort());
  });

  it('leaves the approvals, and how many of them the payout needed', () => {
    const approvals = [{ userId: PERSON, approvedAt: AT, attestation: 'attested' }];
    const before = payoutWith({ state: 'released', approvals, approvalsRequired: 1, sendDeadlineAt: SEND_DEADLINE });
    const after = changePayout(before, { kind: 'paid', operatorReceipt: '42' }, NOW, CLOCKS)?.after;
    assert.deepEqual([after?.approvals, after?.approvalsRequired], [approvals, 1]);
  });
});
