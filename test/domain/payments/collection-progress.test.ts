// What is made of the operator's word: every state, every word, every relation of now to the deadlines.
import assert from 'node:assert/strict';
import {
  COLLECTION_STATES,
  COLLECTION_TRANSITIONS,
  type CollectionState,
} from '../../../src/domain/payments/collection.ts';
import {
  nextCollectionTransition,
  type CollectionLimits,
  type CollectionSnapshot,
  type CollectionTransitionInput,
} from '../../../src/domain/payments/collection-progress.ts';
import { isFinal } from '../../../src/domain/payments/payment.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';

const DEADLINE_MS = 1_000_000;
const EXPIRES_MS = 1_200_000;
const LIMITS: CollectionLimits = { notFoundGraceMs: 1000, reconcileForMs: 500_000 };

const PAID = { kind: 'paid', operatorReceipt: '42' } as const;
const DECLINED = { kind: 'declined', failureCode: 'wrong_pin' } as const;
const EXPIRED = { kind: 'expired', failureCode: 'prompt_expired' } as const;
const STATUSES: Readonly<Record<string, OperatorStatus>> = {
  paid: { kind: 'paid', operatorReceipt: '42' },
  declined: { kind: 'declined', failureCode: 'wrong_pin' },
  'run out': { kind: 'declined', failureCode: 'prompt_expired' },
  returned: { kind: 'returned', operatorReceipt: '42' },
  pending: { kind: 'pending' },
  'not found': { kind: 'not_found' },
  nothing: { kind: 'unknown' },
};

// Each boundary, the millisecond before it, and far beyond.
const MOMENTS = [
  0,
  DEADLINE_MS - 1,
  DEADLINE_MS,
  DEADLINE_MS + 999,
  DEADLINE_MS + 1000,
  EXPIRES_MS - 1,
  EXPIRES_MS,
  DEADLINE_MS + 499_999,
  DEADLINE_MS + 500_000,
  EXPIRES_MS + 499_999,
  EXPIRES_MS + 500_000,
  10_000_000,
];

// The rules once more, as lines of a table read from the top: the first that fits says what is recorded.
type Case = { state: CollectionState; status: OperatorStatus; nowMs: number; expiresMs: number | null };
type Rule = {
  when: string;
  fits: (given: Case) => boolean;
  records: (given: Case) => CollectionTransitionInput | null;
};

// What was returned was paid before.
const isPaid = ({ status }: Case) => status.kind === 'returned' || status.kind === 'paid';
const isAccepted = ({ status }: Case) => status.kind !== 'not_found' && status.kind !== 'unknown';
const isNeverAccepted = ({ status, nowMs }: Case) => status.kind === 'not_found' && nowMs >= DEADLINE_MS + 1000;

const RULES: readonly Rule[] = [
  {
    when: 'the provider gave back what was paid',
    fits: ({ state, status }) => state === 'succeeded' && status.kind === 'returned',
    records: () => ({ kind: 'returned' }),
  },
  {
    when: 'an expired one turns out to be paid',
    fits: (given) => given.state === 'expired' && isPaid(given),
    records: () => PAID,
  },
  { when: 'it is settled', fits: ({ state }) => isFinal(state), records: () => null },
  {
    when: 'the first word is that it was taken',
    fits: (given) => given.state === 'initiated' && isAccepted(given),
    records: () => ({ kind: 'prompt_accepted' }),
  },
  {
    when: 'nobody can have been asked to pay any more',
    fits: (given) => given.state === 'initiated' && isNeverAccepted(given),
    records: () => ({ kind: 'expired', failureCode: 'operator_unavailable' }),
  },
  {
    when: 'it may or may not have been taken',
    fits: ({ state }) => state === 'initiated',
    records: () => ({ kind: 'outcome_unknown' }),
  },
  {
    when: 'the operator has the money, or gave back what we did not know to be paid',
    fits: isPaid,
    records: () => PAID,
  },
  {
    when: 'the prompt ran out at the operator',
    fits: ({ status }) => status.kind === 'declined' && status.failureCode === 'prompt_expired',
    records: () => EXPIRED,
  },
  {
    when: 'the operator refuses',
    fits: ({ status }) => status.kind === 'declined',
    records: () => DECLINED,
  },
  {
    when: 'the prompt is still open',
    fits: ({ state, nowMs, expiresMs }) => state === 'prompted' && (expiresMs === null || nowMs < expiresMs),
    records: () => null,
  },
  {
    when: 'the prompt ran out undecided',
    fits: ({ state }) => state === 'prompted',
    records: () => ({ kind: 'outcome_unknown' }),
  },
  {
    when: 'a send of unknown outcome was never taken',
    fits: (given) => given.expiresMs === null && isNeverAccepted(given),
    records: () => ({ kind: 'expired', failureCode: 'operator_unavailable' }),
  },
  {
    when: 'all patience is over',
    fits: ({ nowMs, expiresMs }) => nowMs >= (expiresMs ?? DEADLINE_MS) + 500_000,
    records: () => ({ kind: 'expired', failureCode: 'unknown' }),
  },
  { when: 'there is still hope', fits: () => true, records: () => null },
];

