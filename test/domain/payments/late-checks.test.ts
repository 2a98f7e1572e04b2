// When a final payment is rechecked, and which statuses of it are news.
import assert from 'node:assert/strict';
import { paymentClocks, REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { CollectionSnapshot } from '../../../src/domain/payments/collection-progress.ts';
import {
  findingIn,
  firstLateCheckAt,
  isStatusMissing,
  nextRecheck,
  type RecheckFinding,
} from '../../../src/domain/payments/late-checks.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import type { PayoutSnapshot } from '../../../src/domain/payments/payout-progress.ts';
import { AT } from './collections.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CLOCKS = {
  lateCheckAgesMs: [HOUR, 2 * HOUR, 7 * DAY],
  returnCheckAgesMs: [3 * HOUR],
  staleAfterMs: 10 * MINUTE,
  recheckForMs: 30 * DAY,
};
const after = (ms: number) => new Date(AT.getTime() + ms);

describe('the next recheck of a final payment', () => {
  it('is first at the first age, and without a reason only after a callback', () => {
    assert.deepEqual(firstLateCheckAt('may_be_paid', AT, CLOCKS), after(HOUR));
    assert.deepEqual(firstLateCheckAt('may_be_returned', AT, CLOCKS), after(3 * HOUR));
    assert.equal(firstLateCheckAt(null, AT, CLOCKS), null);
    assert.equal(firstLateCheckAt('may_be_paid', AT, { ...CLOCKS, lateCheckAgesMs: [] }), null);
  });

  const paymentEndedAt = { endedAt: AT, calledBackAt: null };
  const nextAfter = (ms: number, finding: RecheckFinding, changes: Partial<Parameters<typeof nextRecheck>[0]> = {}) =>
    nextRecheck({ ...paymentEndedAt, reason: 'may_be_paid', ...changes }, finding, after(ms), CLOCKS);

  it('is at the next age once the operator gave a status', () => {
    assert.deepEqual(nextAfter(HOUR, 'nothing_new'), { dueAt: after(2 * HOUR), isGivenUp: false });
    assert.deepEqual(nextAfter(3 * DAY, 'nothing_new'), { dueAt: after(7 * DAY), isGivenUp: false });
    assert.deepEqual(nextAfter(7 * DAY, 'nothing_new'), { dueAt: null, isGivenUp: false });
    assert.deepEqual(nextAfter(HOUR, 'nothing_new', { reason: null }), { dueAt: null, isGivenUp: false });
  });

  it('is as long from now as the end is ago while there is no status, and never later than the next age', () => {
    assert.deepEqual(nextAfter(2 * HOUR, 'no_status').dueAt, after(4 * HOUR));
    assert.deepEqual(nextAfter(70 * MINUTE, 'no_status').dueAt, after(2 * HOUR));
    assert.deepEqual(nextAfter(0, 'no_status', { reason: null }).dueAt, after(10 * MINUTE), 'and never at once');
    assert.deepEqual(nextAfter(3 * DAY, 'no_status').dueAt, after(4 * DAY), 'and never more than a day later');
  });

  it('is as long from now as the last callback is ago', () => {
    const calledBackAt = after(30 * DAY);
    const { dueAt } = nextAfter(30 * DAY + HOUR, 'no_status', { reason: null, calledBackAt });
    assert.deepEqual(dueAt, after(30 * DAY + 2 * HOUR));
  });

  it('is given up, and said to be, when there was no status for so long', () => {
    assert.deepEqual(nextAfter(30 * DAY, 'no_status'), { dueAt: null, isGivenUp: true });
    assert.deepEqual(nextAfter(30 * DAY - MINUTE, 'no_status'), { dueAt: after(31 * DAY - MINUTE), isGivenUp: false });
  });

  it('follows news soon, and a transition for as long as it is not recorded', () => {
    for (const finding of ['transition', 'contradiction'] as const) {
      assert.deepEqual(nextAfter(8 * DAY, finding), { dueAt: after(9 * DAY), isGivenUp: false });
    }
    assert.deepEqual(nextAfter(90 * DAY, 'transition'), { dueAt: after(91 * DAY), isGivenUp: false });
    assert.deepEqual(nextAfter(90 * DAY, 'contradiction'), { dueAt: null, isGivenUp: false });
  });

  it('follows a failure of ours, which ends no rechecks', () => {
    assert.deepEqual(nextAfter(90 * DAY, 'failure'), { dueAt: after(91 * DAY), isGivenUp: false });
  });
});

