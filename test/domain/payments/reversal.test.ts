// Reversals that people ask for: what is made of the operator's word, and what merchants see.
import assert from 'node:assert/strict';
import { payoutFailure } from '../../../src/domain/payments/failure.ts';
import { newId } from '../../../src/domain/ids.ts';
import {
  REVERSAL_STATES,
  reversalObject,
  type Reversal,
  type ReversalState,
} from '../../../src/domain/payments/reversal.ts';
import {
  nextReversalTransition,
  type ReversalTransitionInput,
} from '../../../src/domain/payments/reversal-progress.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import { AT } from './collections.ts';

const DEADLINE_MS = 1_000_000;
const GRACE_MS = 1000;
const MOMENTS = [0, DEADLINE_MS - 1, DEADLINE_MS, DEADLINE_MS + GRACE_MS - 1, DEADLINE_MS + GRACE_MS, 10_000_000];
const STATUSES: readonly OperatorStatus[] = [
  { kind: 'paid', operatorReceipt: '42' },
  { kind: 'returned', operatorReceipt: '42' },
  { kind: 'declined', failureCode: 'operator_rejected' },
  { kind: 'pending' },
  { kind: 'not_found' },
  { kind: 'unknown' },
];

type Case = { state: ReversalState; status: OperatorStatus; nowMs: number };
type Rule = { when: string; fits: (given: Case) => boolean; records: (given: Case) => ReversalTransitionInput | null };

// Read from the top: the first that fits says what is recorded.
const RULES: readonly Rule[] = [
  { when: 'it has ended', fits: ({ state }) => state === 'succeeded' || state === 'failed', records: () => null },
  { when: 'the money went back', fits: ({ status }) => status.kind === 'paid', records: () => ({ kind: 'refunded' }) },
  {
    when: 'the operator refuses',
    fits: ({ status }) => status.kind === 'declined',
    records: () => ({ kind: 'declined', failureCode: 'operator_rejected' }),
  },
  {
    when: 'the operator does not know it, and no send can still be on its way',
    fits: ({ status, nowMs }) => status.kind === 'not_found' && nowMs >= DEADLINE_MS + GRACE_MS,
    records: ({ nowMs }) => ({ kind: 'never_accepted', queriedAtMs: nowMs }),
  },
  {
    when: 'nothing more is sent, and the end is not known',
    fits: ({ state, nowMs }) => state === 'requested' && nowMs >= DEADLINE_MS,
    records: () => ({ kind: 'outcome_unknown' }),
  },
  { when: 'there is only waiting', fits: () => true, records: () => null },
];

const CASES: readonly Case[] = REVERSAL_STATES.flatMap((state) =>
  STATUSES.flatMap((status) => MOMENTS.map((nowMs) => ({ state, status, nowMs }))),
);

describe('what is recorded of the operator’s word on a refund', () => {
  for (const rule of RULES) {
    const cases = CASES.filter((given) => RULES.find(({ fits }) => fits(given)) === rule);
    it(`is as the table says when ${rule.when} (${cases.length} cases)`, () => {
      assert.ok(cases.length > 0);
      for (const { state, status, nowMs } of cases) {
        const recorded = nextReversalTransition(
          { state, sendDeadlineAtMs: DEADLINE_MS, isAccepted: false },
          { status, queriedAtMs: nowMs },
          GRACE_MS,
        );
        assert.deepEqual(recorded, rule.records({ state, status, nowMs }), JSON.stringify({ state, status, nowMs }));
      }
    });
  }
});

describe('a reversal as merchants see it', () => {
  const reversal: Reversal = {
    id: newId('rev'),
    merchantId: newId('mer'),
    collectionId: newId('col'),
    operator: 'mtn-momo',
    state: 'requested',
    operatorReference: 'bab7498a-e092-4d89-8fba-2f337846fdb9',
    failureCode: null,
    requestedBy: newId('usr'),
    createdAt: AT,
    updatedAt: AT,
    sendDeadlineAt: AT,
    acceptedAt: null,
  };

  it('has these fields in this order', () => {
    assert.deepEqual(Object.entries(reversalObject(reversal)), [
      ['id', reversal.id],
      ['collection_id', reversal.collectionId],
      ['state', 'requested'],
      ['failure', null],
      ['operator_reference', 'bab7498a-e092-4d89-8fba-2f337846fdb9'],
      ['requested_by', reversal.requestedBy],
      ['created_at', '2026-01-31T12:00:00.000Z'],
      ['updated_at', '2026-01-31T12:00:00.000Z'],
    ]);
  });

  it('says why it failed', () => {
    const shown = reversalObject({ ...reversal, state: 'failed', failureCode: 'operator_rejected' });
    assert.deepEqual(shown.failure, payoutFailure('operator_rejected'));
  });

  it('is not over on a "never heard of it" once the operator had it', () => {
    const snapshot = { state: 'reconciling', sendDeadlineAtMs: 1000, isAccepted: true } as const;
    assert.equal(nextReversalTransition(snapshot, { status: { kind: 'not_found' }, queriedAtMs: 1_000_000 }, 10), null);
  });
});