const CASES: readonly Case[] = COLLECTION_STATES.flatMap((state) =>
  Object.values(STATUSES).flatMap((status) =>
    MOMENTS.flatMap((nowMs) => [EXPIRES_MS, null].map((expiresMs) => ({ state, status, nowMs, expiresMs }))),
  ),
);

function decide({ state, status, nowMs, expiresMs }: Case): CollectionTransitionInput | null {
  const snapshot: CollectionSnapshot = { state, promptDeadlineAtMs: DEADLINE_MS, promptExpiresAtMs: expiresMs };
  return nextCollectionTransition(snapshot, status, nowMs, LIMITS);
}

describe('what is recorded of the operator’s word', () => {
  const untried = new Set(RULES);
  for (const rule of RULES) {
    const cases = CASES.filter((given) => RULES.find(({ fits }) => fits(given)) === rule);
    it(`is as the table says when ${rule.when} (${cases.length} cases)`, () => {
      assert.ok(cases.length > 0);
      for (const given of cases) assert.deepEqual(decide(given), rule.records(given), JSON.stringify(given));
      untried.delete(rule);
    });
  }

  it('leaves no line of the table untried', () => {
    assert.equal(untried.size, 0);
  });

  it('is only ever a fact that leads on from the state', () => {
    for (const given of CASES) {
      const recorded = decide(given);
      assert.ok(recorded === null || COLLECTION_TRANSITIONS[given.state][recorded.kind] !== undefined);
    }
  });

  it('is paid or declined only by the operator’s own word', () => {
    for (const given of CASES) {
      const recorded = decide(given);
      if (recorded?.kind === 'paid') assert.ok(isPaid(given), JSON.stringify(given));
      if (recorded?.kind === 'declined') assert.equal(given.status.kind, 'declined', JSON.stringify(given));
    }
  });

  it('is returned only of what was paid, and by the operator’s own word', () => {
    for (const given of CASES) {
      if (decide(given)?.kind !== 'returned') continue;
      assert.ok(given.state === 'succeeded' && given.status.kind === 'returned', JSON.stringify(given));
    }
  });

  it('lapses by itself only when it was never taken, or past all patience', () => {
    for (const given of CASES) {
      const recorded = decide(given);
      if (recorded?.kind !== 'expired' || given.status.kind === 'declined') continue;
      const isOver = given.nowMs >= (given.expiresMs ?? DEADLINE_MS) + LIMITS.reconcileForMs;
      assert.ok(isNeverAccepted(given) || isOver, JSON.stringify(given));
      assert.ok(given.state !== 'prompted', 'an open prompt is asked for first');
    }
  });
});

describe('a state', () => {
  it('is settled when the operator will say no more by itself', () => {
    const settled = COLLECTION_STATES.filter(isFinal);
    assert.deepEqual(settled, ['succeeded', 'failed', 'expired', 'reversed']);
  });
});
