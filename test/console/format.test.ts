// How the console writes what stands in an address.
import assert from 'node:assert/strict';
import { formatAddressAmount } from '../../console/src/ui/format.ts';

describe('an amount in an address', () => {
  it('is shown as people type it', () => {
    assert.equal(formatAddressAmount('150050', 'KES'), '1,500.50');
    assert.equal(formatAddressAmount('1500', 'UGX'), '1,500');
    assert.equal(formatAddressAmount('0', 'UGX'), '0');
    assert.equal(formatAddressAmount('', 'UGX'), '');
  });

  it('is shown as it stands there when it is none', () => {
    for (const text of ['abc', '1.5', '-1', '1e3', 'NaN', '9007199254740993', '9'.repeat(400), ' ']) {
      assert.equal(formatAddressAmount(text, 'KES'), text);
    }
  });
});
