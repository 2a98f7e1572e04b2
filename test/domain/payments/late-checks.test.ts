// When a final payment is rechecked, and which statuses of it are news.
import assert from 'node:assert/strict';
import { paymentClocks, REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { CollectionSnapshot } from '../../../src/domain/payments/collection-progress.ts';
import { firstLateCheckAt, isNews, nextRecheck } from '../../../src/domain/payments/late-checks.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import type { PayoutSnapshot } from '../../../src/domain/payments/payout-progress.ts';
import { isStatusMissing } from '../../../src/domain/payments/send-progress.ts';
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
  const nextAfter = (ms: number, hasStatus: boolean, changes: Partial<Parameters<typeof nextRecheck>[0]> = {}) =>
    nextRecheck({ ...paymentEndedAt, reason: 'may_be_paid', ...changes }, hasStatus, after(ms), CLOCKS);

  it('is at the next age once the operator gave a status', () => {
    assert.deepEqual(nextAfter(HOUR, true), { dueAt: after(2 * HOUR), isGivenUp: false });
    assert.deepEqual(nextAfter(3 * DAY, true), { dueAt: after(7 * DAY), isGivenUp: false });
    assert.deepEqual(nextAfter(7 * DAY, true), { dueAt: null, isGivenUp: false });
    assert.deepEqual(nextAfter(HOUR, true, { reason: null }), { dueAt: null, isGivenUp: false });
  });

  it('is as long from now as the end is ago while there is no status, and never later than the next age', () => {
    assert.deepEqual(nextAfter(2 * HOUR, false).dueAt, after(4 * HOUR));
    assert.deepEqual(nextAfter(70 * MINUTE, false).dueAt, after(2 * HOUR));
    assert.deepEqual(nextAfter(0, false, { reason: null }).dueAt, after(10 * MINUTE), 'and never at once');
    assert.deepEqual(nextAfter(3 * DAY, false).dueAt, after(4 * DAY), 'and never more than a day later');
  });

  it('is as long from now as the last callback is ago', () => {
    const calledBackAt = after(30 * DAY);
    const { dueAt } = nextAfter(30 * DAY + HOUR, false, { reason: null, calledBackAt });
    assert.deepEqual(dueAt, after(30 * DAY + 2 * HOUR));
  });

  it('is given up, and said to be, when there was no status for so long', () => {
    assert.deepEqual(nextAfter(30 * DAY, false), { dueAt: null, isGivenUp: true });
    assert.deepEqual(nextAfter(30 * DAY - MINUTE, false), { dueAt: after(31 * DAY - MINUTE), isGivenUp: false });
  });
});

describe('a status of a final payment', () => {
  const attested = (status: OperatorStatus) => ({ status, queriedAtMs: after(DAY).getTime(), attestation: 'attested' });
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
    const collections: readonly (readonly [CollectionSnapshot, OperatorStatus])[] = [
      [collection('expired', 'unknown'), paid],
      [collection('expired', 'prompt_expired'), paid],
      [collection('expired', 'unknown'), declined],
      [collection('succeeded'), returned],
      [collection('succeeded'), declined],
      [collection('failed', 'payer_cancelled'), paid],
    ];
    for (const [snapshot, status] of collections) {
      assert.equal(isNews('collection', snapshot, attested(status), clocks), true, `${snapshot.state} ${status.kind}`);
    }
    assert.equal(isNews('payout', payout('succeeded'), attested(returned), clocks), true);
    assert.equal(isNews('payout', payout('failed'), attested(paid), clocks), true);
    const otherwise = {
      kind: 'paid_otherwise',
      operatorReceipt: '42',
      reported: { amount: '1', currency: 'UGX' },
    } as const;
    assert.equal(isNews('payout', payout('failed'), attested(otherwise), clocks), true);
  });

  it('is no news when it says what is recorded, or nothing', () => {
    const nothing = [{ kind: 'pending' }, { kind: 'not_found' }, { kind: 'unknown' }] as const;
    for (const status of [...nothing, paid]) {
      assert.equal(isNews('collection', collection('succeeded'), attested(status), clocks), false, status.kind);
      assert.equal(isNews('payout', payout('succeeded'), attested(status), clocks), false, status.kind);
    }
    for (const status of nothing) {
      assert.equal(
        isNews('collection', collection('expired', 'unknown'), attested(status), clocks),
        false,
        status.kind,
      );
      assert.equal(isNews('payout', payout('failed'), attested(status), clocks), false, status.kind);
    }
    assert.equal(isNews('collection', collection('expired', 'prompt_expired'), attested(declined), clocks), false);
    assert.equal(isNews('collection', collection('failed', 'payer_cancelled'), attested(declined), clocks), false);
  });

  it('is missing when it leaves open what it was queried for', () => {
    assert.equal(isStatusMissing('expired', { kind: 'pending' }), false);
    assert.equal(isStatusMissing('succeeded', { kind: 'pending' }), true);
    assert.equal(isStatusMissing('expired', { kind: 'unknown' }), true);
    assert.equal(isStatusMissing('failed', { kind: 'not_found' }), false);
  });
});
