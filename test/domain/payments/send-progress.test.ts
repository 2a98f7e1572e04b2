// Operator statuses: which transitions they support, what they contradict, and their attestation.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { isAttested, attest } from '../../../src/security/status-attestation.ts';
import { newId } from '../../../src/domain/ids.ts';
import { COLLECTION_STATES, type CollectionState } from '../../../src/domain/payments/collection.ts';
import { isFinal } from '../../../src/domain/payments/payment.ts';
import { PAYOUT_STATES } from '../../../src/domain/payments/payout.ts';
import { REVERSAL_STATES } from '../../../src/domain/payments/reversal.ts';
import type { KeyRing } from '../../../src/security/sealing.ts';
import {
  exactInput,
  followsFrom,
  hasPayment,
  type AttestedStatus,
  type PaymentTransitionInput,
  type OperatorStatus,
} from '../../../src/domain/payments/operator-status.ts';
import { hasNotFoundEvidence } from '../../../src/domain/payments/recorded-send.ts';
import { LIFECYCLES } from '../../../src/domain/payments/lifecycle.ts';
import { contradictionIn, isNeverAccepted, notFoundStep } from '../../../src/domain/payments/send-progress.ts';

const PAID: OperatorStatus = { kind: 'paid', operatorReceipt: '42' };
const RETURNED: OperatorStatus = { kind: 'returned', operatorReceipt: '42' };
const DECLINED: OperatorStatus = { kind: 'declined', failureCode: 'payer_not_found' };
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
  REFUSED,
  PAID_OTHERWISE,
  NOT_FOUND,
  { kind: 'pending' },
  { kind: 'unreadable' },
  { kind: 'unknown' },
];
const QUERIED_AT_MS = 1000;

describe('a transition input', () => {
  const SUPPORT: readonly (readonly [PaymentTransitionInput, readonly OperatorStatus[]])[] = [
    [{ kind: 'approval_expired' }, STATUSES],
    [{ kind: 'outcome_unknown' }, STATUSES],
    [{ kind: 'never_sent' }, STATUSES],
    [{ kind: 'prompt_accepted' }, STATUSES.filter((status) => hasPayment(status))],
    [{ kind: 'paid', operatorReceipt: '42' }, [PAID, RETURNED]],
    [{ kind: 'paid', operatorReceipt: '43' }, []],
    [{ kind: 'refunded' }, [PAID]],
    [{ kind: 'returned' }, [RETURNED]],
    [{ kind: 'declined', failureCode: 'payer_not_found' }, [DECLINED, REFUSED]],
    [{ kind: 'declined', failureCode: 'operator_rejected' }, []],
    [{ kind: 'never_accepted', queriedAtMs: QUERIED_AT_MS }, [NOT_FOUND]],
    [{ kind: 'never_accepted', queriedAtMs: QUERIED_AT_MS + 1 }, []],
    [{ kind: 'expired', failureCode: 'payer_not_found' }, [DECLINED]],
    [{ kind: 'expired', failureCode: 'prompt_expired' }, []],
    [
      { kind: 'undecided', queriedAtMs: QUERIED_AT_MS },
      [PAID_OTHERWISE, NOT_FOUND, { kind: 'pending' }, { kind: 'unreadable' }, { kind: 'unknown' }],
    ],
    [{ kind: 'undecided', queriedAtMs: QUERIED_AT_MS + 1 }, []],
  ];
  for (const [transition, statuses] of SUPPORT) {
    it(`${JSON.stringify(transition)} follows from ${statuses.map(({ kind }) => kind).join(', ') || 'no status'}`, () => {
      const following = STATUSES.filter((status) =>
        followsFrom(transition, { status, queriedAtMs: QUERIED_AT_MS, attestation: '' }),
      );
      assert.deepEqual(following, statuses);
    });
  }
});

