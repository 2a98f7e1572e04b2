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

/** What the rows of payments of all kinds start with, but for their kind, id and state. */
const anyRow = ({ merchantId }: RuleFixture) => ({
  merchant_id: merchantId,
  currency: 'UGX',
  phone: '256772000100',
  operator: 'mtn-momo',
  operator_reference: randomUUID(),
  created_at: new Date(),
  updated_at: new Date(),
});

/** What the rows of payouts and reversals start with besides. */
const queuedRow = (fixture: RuleFixture) => ({
  ...anyRow(fixture),
  state: 'queued',
  created_by: fixture.makerId,
  approvals_required: 1,
  expires_at: new Date(),
  request_attestation: 'a'.repeat(43),
});

/** By the kind of the payment. */
export const PAYMENT_ROWS = {
  collections: (fixture) => ({
    ...anyRow(fixture),
    id: newId('col'),
    kind: 'collection',
    idempotency_key: randomUUID(),
    state: 'initiated',
    amount_minor: 5000,
    reference: 'INV-1',
    metadata: '{}',
    send_deadline_at: new Date(),
  }),
  payouts: (fixture) => ({
    ...queuedRow(fixture),
    id: newId('pay'),
    kind: 'payout',
    idempotency_key: randomUUID(),
    amount_minor: 1000,
    reference: 'SAL-1',
    metadata: '{}',
  }),
  payout_approvals: (fixture) => ({ payment_id: fixture.payouts.queued, ...approvalIn(fixture) }),
  reversal_approvals: (fixture) => ({ payment_id: fixture.reversals.queued, ...approvalIn(fixture) }),
  reversals: (fixture) => ({
    ...queuedRow(fixture),
    id: newId('rev'),
    kind: 'reversal',
    collection_id: fixture.refundableId,
    amount_minor: 100_000,
    reference: 'INV-1',
  }),
} as const satisfies Readonly<Record<string, (fixture: RuleFixture) => object>>;
