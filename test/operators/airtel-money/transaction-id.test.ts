// The ids under which Airtel knows payments: one for each reference, which leads back to it.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { operatorReferenceIn, transactionIdOf } from '../../../src/operators/airtel-money/transaction-id.ts';
import { parseAirtelCallback } from '../../../src/operators/airtel-money/airtel-money.ts';

const reference = fc.uuid({ version: 4 });

describe('the transaction id of a payment at Airtel', () => {
  it('has 25 characters of 0-9 and A-Z, and leads back to the reference of every payment', () => {
    fc.assert(
      fc.property(reference, (uuid) => {
        const id = transactionIdOf(uuid);
        assert.match(id, /^[0-9A-Z]{25}$/);
        assert.equal(operatorReferenceIn(id), uuid);
        assert.equal(operatorReferenceIn(id.toLowerCase()), uuid);
        assert.deepEqual(parseAirtelCallback({ transaction: { id } }), { operatorReference: uuid });
      }),
    );
  });

  it('is the same for ever, up to the largest reference', () => {
    assert.deepEqual(
      ['00000000-0000-4000-8000-000000000000', 'a3bb189e-8bf9-4c2a-9f00-0123456789ab'].map(transactionIdOf),
      ['0000000001D7TMZ9J2ABDRLS0', '9OYGUDHZ2EHL04MSVP2XKVIY3'],
    );
    const largest = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
    assert.equal(operatorReferenceIn(transactionIdOf(largest)), largest);
  });

  it('is not found in what has not the form of an id of ours', () => {
    const others = ['', 'X', '0'.repeat(24), '0'.repeat(26), 'Z'.repeat(25), 7, null, ['0'.repeat(25)]];
    for (const other of [...others, '0000000001D7TMZ9J2ABDRLS-']) assert.equal(operatorReferenceIn(other), null);
  });
});
