// Which states of a payment are final, and in which of them it is rechecked.
import assert from 'node:assert/strict';
import { COLLECTION_STATES } from '../../../src/domain/payments/collection.ts';
import { isFinal, isRecheckable, type PaymentState } from '../../../src/domain/payments/payment.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { REVERSAL_STATES } from '../../../src/domain/payments/reversal.ts';

// Written out once more from the contract: whether each state is final, and whether it is recheckable.
const EXPECTED: Readonly<Record<PaymentState, readonly [isFinal: boolean, isRecheckable: boolean]>> = {
  initiated: [false, false],
  prompted: [false, false],
  queued: [false, false],
  released: [false, false],
  reconciling: [false, false],
  succeeded: [true, true],
  failed: [true, true],
  rejected: [true, false],
  cancelled: [true, false],
  expired: [true, false],
  reversed: [true, false],
};

const STATES: Readonly<Record<string, readonly PaymentState[]>> = {
  collection: COLLECTION_STATES,
  payout: PAYOUT_STATES,
  reversal: REVERSAL_STATES,
};

for (const [kind, states] of Object.entries(STATES)) {
  describe(`the state of a ${kind}`, () => {
    for (const state of states) {
      const [final, recheckable] = EXPECTED[state];
      it(`is ${final ? 'final' : 'pending'} and ${recheckable ? '' : 'not '}recheckable when it is ${state}`, () => {
        assert.deepEqual([isFinal(state), isRecheckable(state)], [final, recheckable]);
      });
    }
  });
}
