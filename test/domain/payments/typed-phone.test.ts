// Phone numbers as people type and paste them.
import assert from 'node:assert/strict';
import type { Currency } from '../../../src/domain/money.ts';
import { countriesOf, coverageOf } from '../../../src/domain/payments/operator-catalogue.ts';
import { readTypedPhone } from '../../../src/domain/payments/typed-phone.ts';

const typed = (text: string, currency: Currency, country: string | null = null) =>
  readTypedPhone(text, countriesOf(currency, coverageOf({ 'mtn-momo': country })));
const read = (text: string, currency: Currency, country?: string) => {
  const found = typed(text, currency, country);
  return found.kind === 'phone' ? found.phone.digits : null;
};
const messageOf = (text: string, currency: Currency) => {
  const found = typed(text, currency);
  return found.kind === 'phone' ? '' : found.message;
};

describe('a number that a person types', () => {
  it('is read with and without country code, however it is written', () => {
    const spellings = [
      '256772123456',
      '+256 772 123 456',
      '00256-772-123456',
      '0772 123456',
      '772123456',
      '(0772) 123.456',
      '+256 (0)772 123 456',
      '+256 0772 123 456',
      '(0)772 123 456',
      '256‐772‑123–456',
      '256—772―123−456',
      'tel:+256772123456',
      '[256] 772/123·456',
    ];
    for (const text of spellings) assert.equal(read(text, 'UGX'), '256772123456', text);
  });

  it('is read with the marks that nobody sees, and in the digits of any script', () => {
    const pasted = [
      '\u202a+256772123456\u202c',
      '\u2068+256 772 123 456\u2069',
      '\ufeff0772\u200b123\u00ad456',
      ' 0772\u00a0123\u202f456\u2009',
      '０７７２１２３４５６',
      '＋２５６ ７７２ １２３ ４５６',
      '٠٧٧٢١٢٣٤٥٦',
      '۰۷۷۲۱۲۳۴۵۶',
      '߀߇߇߂߁߂߃߄߅߆',
      '𞥐𞥗𞥗𞥒𞥑𞥒𞥓𞥔𞥕𞥖',
    ];
    for (const text of pasted) assert.equal(read(text, 'UGX'), '256772123456', JSON.stringify(text));
  });

  it('is refused with a mark that turns the order in which its digits are seen', () => {
    for (const mark of ['\u061c', '\u200f', '\u202b', '\u202d', '\u202e', '\u2067']) {
      for (const text of [`${mark}256772123456`, `0772${mark} 123 ${mark}456`]) {
        assert.match(messageOf(text, 'UGX'), /mark that changes the order/, JSON.stringify(text));
      }
    }
  });

  it('keeps a zero in brackets only where it belongs to the number', () => {
    assert.equal(read('+237 (0)6 70 12 34 56', 'UGX'), '237670123456');
    assert.equal(read('+225 (0)5 04 12 34 56', 'UGX'), '2250504123456');
    assert.equal(read('+229 (0)1 97 12 34 56', 'UGX'), '2290197123456');
  });

  it('is of the one country of the currency in which it is a number', () => {
    assert.equal(read('078 812 3456', 'RWF'), '250788123456');
    assert.equal(read('05 04 12 34 56', 'XOF'), '2250504123456');
    assert.equal(read('233241234567', 'UGX'), '233241234567');
    assert.equal(read('01 97 12 34 56', 'XOF', 'CI'), '2250197123456');
  });

  it('is of several countries where it is, and none of them is guessed', () => {
    for (const text of ['01 97 12 34 56', '0142123456', '\u202a01–96–12–34–56\u202c']) {
      const found = typed(text, 'XOF');
      const countries = found.kind === 'ambiguous' ? found.phones.map(({ country }) => country) : [];
      assert.deepEqual(countries, ['CI', 'BJ'], text);
    }
    assert.equal(
      messageOf('01 97 12 34 56', 'XOF'),
      'Is it 2250197123456 (Côte d’Ivoire) or 2290197123456 (Benin)? Write it with its country code.',
    );
    assert.equal(read('+229 01 97 12 34 56', 'XOF'), '2290197123456');
  });

  it('is no number when it is none', () => {
    const wrong = ['', 'abc', '12345', '0414 123456', '+256', '256772123456789', '0'.repeat(60), '07721234567890'];
    // A superscript is no digit, and a letter no zero.
    for (const text of [
      ...wrong,
      '0772 123 45²',
      'O772123456',
      '+0772123456',
      '0772 123456 ext. 2',
      '++256772123456',
    ]) {
      assert.equal(read(text, 'UGX'), null, text);
    }
    // Another country's number needs its code.
    assert.equal(read('024 123 4567', 'UGX'), null);
  });

  it('is refused with how long a number of that country is, and since when', () => {
    assert.match(
      messageOf('97 12 34 56', 'XOF'),
      /Benin has 10 digits .*229 since 2024: 01, then the former eight digits/,
    );
    assert.match(messageOf('22997123456', 'UGX'), /Benin has 10 digits/);
    assert.match(messageOf('+229 97123456', 'UGX'), /Benin has 10 digits .* This one has 8\./);
    assert.match(
      messageOf('0414123456', 'UGX'),
      /^This is not a mobile number of Uganda\. Write it with its country code/,
    );
  });

  it('is refused with an example of a country of the merchant', () => {
    for (const [currency, code] of [
      ['UGX', '256'],
      ['GHS', '233'],
      ['RWF', '250'],
      ['XOF', '225'],
    ] as const) {
      for (const text of ['no number', '0999123456']) {
        const [, example = ''] = / such as (\d+)\.$/.exec(messageOf(text, currency)) ?? [];
        assert.ok(example.startsWith(code) && example.length > 10, messageOf(text, currency));
        assert.equal(read(example, currency), example);
      }
    }
    const found = readTypedPhone('no number', []);
    assert.match(found.kind === 'refused' ? found.message : '', /such as 256772123456\.$/);
  });

  it('names the countries whose former number it may be', () => {
    const formerOf = (text: string, currency: Currency) => {
      const found = typed(text, currency);
      return found.kind === 'refused' ? found.formerOf : null;
    };
    assert.deepEqual(formerOf('22997123456', 'XOF'), ['BJ']);
    assert.deepEqual(formerOf('+229 97 12 34 56', 'UGX'), ['BJ']);
    assert.deepEqual(formerOf('00225 04 12 34 56', 'XOF'), ['CI']);
    assert.deepEqual(formerOf('97 12 34 56', 'XOF'), ['CI', 'BJ']);
    for (const text of ['', 'abc', '2299712345', '97 12 34 5', '\u202e97123456']) {
      assert.deepEqual(formerOf(text, 'XOF'), [], text);
    }
  });
});
