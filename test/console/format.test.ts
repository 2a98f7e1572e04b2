// How the console writes what stands in an address.
import assert from 'node:assert/strict';
import { describeAmounts } from '../../console/src/payments/operator-amounts.ts';
import { formatAddressAmount } from '../../console/src/ui/format.ts';

describe('an amount in an address', () => {
  it('is shown as people type it', () => {
    assert.equal(formatAddressAmount('150050', 'KES'), '1,500.50');
    assert.equal(formatAddressAmount('1500', 'UGX'), '1,500');
    assert.equal(formatAddressAmount('0', 'UGX'), '0');
    assert.equal(formatAddressAmount('', 'UGX'), '');
  });

  it('is shown unchanged if it is invalid', () => {
    for (const text of ['abc', '1.5', '-1', '1e3', 'NaN', '9007199254740993', '9'.repeat(400), ' ']) {
      assert.equal(formatAddressAmount(text, 'KES'), text);
    }
  });
});

describe('the amounts that operators accept', () => {
  const market = (country: string, currency: string, max: number, step: number) => ({
    ...{ country, currency },
    collections: { min_amount: 100, max_amount: max, amount_step: step },
    payouts: { min_amount: 5000, max_amount: max, amount_step: 1 },
  });
  const operators = [
    { id: 'mtn-momo', name: 'MTN MoMo', markets: [market('CI', 'XOF', 9000, 1), market('BJ', 'XOF', 9000, 1)] },
    { id: 'm-pesa', name: 'M-Pesa', markets: [market('KE', 'KES', 25_000_000, 100), market('TZ', 'TZS', 10_000, 50)] },
  ];

  it('is one sentence for each operator and rule, with the step where it is not the smallest unit', () => {
    const says = (kind: 'collections' | 'payouts', currency: string, country: string | null = null, operator = '') =>
      describeAmounts(operators, { kind, currency, country, operator });
    assert.equal(says('collections', 'XOF'), 'MTN MoMo takes 100 to 9,000 XOF.');
    assert.equal(says('collections', 'KES'), 'M-Pesa takes 1.00 to 250,000.00 KES, whole KES only.');
    assert.equal(says('payouts', 'KES'), 'M-Pesa takes 50.00 to 250,000.00 KES.');
    assert.equal(says('collections', 'TZS'), 'M-Pesa takes 1.00 to 100.00 TZS, in steps of 0.50.');
    assert.equal(says('collections', 'XOF', 'KE'), '');
    assert.equal(says('collections', 'XOF', 'BJ', 'm-pesa'), '');
    assert.equal(says('collections', 'UGX'), '');
  });
});
