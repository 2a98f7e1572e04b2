// How a transition input changes a collection: every state with every input.
import assert from 'node:assert/strict';
import { COLLECTION_STATES, COLLECTION_TRANSITIONS } from '../../../src/domain/payments/collection.ts';
import { changeCollection } from '../../../src/domain/payments/collection-change.ts';
import type { CollectionTransitionInput } from '../../../src/domain/payments/collection-progress.ts';
import { FAILURE_CODES } from '../../../src/domain/payments/failure.ts';
import { AT, collectionWith } from './collections.ts';

const CLOCKS = {
  promptWindowMs: 1000,
  staleAfterMs: 100,
  lateCheckAgesMs: [10_000, 20_000],
  returnCheckAgesMs: [30_000],
};
const NOW = new Date(AT.getTime() + 60_000);
const INPUTS: readonly CollectionTransitionInput[] = [
  { kind: 'prompt_accepted' },
  { kind: 'outcome_unknown' },
  { kind: 'paid', operatorReceipt: '42' },
  { kind: 'declined', failureCode: 'wrong_pin' },
  { kind: 'expired', failureCode: 'prompt_expired' },
  { kind: 'never_sent' },
  { kind: 'never_accepted', queriedAtMs: 1 },
  { kind: 'undecided', queriedAtMs: 1 },
  { kind: 'returned' },
];
const FAILURES = { never_accepted: 'operator_unavailable', undecided: 'unknown' } as const;
const failureOf = (input: CollectionTransitionInput) =>
  input.kind === 'never_sent'
    ? 'service_unavailable'
    : 'queriedAtMs' in input
      ? FAILURES[input.kind]
      : 'failureCode' in input
        ? input.failureCode
        : null;

const inMs = (ms: number) => new Date(NOW.getTime() + ms);

describe('a transition input of a collection', () => {
  for (const state of COLLECTION_STATES) {
    for (const input of INPUTS) {
      const to = COLLECTION_TRANSITIONS[state][input.kind];
      it(`${input.kind} ${to === undefined ? 'changes nothing in' : `leads to ${to} from`} ${state}`, () => {
        const before = collectionWith({ state, version: 3, failureCode: state === 'expired' ? 'unknown' : null });
        const change = changeCollection(before, input, NOW, CLOCKS);
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
          failureCode: failureOf(input),
          sendBegunAt: to === 'prompted' ? before.createdAt : null,
          promptExpiresAt: to === 'prompted' ? inMs(1000) : null,
          amountReversedMinor: to === 'reversed' ? before.amountMinor : 0n,
          operatorReceipt: input.kind === 'paid' ? '42' : null,
        });
      });
    }
  }

  it('changes nothing when an expiry that the operator explained turns out to be a decline', () => {
    for (const failureCode of FAILURE_CODES.filter((code) => code !== 'unknown')) {
      const before = collectionWith({ state: 'expired', failureCode });
      const change = changeCollection(before, { kind: 'declined', failureCode: 'wrong_pin' }, NOW, CLOCKS);
      assert.equal(change, null, failureCode);
    }
  });

  it('leaves the time at which the prompt expires', () => {
    const before = collectionWith({ state: 'prompted', promptExpiresAt: AT });
    const change = changeCollection(before, { kind: 'outcome_unknown' }, NOW, CLOCKS);
    assert.deepEqual(change?.after.promptExpiresAt, AT);
  });

  const checks: readonly (readonly [string, CollectionTransitionInput, Date | null])[] = [
    ['after the prompt window when the prompt is accepted', { kind: 'prompt_accepted' }, inMs(1100)],
    ['soon when the outcome is unknown', { kind: 'outcome_unknown' }, inMs(100)],
    ['later when it expired, to find a late success', { kind: 'never_accepted', queriedAtMs: 1 }, inMs(10_000)],
    ['later when it was never sent, for what an older version may have sent', { kind: 'never_sent' }, inMs(10_000)],
    ['never when it failed', { kind: 'declined', failureCode: 'wrong_pin' }, null],
  ];
  for (const [when, input, due] of checks) {
    it(`has the sweep check the collection ${when}`, () => {
      assert.deepEqual(changeCollection(collectionWith(), input, NOW, CLOCKS)?.checkDueAt, due);
    });
  }

  it('has the collection rechecked later when it is paid, and no more when it is returned', () => {
    const paid = { kind: 'paid', operatorReceipt: '42' } as const;
    const prompted = collectionWith({ state: 'prompted' });
    assert.deepEqual(changeCollection(prompted, paid, NOW, CLOCKS)?.checkDueAt, inMs(30_000));
    const returned = changeCollection(collectionWith({ state: 'succeeded' }), { kind: 'returned' }, NOW, CLOCKS);
    assert.equal(returned?.checkDueAt, null);
  });
});
