// Which texts are mobile phones in the required form, and which operator serves them.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Currency } from '../../../src/domain/money.ts';
import { coverageOf, OPERATORS, routePhone } from '../../../src/domain/payments/operator-catalogue.ts';
import { describePhoneProblem, parsePhone } from '../../../src/domain/payments/phone.ts';

const EVERYWHERE = coverageOf({ 'mtn-momo': null });

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

describe('what is wrong with a phone', () => {
  const problems: [string, RegExp][] = [
    ['', /empty/],
    ['+256772123456', /plus sign/],
    ['0772123456', /begins with 0/],
    ['00256772123456', /begins with 0/],
    ['256 772123456', /space/],
    ['256-772-123456', /characters other than the digits 0 to 9/],
    ['\u202a256772123456', /characters other than the digits 0 to 9/],
    ['22997123456', /Benin has 10 digits after the country code 229 since 2024: 01, then the former eight .* has 8\./],
    ['22504123456', /Côte d’Ivoire has 10 digits after the country code 225 since 2021: 01, 05 or 07 .* has 8\./],
    ['256772123', /Uganda has 9 digits after the country code 256\. It is like 256\d{9}\. This one has 6\./],
    ['2567721234567', /Uganda has 9 digits after .* This one has 10\./],
    ['2560772123456', /^Leave out the 0 after the country code 256\.$/],
    ['256414123456', /^It is not a mobile number of Uganda\.$/],
    ['15551234567', /^It is not a mobile number of a country with the code 1\.$/],
    ['999772123456', /does not begin with a country code/],
    ['2567721234567890', /16 digits; no phone number has more than 15/],
  ];
  for (const [text, problem] of problems) {
    it(`is said of ${JSON.stringify(text)}`, () => {
      assert.equal(parsePhone(text), null);
      assert.match(describePhoneProblem(text), problem);
    });
  }
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
    ['260561000100', 'ZMW'],
    ['256724100100', 'UGX'],
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
    ['a network with a longer prefix than ours', '256798000100', 'UGX'],
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

  it('is found for an account of one country for phones of that country only', () => {
    const reachedAt = (country: string | null) =>
      served.filter(([digits, currency]) => {
        const phone = parsePhone(digits);
        return phone && routePhone(phone, currency, coverageOf({ 'mtn-momo': country })).kind === 'operator';
      });
    for (const { country } of OPERATORS['mtn-momo'].markets) {
      const reached = reachedAt(country).map(([digits]) => parsePhone(digits)!.country);
      assert.deepEqual([...new Set(reached)], [country]);
    }
    assert.deepEqual(reachedAt(null), served);
    assert.deepEqual(reachedAt('XX'), []);
  });

  it('has distinct prefixes in each of its markets', () => {
    for (const { markets } of Object.values(OPERATORS)) {
      for (const { nationalPrefixes } of markets) {
        assert.ok(nationalPrefixes.length > 0);
        assert.equal(new Set(nationalPrefixes).size, nationalPrefixes.length);
      }
    }
  });
});
