// Which texts are mobile phones in the required form, and which operator serves them.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Currency } from '../../../src/domain/money.ts';
import {
  coverageOf,
  MTN_TARGET_ENVIRONMENTS,
  OPERATORS,
  routePhone,
} from '../../../src/domain/payments/operator-catalogue.ts';
import { parsePhone, type Phone } from '../../../src/domain/payments/phone.ts';

const EVERYWHERE = coverageOf('sandbox');

describe('parsing a phone', () => {
  const valid: [string, string, string][] = [
    ['256772123456', 'UG', '772123456'],
    ['250788123456', 'RW', '788123456'],
    ['237670123456', 'CM', '670123456'],
    ['2250501234567', 'CI', '0501234567'],
    ['2290142123456', 'BJ', '0142123456'],
    ['233241234567', 'GH', '241234567'],
    ['260961234567', 'ZM', '961234567'],
    ['254712345678', 'KE', '712345678'],
  ];
  for (const [text, country, nationalNumber] of valid) {
    it(`recognises ${text} as a mobile phone of ${country}`, () => {
      assert.deepEqual(parsePhone(text), { digits: text, country, nationalNumber });
    });
  }

  const invalid: [string, string][] = [
    ['a phone with a plus sign', '+256772123456'],
    ['a phone with a leading zero', '0772123456'],
    ['a phone with two leading zeros', '00256772123456'],
    ['a phone with spaces inside', '256 772 123456'],
    ['a phone with a space before it', ' 256772123456'],
    ['a phone with a space after it', '256772123456 '],
    ['a phone with a line break after it', '256772123456\n'],
    ['a phone with dashes', '256-772-123456'],
    ['a phone with brackets', '(256)772123456'],
    ['a phone with letters', '25677212345a'],
    ['a landline', '256414123456'],
    ['a phone with one digit too few', '25677212345'],
    ['a phone with one digit too many', '2567721234567'],
    ['a phone of seven digits', '2567721'],
    ['a phone of sixteen digits', '2567721234567890'],
    ['a phone with a trunk zero after the country code', '2560772123456'],
    ['a phone with a trunk zero after the country code of Ghana', '2330241234567'],
    ['a phone with a country code that does not exist', '999772123456'],
    ['an empty text', ''],
    ['a phone in Arabic digits', '٢٥٦٧٧٢١٢٣٤٥٦'],
    ['a phone in full-width digits', '２５６７７２１２３４５６'],
    ['a phone with one Arabic digit', '25677212345٦'],
    ['a number with an exponent', '2.56772123456e11'],
    ['a phone with an invisible mark before it', '\u200e256772123456'],
  ];
  for (const [what, text] of invalid) {
    it(`does not accept ${what}`, () => {
      assert.equal(parsePhone(text), null);
    });
  }

  it('accepts no text but 8 to 15 digits without a leading zero', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.ok(/^[1-9][0-9]{7,14}$/.test(text) || parsePhone(text) === null);
      }),
    );
  });
});

describe('the operator of a phone', () => {
  const served: [string, Currency][] = [
    ['256772000100', 'UGX'],
    ['256762000100', 'UGX'],
    ['250788000100', 'RWF'],
    ['237650000100', 'XAF'],
    ['2250501000100', 'XOF'],
    ['2290142000100', 'XOF'],
    ['233241000100', 'GHS'],
    ['260961000100', 'ZMW'],
  ];
  for (const [digits, currency] of served) {
    it(`is MTN MoMo for ${digits} in ${currency}`, () => {
      const phone = parsePhone(digits);
      assert.ok(phone);
      const route = routePhone(phone, currency, EVERYWHERE);
      assert.equal(route.kind === 'operator' && route.operator, 'mtn-momo');
      assert.equal(route.kind === 'operator' && route.market.currency, currency);
    });
  }

  const unserved: [string, string, Currency][] = [
    ['a network we do not reach', '256752000100', 'UGX'],
    ['a country we do not reach', '254712345678', 'KES'],
    ['a currency of another country', '256772000100', 'RWF'],
  ];
  for (const [what, digits, currency] of unserved) {
    it(`is not found for ${what}`, () => {
      const phone = parsePhone(digits);
      assert.ok(phone);
      assert.deepEqual(routePhone(phone, currency, EVERYWHERE), { kind: 'none' });
    });
  }

  it('is found at a target environment of MTN for phones of its own country only', () => {
    const reachedAt = (target: string) =>
      served.filter(([digits, currency]) => {
        const phone = parsePhone(digits);
        return phone && routePhone(phone, currency, coverageOf(target)).kind === 'operator';
      });
    const countries = new Map<string, string>();
    for (const target of MTN_TARGET_ENVIRONMENTS.filter((name) => name !== 'sandbox')) {
      const reached = reachedAt(target).map(([digits]) => parsePhone(digits)!.country);
      assert.equal(new Set(reached).size, 1, `${target}: ${reached.join()}`);
      countries.set(target, reached[0]!);
    }
    assert.deepEqual(Object.fromEntries(countries), {
      mtnuganda: 'UG',
      mtnrwanda: 'RW',
      mtncameroon: 'CM',
      mtnivorycoast: 'CI',
      mtnbenin: 'BJ',
      mtnghana: 'GH',
      mtnzambia: 'ZM',
    });
    assert.deepEqual(reachedAt('sandbox'), served);
    assert.deepEqual(reachedAt('mtnmars'), []);
  });

  it('has valid phones with every prefix of its markets', () => {
    for (const { country, nationalPrefixes } of Object.values(OPERATORS).flatMap(({ markets }) => markets)) {
      for (const prefix of nationalPrefixes) assert.ok(anyPhone(country, prefix), `${country} ${prefix}`);
    }
  });

  it('has sensible bounds and distinct prefixes in each of its markets', () => {
    for (const { markets } of Object.values(OPERATORS)) {
      for (const { minAmountMinor, maxAmountMinor, nationalPrefixes } of markets) {
        assert.ok(minAmountMinor >= 1n && minAmountMinor < maxAmountMinor);
        assert.ok(nationalPrefixes.length > 0);
        assert.equal(new Set(nationalPrefixes).size, nationalPrefixes.length);
      }
    }
  });
});

const COUNTRY_CODES: Readonly<Record<string, string>> = {
  UG: '256',
  RW: '250',
  CM: '237',
  CI: '225',
  BJ: '229',
  GH: '233',
  ZM: '260',
};

/** A phone of the country with this national prefix, or null if there is none. Tries what can follow the prefix. */
function anyPhone(country: string, prefix: string): Phone | null {
  const lengths = Array.from({ length: 6 }, (_, more) => 7 + more);
  for (const length of lengths) {
    for (const digit of '0123456789') {
      const phone = parsePhone(`${COUNTRY_CODES[country]}${prefix.padEnd(length, digit)}`);
      if (phone?.country === country && phone.nationalNumber.startsWith(prefix)) return phone;
    }
  }
  return null;
}
