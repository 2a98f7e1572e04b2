// Builds reversals for unit tests: valid, with the fields that the test replaces.
import { newId } from '../../../src/domain/ids.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import { anyPayment, AT } from './collections.ts';
import { moneyOut } from './payouts.ts';

export function reversalWith(fields: Partial<Reversal> = {}): Reversal {
  return {
    ...moneyOut(),
    ...anyPayment('reversal', 'rev', 'released'),
    collectionId: newId('col'),
    collectionOperatorReference: '0d1c55a8-6a3f-4a51-9d0a-5b7f0d6b4f11',
    collectionReceipt: '363440463',
    sendDeadlineAt: AT,
    isCollectionReturned: false,
    ...fields,
  };
}
