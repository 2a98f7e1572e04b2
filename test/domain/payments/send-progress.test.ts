// What follows from operator statuses: which transitions they support, what they say of a send, and what they contradict.
import assert from 'node:assert/strict';
import { paymentClocks, REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import { COLLECTION_STATES, type CollectionState } from '../../../src/domain/payments/collection.ts';
import type { CollectionSnapshot } from '../../../src/domain/payments/collection-progress.ts';
import { contradictionIn } from '../../../src/domain/payments/discrepancy.ts';
import {
  INPUTS_WITHOUT_STATUS,
  LIFECYCLES,
  needsOperatorStatus,
  type TransitionInput,
} from '../../../src/domain/payments/lifecycle.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import { isFinal, PAYMENT_KINDS } from '../../../src/domain/payments/payment.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { hasNotFoundEvidence } from '../../../src/domain/payments/recorded-send.ts';
import { REVERSAL_STATES } from '../../../src/domain/payments/reversal.ts';
import { isNeverAccepted, notFoundStep } from '../../../src/domain/payments/send-progress.ts';

const PAID: OperatorStatus = { kind: 'paid', operatorReceipt: '42' };
const RETURNED: OperatorStatus = { kind: 'returned', operatorReceipt: '42' };
const DECLINED: OperatorStatus = { kind: 'declined', failureCode: 'payer_not_found' };
const PROMPT_EXPIRED: OperatorStatus = { kind: 'declined', failureCode: 'prompt_expired' };
const REFUSED: OperatorStatus = { kind: 'refused', failureCode: 'payer_not_found' };
const PAID_OTHERWISE = {
  kind: 'paid_otherwise',
  operatorReceipt: '42',
  reported: { amount: '12.5', currency: 'UGX' },
} as const satisfies OperatorStatus;
const NOT_FOUND: OperatorStatus = { kind: 'not_found' };
const STATUSES: readonly OperatorStatus[] = [
  PAID,
  RETURNED,
  DECLINED,
  PROMPT_EXPIRED,
  REFUSED,
  PAID_OTHERWISE,
  NOT_FOUND,
  { kind: 'pending' },
  { kind: 'unreadable' },
  { kind: 'unknown' },
];
const QUERIED_AT_MS = 1000;

const SENT = {
  isSendBegun: true,
  isAccepted: false,
  notFoundCount: 3,
  hasNotFoundEvidence: true,
  sendDeadlineAtMs: 500,
};
const RELEASED = { ...SENT, approvals: 1, approvalsRequired: 1, expiresAtMs: 0 };
const CLOCKS = { ...paymentClocks(REAL_CLOCKS), notFoundGraceMs: 10, reconcileForMs: 100 };
/** Every payment past all of its limits, and before them, in every state. */
const SNAPSHOTS = {
  collection: COLLECTION_STATES.flatMap((state) =>
    [500, 5000].flatMap((promptDeadlineAtMs) =>
      [null, 600, 6000].map((promptExpiresAtMs) => ({
        state,
        failureCode: 'unknown' as const,
        promptDeadlineAtMs,
        promptExpiresAtMs,
        isSendBegun: true,
      })),
    ),
  ),
  payout: PAYOUT_STATES.flatMap((state) =>
    [500, 5000].map((sendDeadlineAtMs) => ({ ...RELEASED, state, sendDeadlineAtMs })),
  ),
  reversal: REVERSAL_STATES.flatMap((state) =>
    [500, 5000].map((sendDeadlineAtMs) => ({ ...RELEASED, state, sendDeadlineAtMs, isCollectionReturned: false })),
  ),
};

describe('a transition', () => {
  const SUPPORT: readonly (readonly [TransitionInput['kind'], readonly OperatorStatus[]])[] = [
    // A prompt must be recorded as accepted before its outcome can be.
    ['prompt_accepted', STATUSES.filter(({ kind }) => !['refused', 'not_found', 'unknown'].includes(kind))],
    ['paid', [PAID, RETURNED]],
    ['refunded', [PAID]],
    ['returned', [RETURNED]],
    // For money that goes out no prompt expires.
    ['declined', [DECLINED, PROMPT_EXPIRED]],
    ['expired', [PROMPT_EXPIRED]],
    ['never_accepted', [NOT_FOUND]],
    ['undecided', STATUSES.filter(({ kind }) => !['paid', 'returned', 'declined'].includes(kind))],
  ];
  const decided = PAYMENT_KINDS.flatMap((kind) =>
    SNAPSHOTS[kind].flatMap((snapshot) =>
      STATUSES.flatMap((status) => {
        const queried = { status, queriedAtMs: QUERIED_AT_MS };
        const transition = LIFECYCLES[kind as 'collection'].next(snapshot as CollectionSnapshot, queried, CLOCKS);
        return transition === null ? [] : [{ kind, state: snapshot.state, status, transition }];
      }),
    ),
  );

  for (const [transition, statuses] of SUPPORT) {
    it(`${transition} follows from ${statuses.map(({ kind }) => kind).join(', ')}, with what it says, and from no other status`, () => {
      const found = decided.filter((each) => each.transition.kind === transition);
      assert.deepEqual(
        STATUSES.filter((status) => found.some((each) => each.status === status)),
        statuses,
      );
      for (const { status, transition: input } of found) {
        const said = { ...status, queriedAtMs: QUERIED_AT_MS, kind: transition };
        assert.deepEqual({ ...said, ...input }, said);
      }
    });
  }

  it('needs a status, unless the row and the clock decide it', () => {
    for (const [kind] of SUPPORT) assert.ok(needsOperatorStatus({ kind } as TransitionInput));
    for (const kind of INPUTS_WITHOUT_STATUS) assert.ok(!needsOperatorStatus({ kind }));
    const others = decided.filter(({ transition }) => !SUPPORT.some(([kind]) => kind === transition.kind));
    assert.deepEqual([...new Set(others.map(({ transition }) => transition.kind))], ['outcome_unknown']);
  });
});

describe('a status of not_found', () => {
  const sent = { sendDeadlineAtMs: 1000, isAccepted: false };
  it('can mean never accepted from the end of the grace after the send deadline on', () => {
    assert.deepEqual(
      [1000, 1009, 1010].map((queriedAtMs) => isNeverAccepted(sent, queriedAtMs, 10)),
      [false, false, true],
    );
  });
  it('never means it for a payment that the operator accepted, or that may not be sent yet', () => {
    assert.equal(isNeverAccepted({ ...sent, isAccepted: true }, 10_000, 10), false);
    assert.equal(isNeverAccepted({ ...sent, sendDeadlineAtMs: null }, 10_000, 10), false);
  });
});

describe('the evidence that the operator never accepted a payment', () => {
  const progress = {
    sendDeadlineAtMs: 1000,
    isSendBegun: true,
    isAccepted: false,
    notFoundCount: 0,
    hasNotFoundEvidence: false,
  };
  const stepOf = (status: OperatorStatus, changes: Partial<typeof progress> = {}, queriedAtMs = 1010) =>
    notFoundStep({ ...progress, ...changes }, { status, queriedAtMs }, 10);

  it('grows by a not_found that was queried when no send could be on its way any more', () => {
    assert.deepEqual([stepOf(NOT_FOUND), stepOf(NOT_FOUND, {}, 1009)], ['count', null]);
  });
  it('does not grow for a payment that nobody sent, or that the operator accepted', () => {
    assert.deepEqual(
      [stepOf(NOT_FOUND, { isSendBegun: false }), stepOf(NOT_FOUND, { isAccepted: true })],
      [null, null],
    );
  });
  it('begins again after an answer that says nothing, if there is any', () => {
    const NOTHING: OperatorStatus = { kind: 'unknown' };
    assert.deepEqual([stepOf(NOTHING), stepOf(NOTHING, { notFoundCount: 2 })], [null, 'reset']);
  });

  it('is enough from the operator’s number of statuses on, over the whole span', () => {
    const since = new Date(1000);
    const isEnough = (notFoundCount: number, spanMs: number, sendsOnce = false) =>
      hasNotFoundEvidence(
        {
          operator: 'mtn-momo',
          sendsOnce,
          notFoundCount,
          notFoundSince: since,
          notFoundLastAt: new Date(1000 + spanMs),
        },
        500,
      );
    assert.deepEqual([isEnough(2, 500), isEnough(3, 499), isEnough(3, 500)], [false, false, true]);
    assert.equal(isEnough(1000, 1_000_000, true), false, 'of what is sent once');
    const none = {
      operator: 'mtn-momo',
      sendsOnce: false,
      notFoundCount: 0,
      notFoundSince: null,
      notFoundLastAt: null,
    } as const;
    assert.equal(hasNotFoundEvidence(none, 0), false);
  });
});

describe('the operator status of a final payment', () => {
  it('contradicts a failure when it is paid, a success when it is declined, and nothing else', () => {
    const found = PAYOUT_STATES.flatMap((state) =>
      STATUSES.flatMap((status) => {
        // Other money is a contradiction in every state.
        const kind = status === PAID_OTHERWISE ? null : contradictionIn('payout', state, status);
        return kind === null ? [] : [`${state} ${status.kind}: ${kind}`];
      }),
    );
    assert.deepEqual(
      [...new Set(found)],
      ['succeeded declined: declined_after_paid', 'failed paid: paid_after_failed'],
    );
    // A refund that came back has no state of its own.
    const returned = { kind: 'returned', operatorReceipt: '42' } as const;
    assert.equal(contradictionIn('reversal', 'succeeded', returned), 'declined_after_paid');
    for (const state of PAYOUT_STATES) assert.equal(contradictionIn('payout', state, PAID_OTHERWISE), 'paid_otherwise');
  });
});

describe('a payment that nobody tried to send', () => {
  const SENDS = { isSendBegun: false, isAccepted: false, notFoundCount: 0, hasNotFoundEvidence: false };
  const APPROVED = { approvals: 1, approvalsRequired: 1, expiresAtMs: 0 };
  const collection = (state: CollectionState, promptExpiresAtMs: number | null = null) =>
    LIFECYCLES.collection.isNeverSent(
      { state, failureCode: null, promptDeadlineAtMs: 1000, promptExpiresAtMs, isSendBegun: false },
      1000,
    );

  it('is one that is pending past its deadline, and never one that is final', () => {
    assert.deepEqual(
      COLLECTION_STATES.filter((state) => collection(state)),
      COLLECTION_STATES.filter((state) => !isFinal(state)),
    );
    assert.deepEqual(
      PAYOUT_STATES.filter((state) =>
        LIFECYCLES.payout.isNeverSent({ ...SENDS, ...APPROVED, state, sendDeadlineAtMs: 1000 }, 1000),
      ),
      PAYOUT_STATES.filter((state) => !isFinal(state)),
    );
    assert.deepEqual(
      REVERSAL_STATES.filter((state) =>
        LIFECYCLES.reversal.isNeverSent(
          { ...SENDS, ...APPROVED, isCollectionReturned: false, state, sendDeadlineAtMs: 1000 },
          1000,
        ),
      ),
      REVERSAL_STATES.filter((state) => !isFinal(state)),
    );
  });

  it('is, as a refund, accepted when the operator says anything that takes no other end and that only one who has it can say', () => {
    const progress = {
      ...SENDS,
      ...APPROVED,
      isCollectionReturned: false,
      state: 'reconciling',
      sendDeadlineAtMs: 1000,
    } as const;
    const accepts = (status: OperatorStatus) =>
      LIFECYCLES.reversal.isAcceptanceUnrecorded(progress, status) &&
      !LIFECYCLES.reversal.isAcceptanceUnrecorded({ ...progress, isAccepted: true }, status);
    assert.deepEqual(
      STATUSES.filter(accepts).map(({ kind }) => kind),
      ['returned', 'paid_otherwise', 'pending', 'unreadable'],
    );
  });

  it('is a refund before its deadline too, once the operator returned the collection', () => {
    const refund = {
      ...SENDS,
      ...APPROVED,
      state: 'released',
      sendDeadlineAtMs: 2000,
      isCollectionReturned: true,
    } as const;
    assert.deepEqual(
      [refund, { ...refund, isCollectionReturned: false }, { ...refund, isSendBegun: true }].map((each) =>
        LIFECYCLES.reversal.isNeverSent(each, 1000),
      ),
      [true, false, false],
    );
  });

  it('is none that was prompted', () => {
    assert.deepEqual(
      COLLECTION_STATES.filter((state) => collection(state, 2000)),
      [],
    );
  });
});
