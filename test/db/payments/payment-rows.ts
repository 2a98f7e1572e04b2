// Valid rows of payments of each kind and of approvals, for the cases of the database's own rules.
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import type { RuleFixture } from '../rule-cases.ts';

const approvalIn = ({ merchantId, approverId }: RuleFixture) => ({
  user_id: approverId,
  merchant_id: merchantId,
  approved_at: new Date(),
  attestation: 'a'.repeat(43),
});

/** By the kind of the payment. */
export const PAYMENT_ROWS = {
  collections: ({ merchantId }) => ({
    id: newId('col'),
    kind: 'collection',
    merchant_id: merchantId,
    idempotency_key: randomUUID(),
    state: 'initiated',
    amount_minor: 5000,
    currency: 'UGX',
    reference: 'INV-1',
    phone: '256772000100',
    operator: 'mtn-momo',
    operator_reference: randomUUID(),
    metadata: '{}',
    created_at: new Date(),
    updated_at: new Date(),
    send_deadline_at: new Date(),
  }),
  payouts: ({ merchantId, makerId }) => ({
    id: newId('pay'),
    kind: 'payout',
    merchant_id: merchantId,
    idempotency_key: randomUUID(),
    state: 'queued',
    amount_minor: 1000,
    currency: 'UGX',
    reference: 'SAL-1',
    phone: '256772000100',
    operator: 'mtn-momo',
    operator_reference: randomUUID(),
    metadata: '{}',
    created_by: makerId,
    approvals_required: 1,
    created_at: new Date(),
    updated_at: new Date(),
    expires_at: new Date(),
    request_attestation: 'a'.repeat(43),
  }),
  payout_approvals: (fixture) => ({ payment_id: fixture.payouts.queued, ...approvalIn(fixture) }),
  reversal_approvals: (fixture) => ({ payment_id: fixture.reversals.queued, ...approvalIn(fixture) }),
  reversals: ({ merchantId, makerId, refundableId }) => ({
    id: newId('rev'),
    kind: 'reversal',
    merchant_id: merchantId,
    collection_id: refundableId,
    state: 'queued',
    amount_minor: 100_000,
    currency: 'UGX',
    reference: 'INV-1',
    phone: '256772000100',
    operator: 'mtn-momo',
    operator_reference: randomUUID(),
    created_by: makerId,
    approvals_required: 1,
    created_at: new Date(),
    updated_at: new Date(),
    expires_at: new Date(),
    request_attestation: 'a'.repeat(43),
  }),
} as const satisfies Readonly<Record<string, (fixture: RuleFixture) => object>>;
