// Policies: how changes apply to them.
import assert from 'node:assert/strict';
import { changedPolicy, DEFAULT_POLICY, policyObject } from '../../../src/domain/accounts/policy.ts';

describe('a policy', () => {
  it('changes in the named fields and in no other', () => {
    const first = changedPolicy(DEFAULT_POLICY, { second_factor_required: true, two_approvers_above: 0 });
    const second = changedPolicy(first, { two_approvers_above: null, payout_expires_after_seconds: 60 });
    assert.deepEqual(policyObject(second), {
      second_factor_required: true,
      two_approvers_above: null,
      approver_daily_limit: null,
      payout_expires_after_seconds: 60,
    });
    assert.deepEqual(changedPolicy(second, {}), second);
    assert.equal(changedPolicy(second, { second_factor_required: false }).secondFactorRequired, false);
  });
});
