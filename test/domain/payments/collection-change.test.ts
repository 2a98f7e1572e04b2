// What a fact makes of a collection: every state, every fact.
import assert from 'node:assert/strict';
import { COLLECTION_STATES, COLLECTION_TRANSITIONS } from '../../../src/domain/payments/collection.ts';
import { changeCollection } from '../../../src/domain/payments/collection-change.ts';
import type { CollectionTransitionInput } from '../../../src/domain/payments/collection-progress.ts';
import { AT, collectionWith } from './collections.ts';

const CLOCKS = { promptWindowMs: 1000, overdueAfterMs: 100, lateCheckEveryMs: 10_000 };
const NOW = new Date(AT.getTime() + 60_000);
const TRANSITION_KINDS: readonly CollectionTransitionInput[] = [
  { kind: 'prompt_accepted' },
  { kind: 'outcome_unknown' },
  { kind: 'paid', operatorReceipt: '42' },
  { kind: 'declined', failureCode: 'wrong_pin' },
  { kind: 'expired', failureCode: 'prompt_expired' },
  { kind: 'returned' },
];

const inMs = (ms: number) => new Date(NOW.getTime() + ms);

describe('a change of a collection', () => {
  for (const state of COLLECTION_STATES) {
    for (const transition of TRANSITION_KINDS) {
      const to = COLLECTION_TRANSITIONS[state][transition.kind];
      it(`from ${state} by ${transition.kind} ${to === undefined ? 'is none' : `leads to ${to}`}`, () => {
        const before = collectionWith({ state, version: 3, failureCode: state === 'expired' ? 'unknown' : null });
        const change = changeCollection(before, transition, NOW, CLOCKS);
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
          failureCode: 'failureCode' in transition ? transition.failureCode : null,
          promptExpiresAt: to === 'prompted' ? inMs(1000) : null,
          amountReversedMinor: to === 'reversed' ? before.amountMinor : 0n,
        });
        assert.equal(change.operatorReceipt, transition.kind === 'paid' ? '42' : null);
      });
    }
  }

  it('keeps when the prompt on the handset runs out', () => {
    const before = collectionWith({ state: 'prompted', promptExpiresAt: AT });
    const change = changeCollection(before, { kind: 'outcome_unknown' }, NOW, CLOCKS);
    assert.deepEqual(change?.after.promptExpiresAt, AT);
  });

  const checks: readonly (readonly [string, CollectionTransitionInput, Date | null])[] = [
    ['an open prompt after it should have ended', { kind: 'prompt_accepted' }, inMs(1100)],
    ['an unknown outcome before long', { kind: 'outcome_unknown' }, inMs(100)],
    ['an expired one after a while, for a late payment', { kind: 'expired', failureCode: 'unknown' }, inMs(10_000)],
    ['a failed one never again', { kind: 'declined', failureCode: 'wrong_pin' }, null],
  ];
  for (const [what, transition, due] of checks) {
    it(`is checked by the sweep: ${what}`, () => {
      assert.deepEqual(changeCollection(collectionWith(), transition, NOW, CLOCKS)?.checkDueAt, due);
    });
  }

  it('to a success, or back from it, is checked no more', () => {
    const paid = { kind: 'paid', operatorReceipt: '42' } as const;
    assert.equal(changeCollection(collectionWith({ state: 'prompted' }), paid, NOW, CLOCKS)?.checkDueAt, null);
    const returned = changeCollection(collectionWith({ state: 'succeeded' }), { kind: 'returned' }, NOW, CLOCKS);
    assert.equal(returned?.checkDueAt, null);
  });
});