describe('an input that came through Temporal', () => {
  it('is used with the fields of its kind alone, whatever was added', () => {
    const ADDED = { sendDeadlineAt: new Date(), releaseAttestation: 'x', by: 'y', reason: 'z', operatorReceipt: '1' };
    const INPUTS: readonly PaymentTransitionInput[] = [
      { kind: 'outcome_unknown' },
      { kind: 'declined', failureCode: 'payer_not_found' },
      { kind: 'never_accepted', queriedAtMs: QUERIED_AT_MS },
    ];
    for (const input of INPUTS) assert.deepEqual(exactInput({ ...ADDED, ...input }), input);
    const paid = { kind: 'paid', operatorReceipt: '42' } as const;
    assert.deepEqual(exactInput({ ...ADDED, ...paid }), paid);
  });
});

describe('the statuses that say that the operator has the payment', () => {
  it('are all but those that say that it has none, or nothing', () => {
    const others = STATUSES.filter((status) => !hasPayment(status)).map(({ kind }) => kind);
    assert.deepEqual(others, ['refused', 'not_found', 'unknown']);
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
    const isEnough = (notFoundCount: number, spanMs: number) =>
      hasNotFoundEvidence(
        { operator: 'mtn-momo', notFoundCount, notFoundSince: since, notFoundLastAt: new Date(1000 + spanMs) },
        500,
      );
    assert.deepEqual([isEnough(2, 500), isEnough(3, 499), isEnough(3, 500)], [false, false, true]);
    const none = { operator: 'mtn-momo', notFoundCount: 0, notFoundSince: null, notFoundLastAt: null } as const;
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
    assert.deepEqual(found, ['succeeded declined: declined_after_paid', 'failed paid: paid_after_failed']);
    // A refund that came back has no state of its own.
    const returned = { kind: 'returned', operatorReceipt: '42' } as const;
    assert.equal(contradictionIn('reversal', 'succeeded', returned), 'declined_after_paid');
    for (const state of PAYOUT_STATES) assert.equal(contradictionIn('payout', state, PAID_OTHERWISE), 'paid_otherwise');
  });
});

describe('an attestation', () => {
  const newKey = (name: string) => ({ name, key: createSecretKey(randomBytes(32)) });
  const ring: KeyRing = [newKey('now')];
  const keys = { environment: 'live', keyRing: ring } as const;
  const id = newId('pay');

  it('is valid after its way through Temporal, and with a key ring in which its key is not first', () => {
    for (const status of STATUSES) {
      const attested = JSON.parse(JSON.stringify(attest(id, status, QUERIED_AT_MS, keys))) as AttestedStatus;
      assert.ok(isAttested(id, attested, keys));
      assert.ok(isAttested(id, attested, { ...keys, keyRing: [newKey('next'), ...ring] }));
    }
  });

  it('is not valid for another payment, time, status or key, nor in another environment', () => {
    const attested = attest(id, PAID, QUERIED_AT_MS, keys);
    assert.ok(!isAttested(id, attested, { ...keys, environment: 'test' }));
    assert.ok(!isAttested(newId('pay'), attested, keys));
    assert.ok(!isAttested(id, { ...attested, queriedAtMs: QUERIED_AT_MS + 1 }, keys));
    assert.ok(!isAttested(id, attested, { ...keys, keyRing: [newKey('now')] }));
    const { reported } = PAID_OTHERWISE;
    const otherwise = attest(id, PAID_OTHERWISE, QUERIED_AT_MS, keys);
    for (const changed of [{ amount: '13' }, { currency: 'KES' }]) {
      assert.ok(
        !isAttested(id, { ...otherwise, status: { ...PAID_OTHERWISE, reported: { ...reported, ...changed } } }, keys),
      );
    }
    for (const status of [...STATUSES.slice(1), { ...PAID, operatorReceipt: '43' }]) {
      assert.ok(!isAttested(id, { ...attested, status }, keys), JSON.stringify(status));
    }
    for (const attestation of ['', 'AAAA', attested.attestation.slice(1)])
      assert.ok(!isAttested(id, { ...attested, attestation }, keys));
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
