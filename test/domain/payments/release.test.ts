// The two-person rule, and what a merchant's policy requires besides.
import assert from 'node:assert/strict';
import { DomainError, type ErrorCode } from '../../../src/domain/errors.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import type { Approval } from '../../../src/domain/payments/approval.ts';
import { PAYOUT_STATES, type Payout } from '../../../src/domain/payments/payout.ts';
import { DEFAULT_POLICY, type Policy } from '../../../src/domain/accounts/policy.ts';
import {
  approvalsRequired,
  checkRelease,
  isReleasedByOthers,
  notQueued,
  type ReleaseAttempt,
} from '../../../src/domain/payments/release.ts';
import { AT } from './collections.ts';
import { payoutWith } from './payouts.ts';
import { personWith } from '../accounts/persons.ts';

const FIVE_MINUTES_MS = 300_000;
const ago = (ms: number) => new Date(AT.getTime() - ms);

const anApprover = (fields: Partial<Person> = {}) => personWith({ verifiedAt: AT, ...fields });
const withPolicy = (fields: Partial<Policy>): Policy => ({ ...DEFAULT_POLICY, ...fields });

/** The code that the attempt is refused with; null when it may go ahead. */
function refusal(fields: Partial<ReleaseAttempt>): ErrorCode | null {
  const attempt: ReleaseAttempt = {
    payment: payoutWith(),
    person: anApprover(),
    policy: DEFAULT_POLICY,
    releasedMinor: 0n,
    at: AT,
    ...fields,
  };
  try {
    checkRelease(attempt);
    return null;
  } catch (error) {
    assert.ok(error instanceof DomainError, String(error));
    return error.code;
  }
}

describe('a release', () => {
  it('is allowed by a second person when the policy requires nothing more', () => {
    assert.equal(refusal({}), null);
  });

  it('is refused by the maker of the payout, even an owner with a fresh second factor, in every state', () => {
    const person = anApprover({ roles: ['owner'], hasSecondFactor: true, secondFactorAt: AT });
    for (const state of PAYOUT_STATES) {
      const payout = payoutWith({ state, createdBy: person.userId });
      assert.equal(refusal({ person, payment: payout }), 'approval_self', state);
    }
  });

  it('is refused by the person who created the API key that created the payout', () => {
    const person = anApprover();
    const payout = payoutWith({ createdBy: person.userId, apiKeyId: newId('key') });
    assert.equal(refusal({ person, payment: payout }), 'approval_self');
  });

  for (const state of PAYOUT_STATES.filter((other) => other !== 'queued')) {
    it(`is refused for a payout that is ${state}, and the message says so`, () => {
      assert.equal(refusal({ payment: payoutWith({ state }) }), 'state_conflict');
      assert.match(notQueued(payoutWith({ state })).message, new RegExp(`is ${state}:`));
    });
  }

  it('is possible until the last millisecond before the payout expires, and not from then on', () => {
    assert.equal(refusal({ payment: payoutWith({ expiresAt: new Date(AT.getTime() + 1) }) }), null);
    assert.equal(refusal({ payment: payoutWith({ expiresAt: AT }) }), 'state_conflict');
    assert.equal(refusal({ payment: payoutWith({ expiresAt: ago(1) }) }), 'state_conflict');
  });
});

describe('the second factor of a release', () => {
  const without = anApprover();
  const never = anApprover({ hasSecondFactor: true });
  const verifiedAgo = (ms: number) => anApprover({ hasSecondFactor: true, secondFactorAt: ago(ms) });
  const required = withPolicy({ secondFactorRequired: true });

  const lines: readonly (readonly [string, Person, Policy, ErrorCode | null])[] = [
    ['is not required of a person who has none, unless the policy requires it', without, DEFAULT_POLICY, null],
    ['is required of everybody when the policy says so', without, required, 'permission_denied'],
    ['is required of a person who has one', never, DEFAULT_POLICY, 'permission_denied'],
    ['counts when it was just verified', verifiedAgo(0), required, null],
    ['counts until its last millisecond', verifiedAgo(FIVE_MINUTES_MS - 1), DEFAULT_POLICY, null],
    ['no longer counts after five minutes', verifiedAgo(FIVE_MINUTES_MS), DEFAULT_POLICY, 'permission_denied'],
    ['does not count from the future', verifiedAgo(-1), DEFAULT_POLICY, 'permission_denied'],
  ];
  for (const [what, person, policy, expected] of lines) {
    it(what, () => {
      assert.equal(refusal({ person, policy }), expected);
    });
  }

  it('does not count for a person who has none, even with a time', () => {
    assert.equal(refusal({ person: anApprover({ secondFactorAt: AT }), policy: required }), 'permission_denied');
  });
});

describe('the daily limit of an approver', () => {
  const policy = withPolicy({ approverDailyLimitMinor: 10_000n });
  const lines: readonly (readonly [string, bigint, bigint, ErrorCode | null])[] = [
    ['allows a release that reaches it exactly', 5000n, 5000n, null],
    ['refuses one unit more', 5001n, 5000n, 'permission_denied'],
    ['allows one payout of all of it', 0n, 10_000n, null],
    ['refuses one payout of more than all of it', 0n, 10_001n, 'permission_denied'],
    ['refuses everything once it is used up', 10_000n, 1n, 'permission_denied'],
  ];
  for (const [what, releasedMinor, amountMinor, expected] of lines) {
    it(what, () => {
      assert.equal(refusal({ policy, releasedMinor, payment: payoutWith({ amountMinor }) }), expected);
    });
  }

  it('does not apply when the policy has none', () => {
    assert.equal(refusal({ releasedMinor: 10n ** 15n }), null);
  });
});

describe('the number of approvers', () => {
  it('is one for any amount by default', () => {
    assert.equal(approvalsRequired(DEFAULT_POLICY, 10n ** 15n), 1);
  });

  it('is two above the amount in the policy, and one up to it', () => {
    const policy = withPolicy({ twoApproversAboveMinor: 1000n });
    assert.deepEqual(
      [999n, 1000n, 1001n].map((amount) => approvalsRequired(policy, amount)),
      [1, 1, 2],
    );
  });

  it('is two for every amount when the amount in the policy is zero', () => {
    assert.equal(approvalsRequired(withPolicy({ twoApproversAboveMinor: 0n }), 1n), 2);
  });
});

describe('the approvals of a payout before it is sent', () => {
  const maker = newId('usr');
  const approval = (userId = newId('usr')): Approval => ({ userId, approvedAt: AT, attestation: null });
  const isReleased = (fields: Partial<Payout>) => isReleasedByOthers(payoutWith({ createdBy: maker, ...fields }));

  it('suffice when they are as many as the payout needs, or more', () => {
    assert.ok(isReleased({ approvals: [approval()] }));
    assert.ok(isReleased({ approvals: [approval(), approval()] }));
    assert.ok(isReleased({ approvalsRequired: 2, approvals: [approval(), approval()] }));
  });

  it('do not suffice when they are too few', () => {
    assert.ok(!isReleased({ approvals: [] }));
    assert.ok(!isReleased({ approvalsRequired: 2, approvals: [approval()] }));
  });

  it('do not suffice when the maker is among them, however many others there are', () => {
    assert.ok(!isReleased({ approvals: [approval(maker)] }));
    assert.ok(!isReleased({ approvals: [approval(), approval(maker), approval()] }));
  });

  it('do not suffice when one person counts twice', () => {
    const person = newId('usr');
    assert.ok(!isReleased({ approvalsRequired: 2, approvals: [approval(person), approval(person)] }));
  });
});
