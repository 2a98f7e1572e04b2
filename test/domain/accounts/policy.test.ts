// Policies: how changes apply to them, and which of two is looser.
import assert from 'node:assert/strict';
import {
  changedPolicy,
  DEFAULT_POLICY,
  isLooser,
  policyObject,
  type Policy,
} from '../../../src/domain/accounts/policy.ts';

describe('a policy', () => {
  it('changes in the named fields and in no other', () => {
    const first = changedPolicy(DEFAULT_POLICY, { second_factor_required: true, two_approvers_above: 0 });
    const second = changedPolicy(first, { two_approvers_above: null, payout_expires_after_seconds: 60 });
    assert.deepEqual(policyObject(second), {
      second_factor_required: true,
      two_approvers_above: null,
      approver_daily_limit: null,
      payout_expires_after_seconds: 60,
      approver_wait_seconds: null,
      key_held_limit: null,
    });
    assert.deepEqual(changedPolicy(second, {}), second);
    assert.equal(changedPolicy(second, { second_factor_required: false }).secondFactorRequired, false);
  });

  const limits = { payoutExpiryMs: 7000, leastWaitingTimeMs: 5000 };
  /** For each rule its values from the loosest to the strictest. */
  const VALUES: { readonly [Rule in keyof Policy]: readonly Policy[Rule][] } = {
    secondFactorRequired: [false, true],
    twoApproversAboveMinor: [null, 9_007_199_254_740_991n, 5n, 0n],
    approverDailyLimitMinor: [null, 9_007_199_254_740_991n, 5n, 1n],
    payoutExpiresAfterMs: [7001, null, 6999, 1000],
    approverWaitMs: [null, 5001, 6000],
    keyHeldLimitMinor: [null, 9_007_199_254_740_991n, 5n, 0n],
  };

  for (const [rule, values] of Object.entries(VALUES)) {
    it(`is looser with a looser ${rule}, and not with the same or a stricter one`, () => {
      for (const [from, before] of values.entries()) {
        for (const [to, after] of values.entries()) {
          const [one, other] = [before, after].map((value): Policy => ({ ...DEFAULT_POLICY, [rule]: value }));
          assert.equal(isLooser(one!, other!, limits), to < from, `${before} to ${after}`);
        }
      }
    });
  }

  it('is looser with one looser rule, whichever others become stricter', () => {
    const strict: Policy = { ...DEFAULT_POLICY, approverDailyLimitMinor: 5n };
    assert.equal(
      isLooser(strict, { ...strict, approverDailyLimitMinor: 6n, secondFactorRequired: true }, limits),
      true,
    );
    assert.equal(isLooser(strict, strict, limits), false);
  });

  it('takes a waiting time that is shorter than the service requires for no change', () => {
    const [short, shorter] = [5000, 1000].map((approverWaitMs): Policy => ({ ...DEFAULT_POLICY, approverWaitMs }));
    for (const [one, other] of [
      [DEFAULT_POLICY, short!],
      [short!, shorter!],
      [shorter!, DEFAULT_POLICY],
    ] as const) {
      assert.equal(isLooser(one, other, limits), false);
    }
  });

  it('treats null as the limit of the service', () => {
    const sevenSeconds: Policy = { ...DEFAULT_POLICY, payoutExpiresAfterMs: 7000 };
    assert.equal(isLooser(DEFAULT_POLICY, sevenSeconds, limits), false);
    assert.equal(isLooser(sevenSeconds, DEFAULT_POLICY, limits), false);
  });
});
