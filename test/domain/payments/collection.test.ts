// Collections: the table of transitions, what merchants see, and when a success is late.
import assert from 'node:assert/strict';
import {
  COLLECTION_STATES,
  COLLECTION_TRANSITIONS,
  collectionObject,
  isLateOutcome,
  type CollectionTransitionKind,
  type CollectionState,
} from '../../../src/domain/payments/collection.ts';
import { FAILURE_CODES, failure } from '../../../src/domain/payments/failure.ts';
import { MAX_AMOUNT_MINOR } from '../../../src/domain/money.ts';
import { AT, collectionWith } from './collections.ts';
import { itIsTheTable } from './transition-cases.ts';

const TRANSITION_KINDS: readonly CollectionTransitionKind[] = [
  'prompt_accepted',
  'outcome_unknown',
  'paid',
  'declined',
  'expired',
  'never_sent',
  'never_accepted',
  'undecided',
  'returned',
];

// Written out once more from the contract: a state and a kind of transition lead to a state; every other pair to none.
const EXPECTED: Readonly<Record<string, CollectionState>> = {
  'initiated prompt_accepted': 'prompted',
  'initiated outcome_unknown': 'reconciling',
  'initiated declined': 'failed',
  'initiated never_sent': 'expired',
  'initiated never_accepted': 'expired',
  'prompted outcome_unknown': 'reconciling',
  'prompted paid': 'succeeded',
  'prompted declined': 'failed',
  'prompted expired': 'expired',
  'reconciling paid': 'succeeded',
  'reconciling declined': 'failed',
  'reconciling expired': 'expired',
  'reconciling never_sent': 'expired',
  'reconciling never_accepted': 'expired',
  'reconciling undecided': 'expired',
  'succeeded returned': 'reversed',
  'expired paid': 'succeeded',
  'expired declined': 'failed',
};

describe('the table of collection transitions', () => {
  itIsTheTable(COLLECTION_TRANSITIONS, TRANSITION_KINDS, EXPECTED);
});

describe('a collection as merchants see it', () => {
  it('has these fields in this order after its creation', () => {
    assert.deepEqual(Object.entries(collectionObject(collectionWith({ metadata: { order: '1' } }))).slice(1), [
      ['state', 'initiated'],
      ['amount', 5000],
      ['currency', 'UGX'],
      ['reference', 'INV-1042'],
      ['phone', '256772000100'],
      ['operator', 'mtn-momo'],
      ['description', null],
      ['metadata', { order: '1' }],
      ['failure', null],
      ['operator_reference', 'bab7498a-e092-4d89-8fba-2f337846fdb9'],
      ['amount_reversed', 0],
      ['created_at', '2026-01-31T12:00:00.000Z'],
      ['updated_at', '2026-01-31T12:00:00.000Z'],
      ['prompt_expires_at', null],
    ]);
  });

  it('shows the largest amount without loss', () => {
    assert.equal(collectionObject(collectionWith({ amountMinor: MAX_AMOUNT_MINOR })).amount, 9_007_199_254_740_991);
  });

  it('says why it failed in a sentence, for every code', () => {
    for (const failureCode of FAILURE_CODES) {
      const shown = collectionObject(collectionWith({ state: 'failed', failureCode })).failure;
      assert.deepEqual(shown, failure(failureCode));
      assert.match(shown.message, /^[A-Z].{20,}\.$/);
    }
  });

  it('has the failure codes of the contract', () => {
    const codes =
      'payer_cancelled wrong_pin insufficient_funds prompt_expired payer_unreachable payer_not_found ' +
      'payer_limit_reached payer_busy amount_not_allowed operator_unavailable service_unavailable already_returned ' +
      'operator_rejected unknown';
    assert.deepEqual([...FAILURE_CODES].sort(), codes.split(' ').sort());
  });
});

describe('the outcome of a collection', () => {
  const after = new Date(AT.getTime() + 1);
  const before = new Date(AT.getTime() - 1);

  it('is late after the collection expired, even within the prompt window', () => {
    const collection = collectionWith({ state: 'succeeded', previousState: 'expired', promptExpiresAt: after });
    assert.ok(isLateOutcome(collection));
  });

  it('is late after the prompt expired', () => {
    const collection = collectionWith({ state: 'succeeded', previousState: 'reconciling', promptExpiresAt: before });
    assert.ok(isLateOutcome(collection));
  });

  it('is not late until the prompt expires, or when no prompt was recorded', () => {
    for (const promptExpiresAt of [AT, after, null]) {
      assert.ok(!isLateOutcome(collectionWith({ state: 'succeeded', previousState: 'prompted', promptExpiresAt })));
    }
  });

  it('is late when the collection failed after it had expired, and not when it failed before', () => {
    assert.ok(isLateOutcome(collectionWith({ state: 'failed', previousState: 'expired' })));
    assert.ok(
      !isLateOutcome(collectionWith({ state: 'failed', previousState: 'reconciling', promptExpiresAt: before })),
    );
  });

  it('is late in no other state', () => {
    for (const state of COLLECTION_STATES.filter((other) => other !== 'succeeded' && other !== 'failed')) {
      assert.ok(!isLateOutcome(collectionWith({ state, previousState: 'expired', promptExpiresAt: before })), state);
    }
  });
});
