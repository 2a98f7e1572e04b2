// Phone numbers as payers type them.
import assert from 'node:assert/strict';
import type { Currency } from '../../../src/domain/money.ts';
import { coverageOf } from '../../../src/domain/payments/operator-catalogue.ts';
import { readPayerPhone } from '../../../src/domain/payments/payer-phone.ts';

const read = (text: string, currency: Currency, environment = 'sandbox') => {
  const found = readPayerPhone(text, currency, coverageOf(environment));
  return found.kind === 'phone' ? found.digits : null;
};

describe('a number that a payer types', () => {
  it('is read with and without country code, however it is written', () => {
    const typed = [
      '256772123456',
      '+256 772 123 456',
      '00256-772-123456',
      '0772 123456',
      '772123456',
      '(0772) 123.456',
    ];
    for (const text of [...typed, '０７７２１２３４５６', ' 0772\u00a0123\u00a0456 '])
      assert.equal(read(text, 'UGX'), '256772123456', text);
  });

  it('is of the country where the currency is paid, and of several the one where somebody serves it', () => {
    assert.equal(read('078 812 3456', 'RWF'), '250788123456');
    assert.equal(read('05 04 12 34 56', 'XOF'), '2250504123456');
    assert.equal(read('01 97 12 34 56', 'XOF'), '2290197123456');
    assert.equal(read('01 97 12 34 56', 'XOF', 'mtnivorycoast'), '2250197123456');
  });

  it('is no number when it is none, or none that one can be sure of', () => {
    for (const text of ['', 'abc', '12345', '0414 123456', '+256', '256772123456789', '0'.repeat(60), '07721234567890'])
      assert.equal(read(text, 'UGX'), null, text);
    // A landline is no mobile-money account, and another country's number needs its code.
    assert.equal(read('024 123 4567', 'UGX'), null);
    assert.equal(read('233241234567', 'UGX'), '233241234567');
  });
});
