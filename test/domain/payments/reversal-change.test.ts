// How a transition input changes a reversal: every state with every input.
import assert from 'node:assert/strict';
import { REVERSAL_STATES, REVERSAL_TRANSITIONS, type Reversal } from '../../../src/domain/payments/reversal.ts';
import { changeReversal, type ReversalChangeInput } from '../../../src/domain/payments/reversal-change.ts';
import { newId } from '../../../src/domain/ids.ts';
import { AT } from './collections.ts';
import { reversalWith } from './reversals.ts';

const STALE_AFTER_MS = 100;
const LATE_AFTER_MS = 10_000;
const RETURN_AFTER_MS = 30_000;
const CLOCKS = {
  staleAfterMs: STALE_AFTER_MS,
  lateCheckAgesMs: [LATE_AFTER_MS, 20_000],
  returnCheckAgesMs: [RETURN_AFTER_MS],
};
const NOW = new Date(AT.getTime() + 60_000);

const PERSON = newId('usr');

/** Each input, and what it writes besides the state. */
const INPUTS: readonly (readonly [ReversalChangeInput, Partial<Reversal>])[] = [
  [
    { kind: 'released', sendDeadlineAt: NOW, releaseAttestation: 'attested' },
    { sendDeadlineAt: NOW, releaseAttestation: 'attested' },
  ],
  [
    { kind: 'rejected', by: PERSON, reason: 'wrong one' },
    { decidedBy: PERSON, rejectionReason: 'wrong one' },
  ],
  [{ kind: 'cancelled', by: PERSON }, { decidedBy: PERSON }],
  [{ kind: 'approval_expired' }, {}],
  [{ kind: 'outcome_unknown' }, {}],
  [{ kind: 'refunded' }, { isCollectionReturned: true }],
  [{ kind: 'declined', failureCode: 'payer_not_found' }, { failureCode: 'payer_not_found' }],
  [{ kind: 'never_sent' }, { failureCode: 'service_unavailable' }],
  [{ kind: 'never_accepted', queriedAtMs: 1 }, { failureCode: 'operator_unavailable' }],
];

describe('a transition input of a reversal', () => {
  for (const state of REVERSAL_STATES) {
    for (const [input, written] of INPUTS) {
      const to = REVERSAL_TRANSITIONS[state][input.kind];
      it(`${input.kind} ${to === undefined ? 'changes nothing in' : `leads to ${to} from`} ${state}`, () => {
        const before = reversalWith({ state });
        const change = changeReversal(before, input, NOW, CLOCKS);
        if (to === undefined) {
          assert.equal(change, null);
          return;
        }
        // The operator may still turn out to have made the refund that it did not know.
        const whenFinal = { never_accepted: LATE_AFTER_MS, refunded: RETURN_AFTER_MS }[input.kind as string] ?? null;
        const dueAfterMs = to === 'reconciling' || to === 'released' ? STALE_AFTER_MS : whenFinal;
        assert.deepEqual(change, {
          before,
          after: { ...before, state: to, updatedAt: NOW, ...written },
          checkDueAt: dueAfterMs === null ? null : new Date(NOW.getTime() + dueAfterMs),
          failedBy: to === 'failed' ? input.kind : null,
          requiresNotAccepted: input.kind === 'never_accepted',
          requiresNotSent: input.kind === 'never_sent',
        });
      });
    }
  }

  it('fails because the money is back already, and not by our outage, when the operator returned the collection', () => {
    const before = reversalWith({ isCollectionReturned: true });
    assert.equal(changeReversal(before, { kind: 'never_sent' }, NOW, CLOCKS)?.after.failureCode, 'already_returned');
  });

  it('is tested with every kind of transition', () => {
    const known = new Set(Object.values(REVERSAL_TRANSITIONS).flatMap((transitions) => Object.keys(transitions)));
    assert.deepEqual(INPUTS.map(([{ kind }]) => kind).sort(), [...known].sort());
  });
});