describe('a status of a final payment', () => {
  const queried = (status: OperatorStatus) => ({ status, queriedAtMs: after(DAY).getTime() });
  const clocks = paymentClocks(REAL_CLOCKS);
  const collection = (state: CollectionSnapshot['state'], failureCode: CollectionSnapshot['failureCode'] = null) => ({
    state,
    failureCode,
    promptDeadlineAtMs: AT.getTime(),
    promptExpiresAtMs: AT.getTime(),
    isSendBegun: true,
  });
  const payout = (state: PayoutSnapshot['state']): PayoutSnapshot => ({
    state,
    approvals: 1,
    approvalsRequired: 1,
    expiresAtMs: AT.getTime(),
    sendDeadlineAtMs: AT.getTime(),
    isSendBegun: true,
    isAccepted: false,
    notFoundCount: 3,
    hasNotFoundEvidence: true,
  });
  const paid = { kind: 'paid', operatorReceipt: '42' } as const;
  const returned = { kind: 'returned', operatorReceipt: '42' } as const;
  const declined = { kind: 'declined', failureCode: 'payer_cancelled' } as const;

  it('is news when the state changes, or when it contradicts what is recorded', () => {
    const collections: readonly (readonly [CollectionSnapshot, OperatorStatus, RecheckFinding])[] = [
      [collection('expired', 'unknown'), paid, 'transition'],
      [collection('expired', 'prompt_expired'), paid, 'transition'],
      [collection('expired', 'unknown'), declined, 'transition'],
      [collection('succeeded'), returned, 'transition'],
      [collection('succeeded'), declined, 'contradiction'],
      [collection('failed', 'payer_cancelled'), paid, 'contradiction'],
    ];
    for (const [snapshot, status, finding] of collections) {
      const found = findingIn('collection', snapshot, queried(status), clocks);
      assert.equal(found, finding, `${snapshot.state} ${status.kind}`);
    }
    assert.equal(findingIn('payout', payout('succeeded'), queried(returned), clocks), 'transition');
    assert.equal(findingIn('payout', payout('failed'), queried(paid), clocks), 'contradiction');
    const otherwise = {
      kind: 'paid_otherwise',
      operatorReceipt: '42',
      reported: { amount: '1', currency: 'UGX' },
    } as const;
    assert.equal(findingIn('payout', payout('failed'), queried(otherwise), clocks), 'contradiction');
    const refund = {
      ...payout('succeeded'),
      state: 'succeeded',
      sendDeadlineAtMs: 0,
      isCollectionReturned: false,
    } as const;
    assert.equal(findingIn('reversal', refund, queried(returned), clocks), 'contradiction');
  });

  it('is no news when it says what is recorded', () => {
    for (const status of [{ kind: 'not_found' } as const, paid]) {
      assert.equal(
        findingIn('collection', collection('succeeded'), queried(status), clocks),
        'nothing_new',
        status.kind,
      );
      assert.equal(findingIn('payout', payout('succeeded'), queried(status), clocks), 'nothing_new', status.kind);
    }
    for (const status of [{ kind: 'not_found' }, { kind: 'pending' }] as const) {
      const expired = collection('expired', 'unknown');
      assert.equal(findingIn('collection', expired, queried(status), clocks), 'nothing_new', status.kind);
    }
    assert.equal(findingIn('payout', payout('failed'), queried({ kind: 'not_found' }), clocks), 'nothing_new');
    const explained = collection('expired', 'prompt_expired');
    assert.equal(findingIn('collection', explained, queried(declined), clocks), 'nothing_new');
    const failed = collection('failed', 'payer_cancelled');
    assert.equal(findingIn('collection', failed, queried(declined), clocks), 'nothing_new');
  });

  it('is missing when it leaves open what it was queried for', () => {
    assert.equal(isStatusMissing('expired', { kind: 'pending' }), false);
    assert.equal(isStatusMissing('succeeded', { kind: 'pending' }), true);
    assert.equal(isStatusMissing('expired', { kind: 'unknown' }), true);
    assert.equal(isStatusMissing('failed', { kind: 'not_found' }), false);
    assert.equal(findingIn('collection', collection('succeeded'), queried({ kind: 'unknown' }), clocks), 'no_status');
    assert.equal(findingIn('payout', payout('failed'), queried({ kind: 'unreadable' }), clocks), 'no_status');
  });
});
