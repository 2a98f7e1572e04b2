// A released payout as the checker of campaigns reads it.
import type { PayoutRow } from '../../chaos/checker/records.ts';

export const AT = new Date('2026-01-02T03:04:05.678Z');

export const PAYOUT_ROW: PayoutRow = {
  id: 'pay_1',
  merchantId: 'mer_1',
  key: 'key',
  state: 'released',
  version: 1,
  amount: 5000,
  currency: 'UGX',
  reference: 'PAY-1',
  phone: '256772000000',
  operator: 'mtn-momo',
  description: null,
  metadata: {},
  operatorReference: 'reference',
  operatorReceipt: null,
  failureCode: null,
  createdAt: AT,
  updatedAt: AT,
  payeeName: null,
  createdBy: 'usr_maker',
  approvalsRequired: 2,
  decidedBy: null,
  rejectionReason: null,
  expiresAt: AT,
  sendDeadlineAt: AT,
};
