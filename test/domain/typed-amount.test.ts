// Amounts as people type them: what is read, and what is refused with every way in which it can be read.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CURRENCIES, exponentOf, MAX_AMOUNT_MINOR, toDecimalString } from '../../src/domain/money.ts';
import { readTypedAmount } from '../../src/domain/typed-amount.ts';

function read(text: string, currency: 'UGX' | 'KES' = 'KES', least: 0 | 1 = 1): number | string {
  const typed = readTypedAmount(text, currency, { least });
  return typed.kind === 'amount' ? typed.amount : typed.message;
}

describe('an amount that a person types', () => {
  it('is read in digits, with a point before its decimals, and with marks that group three digits each', () => {
    for (const text of [
      '1500',
      '1,500',
      '1 500',
      "1'500",
      '1’500',
      '1\u00a0500',
      '1\u202f500',
      '1\u2009500',
      ' 1500 ',
    ]) {
      assert.equal(read(text, 'UGX'), 1500, text);
      assert.equal(read(text), 150_000, text);
    }
    for (const [text, minor] of [
      ['1,500.50', 150_050],
      ['1 234 567.8', 123_456_780],
      ['0.05', 5],
      ['12.5', 1250],
      ['007', 700],
    ] as const) {
      assert.equal(read(text), minor, text);
    }
  });

  it('is refused with both readings if there are two', () => {
    for (const [text, one, other] of [
      ['1500,50', '1,500.50', '150,050'],
      ['25,50', '25.50', '2,550'],
      ['1,50', '1.50', '150'],
      ['12,34', '12.34', '1,234'],
      ['1.500', '1.5', '1,500'],
      ['0,500', '0.5', '500'],
      ['1500,5', '1,500.5', '15,005'],
    ] as const) {
      for (const currency of ['UGX', 'KES'] as const) {
        const message = String(read(text, currency));
        assert.ok(message.startsWith(`This can be read as ${one} or as ${other}. Write digits alone`), message);
      }
    }
  });

  it('is refused with its one reading if it is in another country’s form', () => {
    for (const [text, reading] of [
      ['1.500,50', '1,500.50'],
      ['1 500,50', '1,500.50'],
      ['1.500.000', '1,500,000'],
      ['1,50,000', '150,000'],
    ] as const) {
      assert.match(String(read(text)), new RegExp(`^This can be read as ${reading}\\. Write`));
    }
  });

  it('is refused with marks of two kinds, behind the point, in no group of three, or of another script', () => {
    const wrong = ['1,500 000', '1.500,000.5', '1,5,0,0', '12.500,5', '1500.', '.50', '1,', ',5', '1..5', '-5', '+5'];
    for (const text of [...wrong, '٥٠٠', '１５００', '5²', '½', '1e3', '0x10', 'five', '', ' ', 'KES 5', '1,500.5,0']) {
      assert.equal(typeof read(text), 'string', text);
    }
  });

  it('has no more decimals than its currency, and is above zero for a payment', () => {
    for (const [text, currency, message] of [
      ['1.5', 'UGX', 'UGX has no decimals. This can be read as 1.5 or as 15. Write digits alone, such as 1500.'],
      ['1500.000', 'KES', 'KES has 2 decimals. This can be read as 1,500 or as 1,500,000.'],
      ['1500.505', 'KES', 'KES has 2 decimals. This can be read as 1,500.505 or as 1,500,505.'],
      ['1,500.505', 'KES', 'KES has 2 decimals. Write digits alone, with'],
    ] as const) {
      const refusal = String(read(text, currency));
      assert.ok(refusal.startsWith(message), refusal);
    }
    for (const text of ['0', '0.00']) {
      assert.match(String(read(text)), /more than 0/);
      assert.equal(read(text, 'KES', 0), 0);
    }
    assert.match(String(read('9007199254740992', 'UGX')), /more than any payment/);
  });

  it('is read without invisible marks', () => {
    assert.equal(read('\u202a1,500\u202c', 'UGX'), 1500);
    assert.equal(read('\u20661,500\u2069', 'UGX'), 1500);
    assert.equal(read('\u20681,500\u2069', 'UGX'), 1500);
    assert.equal(read('1\u200b500\ufeff', 'UGX'), 1500);
  });

  it('is refused with a mark that turns the order in which its digits are seen', () => {
    // The first looks like 1500, and the second like 1577 00.
    const turned = [
      '\u202e0051',
      '15\u200f00\u200f77',
      '\u202b1 500\u202c',
      '\u202d1500\u202c',
      '\u20671 500\u2069',
      '1500\u061c',
    ];
    for (const text of turned) {
      for (const currency of ['UGX', 'KES'] as const) {
        assert.match(
          String(read(text, currency)),
          /mark that changes the order of its characters/,
          JSON.stringify(text),
        );
      }
    }
  });

  it('has two readings with one comma if a comma may stand before decimals', () => {
    const form = { mayHaveDecimalComma: true };
    for (const [text, one, other] of [
      ['12,500', '12.5', '12,500'],
      ['1,000', '1', '1,000'],
      ['999,999', '999.999', '999,999'],
    ] as const) {
      for (const currency of ['UGX', 'KES'] as const) {
        const typed = readTypedAmount(text, currency, form);
        const message = typed.kind === 'refused' ? typed.message : '';
        assert.ok(message.startsWith(`This can be read as ${one} or as ${other}. Write digits alone`), message);
      }
    }
    // A second comma, or a point behind it, leaves one reading.
    for (const [text, amount] of [
      ['1,500,000', 150_000_000],
      ['12,500.00', 1_250_000],
      ['12 500', 1_250_000],
    ] as const) {
      assert.deepEqual(readTypedAmount(text, 'KES', form), { kind: 'amount', amount }, text);
    }
  });

  it('may be any amount as the service writes it', () => {
    const any = fc.bigInt({ min: 1n, max: MAX_AMOUNT_MINOR });
    fc.assert(
      fc.property(any, fc.constantFrom(...CURRENCIES), (amountMinor, currency) => {
        const text = toDecimalString({ amountMinor, currency });
        const grouped = text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
        for (const written of [text, grouped]) {
          assert.deepEqual(
            readTypedAmount(written, currency),
            { kind: 'amount', amount: Number(amountMinor) },
            written,
          );
        }
      }),
    );
  });

  it('is never another amount than its digits, whatever marks are between them', () => {
    const marks = fc.string({ unit: fc.constantFrom(...Array.from("0123456789.,  \u00a0'’-")), maxLength: 12 });
    fc.assert(
      fc.property(marks, fc.constantFrom(...CURRENCIES), (text, currency) => {
        const typed = readTypedAmount(text, currency);
        if (typed.kind === 'refused') return;
        const [whole = '', fraction = ''] = text.trim().split('.');
        const digits = whole.replace(/\D/g, '') + fraction.padEnd(exponentOf(currency), '0');
        assert.equal(typed.amount, Number(digits));
        assert.match(whole, /^(\d+|[1-9]\d{0,2}([^\d])\d{3}(\2\d{3})*)$/);
      }),
    );
  });
});
