// Attestations of requests, approvals and releases: each is valid for what was attested, and for nothing else.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { newId } from '../../src/domain/ids.ts';
import type { MoneyOut } from '../../src/domain/payments/payment.ts';
import type { Payout } from '../../src/domain/payments/payout.ts';
import type { Reversal } from '../../src/domain/payments/reversal.ts';
import { createReleaseAttestor } from '../../src/security/release-attestation.ts';
import { payoutWith } from '../domain/payments/payouts.ts';
import { reversalWith } from '../domain/payments/reversals.ts';

const KEY = createSecretKey(randomBytes(32));
const AT = new Date('2026-01-02T03:04:05Z');
const LATER = new Date(AT.getTime() + 1);
const attestorOf = (environment: 'test' | 'live', key = KEY) =>
  createReleaseAttestor({ environment, keyRing: [{ name: 'test', key }] });
type Attestor = ReturnType<typeof attestorOf>;

const approval = (userId = newId('usr'), approvedAt = AT) => ({ userId, approvedAt, attestation: null });
const PAYOUT = payoutWith({ approvals: [approval()], sendDeadlineAt: AT, description: 'March' });
const REFUND = reversalWith({ approvals: [approval()], sendDeadlineAt: AT });

const OTHER_PAYMENTS = {
  merchantId: newId('mer'),
  amountMinor: 5001n,
  currency: 'RWF',
  phone: '256772000101',
  operator: 'another' as never,
  operatorReference: '3f0c6a52-5f5f-4b8f-9a56-0a6a2a4dbb11',
  reference: 'SAL-1',
  createdBy: newId('usr'),
} as const;

describe('the attestation of a payout or refund', () => {
  /** Which of the three are valid for `given` when they were made for `was`, by this attestor. */
  function valid(was: MoneyOut, given: MoneyOut, by: Attestor = attestorOf('test')): string[] {
    const own = attestorOf('test');
    const [{ userId, approvedAt } = approval(), theirs = approval()] = [was.approvals[0], given.approvals[0]];
    const attestation = own.attestApproval(was, { userId, approvedAt });
    return Object.entries({
      request: by.isRequestAttested({ ...given, requestAttestation: own.attestRequest(was) }),
      approval: by.isApprovalAttested(given, { ...theirs, attestation }),
      release: by.isReleaseAttested({ ...given, releaseAttestation: own.attestRelease(was) }),
    })
      .filter(([, isValid]) => isValid)
      .map(([what]) => what);
  }
  const ofPayout = (fields: Partial<Payout>, by?: Attestor) => valid(PAYOUT, { ...PAYOUT, ...fields }, by);
  const ofRefund = (fields: Partial<Reversal>) => valid(REFUND, { ...REFUND, ...fields });
  const ALL = ['request', 'approval', 'release'];

  it('is valid for exactly the attested payment', () => {
    assert.deepEqual([ofPayout({}), ofRefund({})], [ALL, ALL]);
  });

  it('is invalid for any payment that differs in any value', () => {
    for (const [field, value] of Object.entries({ ...OTHER_PAYMENTS, id: newId('pay'), description: 'April' })) {
      assert.deepEqual(ofPayout({ [field]: value }), [], field);
    }
    const others = {
      id: newId('rev'),
      collectionId: newId('col'),
      collectionOperatorReference: 'another',
      collectionReceipt: '1',
    };
    for (const [field, value] of Object.entries({ ...OTHER_PAYMENTS, ...others })) {
      assert.deepEqual(ofRefund({ [field]: value }), [], field);
    }
  });

  it('of a request covers how many approvals it needs, and its times', () => {
    for (const fields of [{ approvalsRequired: 2 }, { createdAt: LATER }, { expiresAt: LATER }]) {
      assert.ok(!ofPayout(fields).includes('request'), JSON.stringify(fields));
    }
  });

  it('of an approval covers its approver and its time', () => {
    const [{ userId } = approval()] = PAYOUT.approvals;
    for (const other of [approval(), approval(userId, LATER)]) {
      assert.ok(!ofPayout({ approvals: [other] }).includes('approval'));
    }
  });

  it('of a release covers the approvals, how many it needs, and until when it is sent', () => {
    const more = { approvals: [...PAYOUT.approvals, approval()] };
    for (const fields of [
      more,
      { approvals: [] },
      { approvals: [approval()] },
      { approvalsRequired: 2 },
      { sendDeadlineAt: LATER },
      { sendDeadlineAt: null },
    ]) {
      assert.ok(!ofPayout(fields).includes('release'), Object.keys(fields).join());
    }
  });

  it('of one of the three kinds is invalid for the others', () => {
    const attestor = attestorOf('test');
    const [request, release] = [attestor.attestRequest(PAYOUT), attestor.attestRelease(PAYOUT)];
    assert.ok(!attestor.isReleaseAttested({ ...PAYOUT, releaseAttestation: request }));
    assert.ok(!attestor.isRequestAttested({ ...PAYOUT, requestAttestation: release }));
    assert.ok(!attestor.isApprovalAttested(PAYOUT, { ...approval(), attestation: release }));
  });

  it('is valid in its own environment and with its own key alone, and never missing', () => {
    assert.deepEqual(ofPayout({}, attestorOf('live')), []);
    assert.deepEqual(ofPayout({}, attestorOf('test', createSecretKey(randomBytes(32)))), []);
    const attestor = attestorOf('test');
    assert.ok(!attestor.isReleaseAttested({ ...PAYOUT, releaseAttestation: null }));
    assert.ok(!attestor.isRequestAttested({ ...PAYOUT, requestAttestation: null }));
  });
});
