// Which transition of a collection follows: every state, every operator status, every relation of its query to the limits.
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
import { itFollowsTheTable, type ProgressRule } from './transition-cases.ts';

const DEADLINE_MS = 1_000_000;
const EXPIRES_MS = 1_200_000;
const LIMITS: CollectionLimits = { notFoundGraceMs: 1000, reconcileForMs: 500_000 };

const PAID = { kind: 'paid', operatorReceipt: '42' } as const;
const DECLINED = { kind: 'declined', failureCode: 'wrong_pin' } as const;
const EXPIRED = { kind: 'expired', failureCode: 'prompt_expired' } as const;
const STATUSES: Readonly<Record<string, OperatorStatus>> = {
  paid: { kind: 'paid', operatorReceipt: '42' },
  declined: { kind: 'declined', failureCode: 'wrong_pin' },
  expired: { kind: 'declined', failureCode: 'prompt_expired' },
  returned: { kind: 'returned', operatorReceipt: '42' },
  'paid otherwise': { kind: 'paid_otherwise', operatorReceipt: '42', reported: { amount: '1', currency: 'UGX' } },
  pending: { kind: 'pending' },
  unreadable: { kind: 'unreadable' },
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

// The rules written once more, as a table that is read from the top: the first rule that fits applies.
type Case = {
  state: CollectionState;
  status: OperatorStatus;
  queriedAtMs: number;
  expiresMs: number | null;
  failureCode: 'unknown' | 'prompt_expired';
};
type Rule = ProgressRule<Case, CollectionTransitionInput | null>;

// A returned payment was paid before.
const isPaid = ({ status }: Case) => status.kind === 'returned' || status.kind === 'paid';
const isAccepted = ({ status }: Case) => status.kind !== 'not_found' && status.kind !== 'unknown';
const isNeverAccepted = ({ status, queriedAtMs, expiresMs }: Case) =>
  status.kind === 'not_found' && expiresMs === null && queriedAtMs >= DEADLINE_MS + 1000;
const isDeclined = ({ status }: Case) => status.kind === 'declined' && status.failureCode !== 'prompt_expired';

const RULES: readonly Rule[] = [
  {
    title: 'records returned when the operator returned a succeeded collection',
    fits: ({ state, status }) => state === 'succeeded' && status.kind === 'returned',
    records: () => ({ kind: 'returned' }),
  },
  {
    title: 'records paid when an expired collection turns out to be paid',
    fits: (given) => given.state === 'expired' && isPaid(given),
    records: () => PAID,
  },
  {
    title: 'records declined when a collection that expired without any outcome turns out to be declined',
    fits: (given) => given.state === 'expired' && given.failureCode === 'unknown' && isDeclined(given),
    records: () => DECLINED,
  },
  { title: 'records nothing for any other final collection', fits: ({ state }) => isFinal(state), records: () => null },
  {
    title: 'records the acceptance first when the operator has an initiated collection',
    fits: (given) => given.state === 'initiated' && isAccepted(given),
    records: () => ({ kind: 'prompt_accepted' }),
  },
  {
    title: 'expires an initiated collection whose prompt cannot be raised any more',
    fits: (given) => given.state === 'initiated' && isNeverAccepted(given),
    records: ({ queriedAtMs }) => ({ kind: 'never_accepted', queriedAtMs }),
  },
  {
    title: 'records an unknown outcome when the operator may have accepted an initiated collection',
    fits: ({ state }) => state === 'initiated',
    records: () => ({ kind: 'outcome_unknown' }),
  },
  {
    title: 'records paid when the operator reports it as paid or as returned',
    fits: isPaid,
    records: () => PAID,
  },
  {
    title:
      'records expired when the prompt expired at the operator, and is over by our own clock too, if that is known',
    fits: ({ status, queriedAtMs, expiresMs }) =>
      status.kind === 'declined' &&
      status.failureCode === 'prompt_expired' &&
      (expiresMs === null || queriedAtMs >= expiresMs),
    records: () => EXPIRED,
  },
  {
    title: 'records declined when the operator declines',
    fits: isDeclined,
    records: () => DECLINED,
  },
  {
    title: 'records an unknown outcome at once when other money was paid than was requested',
    fits: ({ state, status }) => state === 'prompted' && status.kind === 'paid_otherwise',
    records: () => ({ kind: 'outcome_unknown' }),
  },
  {
    title: 'records nothing when the status was queried while the prompt was open',
    fits: ({ state, queriedAtMs, expiresMs }) =>
      state === 'prompted' && (expiresMs === null || queriedAtMs < expiresMs),
    records: () => null,
  },
  {
    title: 'records an unknown outcome when the prompt window ends without an outcome',
    fits: ({ state }) => state === 'prompted',
    records: () => ({ kind: 'outcome_unknown' }),
  },
  {
    title: 'expires a collection whose send in doubt was never accepted',
    fits: isNeverAccepted,
    records: ({ queriedAtMs }) => ({ kind: 'never_accepted', queriedAtMs }),
  },
  {
    title: 'expires a collection that has no outcome when it is queried after its reconciliation ended',
    fits: ({ queriedAtMs, expiresMs }) => queriedAtMs >= (expiresMs ?? DEADLINE_MS) + 500_000,
    records: ({ queriedAtMs }) => ({ kind: 'undecided', queriedAtMs }),
  },
  { title: 'records nothing while a collection is reconciled', fits: () => true, records: () => null },
];

const CASES: readonly Case[] = COLLECTION_STATES.flatMap((state) =>
  Object.values(STATUSES).flatMap((status) =>
    MOMENTS.flatMap((queriedAtMs) =>
      [EXPIRES_MS, null].flatMap((expiresMs) =>
        (['unknown', 'prompt_expired'] as const).map((failureCode) => ({
          state,
          status,
          queriedAtMs,
          expiresMs,
          failureCode,
        })),
      ),
    ),
  ),
);

function decide(given: Case): CollectionTransitionInput | null {
  const { state, status, queriedAtMs, expiresMs, failureCode } = given;
  const snapshot: CollectionSnapshot = {
    state,
    failureCode: state === 'expired' ? failureCode : null,
    promptDeadlineAtMs: DEADLINE_MS,
    promptExpiresAtMs: expiresMs,
    isSendBegun: true,
  };
  return nextCollectionTransition(snapshot, { status, queriedAtMs }, LIMITS);
}

describe('the progress of a collection', () => {
  itFollowsTheTable(RULES, CASES, decide, COLLECTION_TRANSITIONS);

  it('records paid or declined only when the operator status says so', () => {
    for (const given of CASES) {
      const recorded = decide(given);
      if (recorded?.kind === 'paid') assert.ok(isPaid(given), JSON.stringify(given));
      if (recorded?.kind === 'declined') assert.equal(given.status.kind, 'declined', JSON.stringify(given));
    }
  });

  it('records returned only of a succeeded collection, and only when the operator status says so', () => {
    for (const given of CASES) {
      if (decide(given)?.kind !== 'returned') continue;
      assert.ok(given.state === 'succeeded' && given.status.kind === 'returned', JSON.stringify(given));
    }
  });

  it('expires without a decline only when it was never accepted or its reconciliation ends', () => {
    for (const given of CASES) {
      const recorded = decide(given);
      if (recorded?.kind !== 'undecided' && recorded?.kind !== 'never_accepted') continue;
      const isOver = given.queriedAtMs >= (given.expiresMs ?? DEADLINE_MS) + LIMITS.reconcileForMs;
      assert.ok(isNeverAccepted(given) || isOver, JSON.stringify(given));
      assert.equal(recorded.queriedAtMs, given.queriedAtMs, 'the recorder checks the time of the query');
      assert.ok(given.state !== 'prompted', 'the outcome of an open prompt is queried first');
    }
  });
});

describe('a state of a collection', () => {
  it('is final when nothing more is awaited', () => {
    assert.deepEqual(COLLECTION_STATES.filter(isFinal), ['succeeded', 'failed', 'expired', 'reversed']);
  });
});
