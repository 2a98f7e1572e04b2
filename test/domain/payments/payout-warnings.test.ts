// What an approver is warned of: each warning where it applies, and none where it does not.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import {
  warningsOf,
  type PayoutHistory,
  type PayoutWarning,
  type UsualAmount,
} from '../../../src/domain/payments/payout-warnings.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');
const PHONE = '256772000100';
const [EARLIER, OTHER] = [newId('pay'), newId('pay')];
const KNOWN: PayoutHistory = {
  earlier: { count: 1, isAtLeast: false, last: { id: EARLIER, createdAt: AT, amountMinor: 500n, state: 'succeeded' } },
  same: null,
  ofReference: null,
  payee: null,
};
const USUAL: UsualAmount = { medianMinor: 1000n, count: 10 };

describe('the warnings of a payout', () => {
  const warnings = (history: Partial<PayoutHistory>, amountMinor = 1000n, usual = USUAL): PayoutWarning[] =>
    warningsOf({ phone: PHONE, amountMinor, payeeName: 'Jane Nakato' }, { ...KNOWN, ...history }, usual);

  it('are none for a usual payout to a known number', () => {
    assert.deepEqual(warnings({}), []);
  });

  it('say that nothing was sent to the number before', () => {
    const earlier = { count: 0, isAtLeast: false, last: null };
    assert.deepEqual(warnings({ earlier }), [{ code: 'first_payout_to_number' }]);
  });

  it('name the payout that may be the same one', () => {
    const same = { id: OTHER, createdAt: AT, state: 'queued' } as const;
    assert.deepEqual(warnings({ same }), [
      { code: 'same_number_and_amount_within_24h', payoutId: OTHER, createdAt: AT, state: 'queued' },
    ]);
  });

  it('name the number that the reference had until now, and none where it had several or still has it', () => {
    const ofReference = { id: OTHER, phone: '256772000199', phones: 1 };
    assert.deepEqual(warnings({ ofReference }), [
      { code: 'number_changed_since_last', payoutId: OTHER, phone: '256772000199' },
    ]);
    assert.deepEqual(warnings({ ofReference: { ...ofReference, phones: 2 } }), []);
    assert.deepEqual(warnings({ ofReference: { ...ofReference, phone: PHONE } }), []);
  });

  it('say that the amount is more than five times the median, where there are ten payouts to compare with', () => {
    assert.deepEqual(warnings({}, 5000n), []);
    assert.deepEqual(warnings({}, 5001n), [{ code: 'above_usual', usualMinor: 1000n, times: 5 }]);
    assert.deepEqual(warnings({}, 5001n, { ...USUAL, count: 9 }), []);
    assert.deepEqual(warnings({}, 5001n, { medianMinor: null, count: 0 }), []);
  });

  it('name what the operator calls the payee, where the maker typed another name', () => {
    const payee = (name: string | null) => ({ payee: { name, askedAt: AT } });
    assert.deepEqual(warnings(payee('PETER OKELLO')), [
      { code: 'payee_name_differs', typed: 'Jane Nakato', name: 'PETER OKELLO' },
    ]);
    for (const name of ['JANE NAKATO', 'NAKATO JANE MARY', null]) assert.deepEqual(warnings(payee(name)), []);
    const untyped = { phone: PHONE, amountMinor: 1000n, payeeName: null };
    assert.deepEqual(warningsOf(untyped, { ...KNOWN, ...payee('PETER OKELLO') }, USUAL), []);
  });
});
