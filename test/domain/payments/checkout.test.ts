// When a checkout takes another attempt, and what it is called meanwhile.
import assert from 'node:assert/strict';
import { checkoutState, refusalOfAttempt, type Attempt, type Checkout } from '../../../src/domain/payments/checkout.ts';
import { COLLECTION_STATES, type CollectionState } from '../../../src/domain/payments/collection.ts';
import { FAILURE_CODES, type FailureCode } from '../../../src/domain/payments/failure.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');
const WAIT_MS = 120_000;
const later = (ms: number) => new Date(AT.getTime() + ms);
const ONE_TIME = { use: 'one_time', expiresAt: later(1), cancelledAt: null } as Checkout;
const REUSABLE = { use: 'reusable', expiresAt: null, cancelledAt: null } as Checkout;

const attemptOf = (state: CollectionState, failureCode: FailureCode | null = null, agoMs = 0): Attempt => ({
  ...{ state, failureCode },
  updatedAt: later(-agoMs),
});
const kindOf = (checkout: Checkout, ...earlier: Attempt[]) =>
  refusalOfAttempt(checkout, earlier, AT, WAIT_MS)?.kind ?? 'taken';

describe('a checkout', () => {
  it('takes an attempt after each way in which one can end, or says why not', () => {
    const expected: Record<CollectionState, [string, string]> = {
      initiated: ['live', 'live'],
      prompted: ['live', 'live'],
      reconciling: ['live', 'live'],
      succeeded: ['completed', 'taken'],
      reversed: ['completed', 'taken'],
      failed: ['taken', 'taken'],
      expired: ['waiting', 'taken'],
    };
    for (const state of COLLECTION_STATES) {
      const earlier = attemptOf(state, state === 'expired' ? 'prompt_expired' : null);
      assert.deepEqual([kindOf(ONE_TIME, earlier), kindOf(REUSABLE, earlier)], expected[state], state);
    }
  });

  it('asks nobody to pay again while the first attempt can still be paid', () => {
    for (const code of FAILURE_CODES) {
      const [now, afterwards] = [0, WAIT_MS].map((agoMs) => kindOf(ONE_TIME, attemptOf('expired', code, agoMs)));
      if (code === 'unknown') assert.deepEqual([now, afterwards], ['undecided', 'undecided'], code);
      // Nobody was asked to pay.
      else if (code === 'service_unavailable') assert.deepEqual([now, afterwards], ['taken', 'taken'], code);
      else assert.deepEqual([now, afterwards], ['waiting', 'taken'], code);
    }
    const refusal = refusalOfAttempt(ONE_TIME, [attemptOf('expired', 'prompt_expired', 1000)], AT, WAIT_MS);
    assert.deepEqual(refusal, { kind: 'waiting', until: later(WAIT_MS - 1000) });
    assert.equal(kindOf(ONE_TIME, attemptOf('failed'), attemptOf('expired', 'unknown', WAIT_MS)), 'undecided');
  });

  it('is completed by money that came in, also late, and otherwise cancelled or expired', () => {
    const [cancelled, expired] = [
      { ...ONE_TIME, cancelledAt: AT },
      { ...ONE_TIME, expiresAt: AT },
    ];
    assert.deepEqual(
      [ONE_TIME, cancelled, expired, REUSABLE].map((checkout) => checkoutState(checkout, true, AT)),
      ['completed', 'completed', 'completed', 'open'],
    );
    assert.deepEqual(
      [ONE_TIME, cancelled, expired, REUSABLE, { ...REUSABLE, cancelledAt: AT }].map((checkout) =>
        checkoutState(checkout, false, AT),
      ),
      ['open', 'cancelled', 'expired', 'open', 'cancelled'],
    );
    assert.deepEqual([kindOf(cancelled), kindOf(expired)], ['cancelled', 'expired']);
  });
});
