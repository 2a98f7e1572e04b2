// Amounts as decimal strings, for every supported currency.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CURRENCIES, MAX_AMOUNT_MINOR, toDecimalString, type Currency } from '../../src/domain/money.ts';

const BY_DECIMALS = {
  0: 'UGX RWF XOF XAF GNF MGA',
  2: 'KES GHS ZMW TZS NGN MWK CDF USD ETB MZN SZL LRD SCR',
};
const DECIMALS = new Map(
  Object.entries(BY_DECIMALS).flatMap(([decimals, codes]) => codes.split(' ').map((code) => [code, Number(decimals)])),
);

const anyAmount = fc.bigInt({ min: 1n, max: MAX_AMOUNT_MINOR });

describe('an amount as a decimal string', () => {
  it('exists for these currencies and no other', () => {
    assert.deepEqual([...CURRENCIES].sort(), [...DECIMALS.keys()].sort());
  });

  for (const currency of CURRENCIES) {
    const decimals = DECIMALS.get(currency)!;
    it(`has ${decimals} decimals in ${currency} and loses nothing`, () => {
      fc.assert(
        fc.property(anyAmount, (amountMinor) => {
          const text = toDecimalString({ amountMinor, currency });
          assert.match(text, decimals === 0 ? /^[1-9][0-9]*$/ : /^(0|[1-9][0-9]*)\.[0-9]{2}$/);
          assert.equal(BigInt(text.replace('.', '')), amountMinor);
        }),
      );
    });
  }

  const examples: [bigint, Currency, string][] = [
    [500n, 'UGX', '500'],
    [1n, 'XOF', '1'],
    [1n, 'GNF', '1'],
    [200n, 'MGA', '200'],
    [5n, 'USD', '0.05'],
    [1n, 'KES', '0.01'],
    [10n, 'GHS', '0.10'],
    [100n, 'ZMW', '1.00'],
    [1050n, 'KES', '10.50'],
    [MAX_AMOUNT_MINOR, 'UGX', '9007199254740991'],
    [MAX_AMOUNT_MINOR, 'NGN', '90071992547409.91'],
  ];
  for (const [amountMinor, currency, text] of examples) {
    it(`is ${text} for ${amountMinor} ${currency} in the smallest unit`, () => {
      assert.equal(toDecimalString({ amountMinor, currency }), text);
    });
  }
});
