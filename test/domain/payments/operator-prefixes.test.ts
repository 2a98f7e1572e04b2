// The prefixes of the operators against the kept carrier map, and the setting that changes them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { coverageOf, OPERATOR_IDS, OPERATORS, routePhone } from '../../../src/domain/payments/operator-catalogue.ts';
import {
  AIRTEL_PREFIXES,
  MTN_PREFIXES,
  SAFARICOM_PREFIXES,
  readPrefixChanges,
  type PrefixList,
} from '../../../src/domain/payments/operator-prefixes.ts';

type CarrierMap = {
  readonly asOf: string;
  readonly carriers: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

const MAP = JSON.parse(readFileSync(new URL('./carrier-prefixes.json', import.meta.url), 'utf8')) as CarrierMap;
/** How many digits decide, in the map and in the catalogue. */
const LONGEST_PREFIX = 4;
const BEGINNINGS = Array.from({ length: 10 ** LONGEST_PREFIX }, (_, n) => String(n).padStart(LONGEST_PREFIX, '0'));

/** Of the longest entry that the number begins with. */
function carrierOf(country: string, beginning: string): string | null {
  const carriers = MAP.carriers[country] ?? {};
  const lengths = Array.from({ length: beginning.length }, (_, shorter) => beginning.length - shorter);
  return lengths.map((length) => carriers[beginning.slice(0, length)]).find((name) => name !== undefined) ?? null;
}

describe('the prefixes of the operators', () => {
  const carriers = { 'mtn-momo': 'MTN', 'airtel-money': 'Airtel', daraja: 'Safaricom' } as const;
  for (const operator of OPERATOR_IDS) {
    for (const { country, currency } of OPERATORS[operator].markets) {
      it(`lead to ${OPERATORS[operator].name} in ${country} the numbers that the carrier map gives to it, and no others`, () => {
        const coverage = coverageOf({ 'mtn-momo': null, 'airtel-money': country, daraja: 'KE' });
        const longest = Object.keys(MAP.carriers[country] ?? {}).map((prefix) => prefix.length);
        assert.ok(longest.length > 0 && Math.max(...longest) <= LONGEST_PREFIX);
        const differing = BEGINNINGS.filter((nationalNumber) => {
          const route = routePhone({ country, nationalNumber }, currency, coverage);
          const isOurs = route.kind === 'operator' && route.operator === operator;
          return isOurs !== (carrierOf(country, nationalNumber)?.startsWith(carriers[operator]) === true);
        });
        assert.deepEqual(differing, []);
      });
    }
  }

  it('lead to Airtel only in the country of the account, and nowhere without one', () => {
    const reached = (country: string) => coverageOf({ 'airtel-money': country })['airtel-money'];
    const countries = OPERATORS['airtel-money'].markets.map(({ country }) => country);
    assert.deepEqual(
      countries.map((country) => reached(country).map((market) => market.country)),
      countries.map((country) => [country]),
    );
    assert.deepEqual(coverageOf({ 'mtn-momo': null })['airtel-money'], []);
  });

  it('lead to M-Pesa only where its account is set up', () => {
    assert.deepEqual(coverageOf({ 'mtn-momo': null }).daraja, []);
    assert.deepEqual(
      coverageOf({ 'mtn-momo': null, daraja: 'KE' }).daraja.map(({ country }) => country),
      ['KE'],
    );
  });

  it('name where they are from and of when, which is that of the map', () => {
    for (const { source, asOf, prefixes } of [MTN_PREFIXES, AIRTEL_PREFIXES, SAFARICOM_PREFIXES].flatMap(
      Object.values<PrefixList>,
    )) {
      assert.match(source, /libphonenumber/);
      assert.equal(asOf, MAP.asOf);
      assert.ok(prefixes.every((prefix) => /^[0-9]{2,8}$/.test(prefix)));
    }
  });

  it('are added to or replaced by a setting, for one market and no other', () => {
    const changes = readPrefixChanges('mtn-momo/UG+=71 75, mtn-momo/ZM=56');
    assert.ok(changes);
    const coverage = coverageOf({ 'mtn-momo': null }, changes);
    const isServed = (country: string, nationalNumber: string, currency: 'UGX' | 'ZMW' | 'RWF') =>
      routePhone({ country, nationalNumber }, currency, coverage).kind === 'operator';
    for (const number of ['712345678', '752123456', '772123456']) assert.ok(isServed('UG', number, 'UGX'), number);
    assert.deepEqual(
      ['561234567', '761234567', '961234567'].map((number) => isServed('ZM', number, 'ZMW')),
      [true, false, false],
    );
    assert.ok(isServed('RW', '788123456', 'RWF'));
  });

  it('are refused in a setting of another form', () => {
    const wrong = [
      '',
      'mtn-momo',
      'mtn-momo/UG',
      'mtn-momo/UG=',
      'mtn-momo/ug=39',
      'mtn-momo/UG=+256',
      'mtn-momo/UG=3',
    ];
    for (const text of [
      ...wrong,
      'mtn-momo/UG=39,',
      'mtn-momo/UG=39, mtn-momo/UG+=72',
      'mtn-momo/UG=39; mtn-momo/ZM=5',
    ]) {
      assert.equal(readPrefixChanges(text), null, text);
    }
  });
});
