// Builds people for tests: those who act at a merchant, with the fields that the test replaces.
import type { Person } from '../../../src/domain/accounts/member.ts';
import { newId } from '../../../src/domain/ids.ts';

/** An approver without a second factor, who has just given their password. */
export function personWith(fields: Partial<Person> = {}): Person {
  return {
    userId: newId('usr'),
    merchantId: newId('mer'),
    merchantCurrency: 'UGX',
    roles: ['approver'],
    hasSecondFactor: false,
    lostSecondFactor: false,
    recoveredAt: null,
    secondFactorAt: null,
    verifiedAt: new Date(),
    ...fields,
  };
}
