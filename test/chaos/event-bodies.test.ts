// The campaign checker judges the approvals that an event shows.
import assert from 'node:assert/strict';
import { problemsWith } from '../../chaos/checker/event-bodies.ts';
import type { ApprovalRow } from '../../chaos/checker/records.ts';
import { AT, PAYOUT_ROW } from './payout-row.ts';

const APPROVALS: readonly ApprovalRow[] = ['usr_a', 'usr_b'].map((userId) => ({
  paymentId: 'pay_1',
  userId,
  approvedAt: AT,
}));
function problemsWithApprovals(people: readonly string[]): string[] {
  const at = AT.toISOString();
  const object = {
    id: 'pay_1',
    state: 'released',
    approval_state: 'approved',
    amount: 5000,
    currency: 'UGX',
    reference: 'PAY-1',
    phone: '256772000000',
    operator: 'mtn-momo',
    description: null,
    metadata: {},
    failure: null,
    operator_reference: 'reference',
    amount_reversed: 0,
    payee_name: null,
    created_by: 'usr_maker',
    approvals_required: 2,
    approvals: people.map((userId) => ({ user_id: userId, approved_at: at })),
    rejection_reason: null,
    created_at: at,
    updated_at: at,
    expires_at: at,
  };
  const envelope = { id: 'evt_1', type: 'payout.released', created_at: at, environment: 'test' };
  const body = JSON.stringify({ ...envelope, data: { object, previous_state: 'queued' } });
  const ids = { id: 'evt_1', merchantId: 'mer_1', paymentId: 'pay_1' };
  const event = { ...ids, type: 'payout.released', version: 1, body, createdAt: AT };
  const change = { event, state: 'released', previous: 'queued', isPrompted: false, isLast: true };
  return problemsWith({ kind: 'payout', row: PAYOUT_ROW, approvals: APPROVALS }, change);
}

describe('the approvals that an event shows', () => {
  it('may be in any order, because two people may approve at the same moment', () => {
    assert.deepEqual(problemsWithApprovals(['usr_a', 'usr_b']), []);
    assert.deepEqual(problemsWithApprovals(['usr_b', 'usr_a']), []);
  });

  it('are wrong when one is missing, or is of somebody else', () => {
    assert.equal(problemsWithApprovals(['usr_a']).length, 1);
    assert.equal(problemsWithApprovals(['usr_a', 'usr_maker']).length, 1);
  });
});
