// The parts that adapters share: notes, codes, the comparison of paid money, and the token cache.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FAILURE_CODES } from '../../src/domain/payments/failure.ts';
import { CURRENCIES, MAX_AMOUNT_MINOR, toDecimalString } from '../../src/domain/money.ts';
import { normaliseReason } from '../../src/operators/mtn-momo/codes.ts';
import { isPaidAsRequested } from '../../src/operators/operator-status.ts';
import { cleanNote } from '../../src/operators/payer-note.ts';
import { createTokenCache, type FetchedToken } from '../../src/operators/token-cache.ts';
import { ownTokens } from '../support/own-tokens.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom("'", '’', '&', '<', '＆', ' ', '\n', 'a', '😀', '\ud800') }),
);

describe('a note for the payer', () => {
  const rules = { maxLength: 20, fallback: 'Payment' };

  it('is one short line without markup and control characters, for any input', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const note = cleanNote(text, rules);
        assert.ok(note.length > 0 && note.length <= 20);
        assert.doesNotMatch(note.normalize('NFKC'), /[&<>"'’‘\p{Cc}\p{Cs}]/u);
        assert.equal(note, note.trim());
        assert.equal(cleanNote(note, rules), note);
      }),
    );
  });

  it('stays unchanged when it is valid', () => {
    assert.equal(cleanNote('Commande n° 17 à payer', { ...rules, maxLength: 160 }), 'Commande n° 17 à payer');
  });

  it('loses its apostrophes and keeps its words', () => {
    assert.equal(cleanNote("John's  l’eau\n ok", { ...rules, maxLength: 160 }), 'Johns leau ok');
  });

  it('has a space where a character of markup was, and one only', () => {
    const texts = { 'Smith & Sons': 'Smith Sons', 'Q&A': 'Q A', '<b>"Order"</b> 17 ＆': 'b Order /b 17' };
    for (const [text, note] of Object.entries(texts)) {
      assert.equal(cleanNote(text, { ...rules, maxLength: 160 }), note);
    }
  });

  it('is never cut through the middle of a character', () => {
    assert.equal(cleanNote('abc😀', { ...rules, maxLength: 4 }), 'abc');
    assert.equal(cleanNote('abc😀', { ...rules, maxLength: 5 }), 'abc😀');
  });

  it('becomes the fallback when nothing is left', () => {
    for (const text of [" '\u0007' ", '&', '&&& <>', '""', '', '\ud83d', '\ud83d&']) {
      assert.equal(cleanNote(text, rules), 'Payment', JSON.stringify(text));
    }
  });
});

describe("MTN's reasons", () => {
  it('become one of our codes or none, and pass no free text', () => {
    const reason = fc.oneof(fc.anything(), fc.record({ code: anyText, message: anyText }), anyText);
    fc.assert(
      fc.property(reason, (given) => {
        for (const use of ['collection', 'payout', 'refund'] as const) {
          const read = normaliseReason(given, use);
          if (read === null) continue;
          assert.ok(FAILURE_CODES.includes(read.code));
          assert.match(read.operatorCode, /^[A-Z][A-Z0-9_]{0,63}$/);
        }
      }),
    );
  });

  const table: [unknown, string, string][] = [
    ['NOT_ENOUGH_FUNDS', 'insufficient_funds', 'NOT_ENOUGH_FUNDS'],
    ['PAYER_LIMIT_REACHED', 'payer_limit_reached', 'PAYER_LIMIT_REACHED'],
    ['PAYER_NOT_FOUND', 'payer_not_found', 'PAYER_NOT_FOUND'],
    ['PAYEE_NOT_FOUND', 'payer_not_found', 'PAYEE_NOT_FOUND'],
    ['APPROVAL_REJECTED', 'payer_cancelled', 'APPROVAL_REJECTED'],
    ['PAYMENT_NOT_APPROVED', 'payer_cancelled', 'PAYMENT_NOT_APPROVED'],
    ['TRANSACTION_CANCELED', 'payer_cancelled', 'TRANSACTION_CANCELED'],
    ['EXPIRED', 'prompt_expired', 'EXPIRED'],
    ['COULD_NOT_PERFORM_TRANSACTION', 'prompt_expired', 'COULD_NOT_PERFORM_TRANSACTION'],
    ['PAYER_DELAYED', 'prompt_expired', 'PAYER_DELAYED'],
    ['WRONG_PIN', 'wrong_pin', 'WRONG_PIN'],
    ['NOT_ALLOWED', 'operator_unavailable', 'NOT_ALLOWED'],
    ['approval rejected', 'payer_cancelled', 'APPROVAL_REJECTED'],
    [
      { code: 'INTERNAL_PROCESSING_ERROR', message: 'Balance too low' },
      'insufficient_funds',
      'INTERNAL_PROCESSING_ERROR',
    ],
    [{ code: 'INTERNAL_PROCESSING_ERROR', message: 'Try later' }, 'operator_rejected', 'INTERNAL_PROCESSING_ERROR'],
  ];
  for (const [reason, code, operatorCode] of table) {
    it(`map ${JSON.stringify(reason)} to ${code}`, () => {
      assert.deepEqual(normaliseReason(reason, 'collection'), { code, operatorCode });
    });
  }

  const unlisted = [
    'SERVICE_UNAVAILABLE',
    'A_NEW_CODE',
    { code: 'constructor' },
    'Amina Nakato has no money',
    'P256772123456',
    null,
  ];
  for (const reason of unlisted) {
    it(`make nothing of ${JSON.stringify(reason)}, which is not listed`, () => {
      for (const use of ['collection', 'payout', 'refund'] as const) assert.equal(normaliseReason(reason, use), null);
    });
  }

  // There is no prompt, and the float is ours.
  const ofMoneyOut: [unknown, string][] = [
    ['PAYEE_NOT_FOUND', 'payer_not_found'],
    ['PAYER_LIMIT_REACHED', 'payer_limit_reached'],
    ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'operator_rejected'],
    ['NOT_ENOUGH_FUNDS', 'operator_unavailable'],
    [{ code: 'INTERNAL_PROCESSING_ERROR', message: 'Balance too low' }, 'operator_unavailable'],
    ['INTERNAL_PROCESSING_ERROR', 'operator_rejected'],
    ['APPROVAL_REJECTED', 'operator_rejected'],
    ['EXPIRED', 'operator_rejected'],
    ['WRONG_PIN', 'operator_rejected'],
  ];
  for (const [reason, code] of ofMoneyOut) {
    it(`map ${JSON.stringify(reason)} of a payout or a refund to ${code}`, () => {
      assert.equal(normaliseReason(reason, 'payout')?.code, code);
      assert.equal(normaliseReason(reason, 'refund')?.code, code);
    });
  }
});

describe('paid money', () => {
  const amount = fc.bigInt({ min: 1n, max: MAX_AMOUNT_MINOR });
  const currency = fc.constantFrom(...CURRENCIES);

  it('equals the requested money, with or without superfluous zeros', () => {
    fc.assert(
      fc.property(amount, currency, fc.nat(3), (amountMinor, code, zeros) => {
        const asked = { amountMinor, currency: code };
        const text = toDecimalString(asked);
        const padded = (text.includes('.') ? text : `${text}.`) + '0'.repeat(zeros);
        for (const paid of [text, padded, `0${text}`]) {
          assert.ok(isPaidAsRequested({ amount: paid, currency: code }, asked), paid);
        }
      }),
    );
  });

  it('differs from the requested money when the amount or the currency differs', () => {
    fc.assert(
      fc.property(amount, currency, (amountMinor, code) => {
        const paid = { amount: toDecimalString({ amountMinor, currency: code }), currency: code };
        assert.equal(isPaidAsRequested(paid, { amountMinor: amountMinor + 1n, currency: code }), false);
        assert.equal(isPaidAsRequested({ ...paid, currency: 'EUR' }, { amountMinor, currency: code }), false);
      }),
    );
  });

  it('differs from the requested money when a zero before the decimal point is missing', () => {
    assert.equal(isPaidAsRequested({ amount: '50', currency: 'UGX' }, { amountMinor: 500n, currency: 'UGX' }), false);
  });
});

describe('a cached token', () => {
  let nowMs: number;
  let fetched: number;

  beforeEach(() => {
    nowMs = 1000;
    fetched = 0;
  });

  function cacheOf(lifeSeconds: number) {
    const fetchToken = (): Promise<FetchedToken> =>
      Promise.resolve({ kind: 'token', token: `token-${++fetched}`, lifeSeconds });
    return createTokenCache(fetchToken, { store: ownTokens(() => nowMs), leaseMs: 1000, nowMs: () => nowMs });
  }

  it('is used until a minute before it expires, then renewed', async () => {
    const cache = cacheOf(3600);
    await cache.get();
    nowMs += 3_539_999;
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-1' });
    nowMs += 1;
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-2' });
  });

  it('is renewed after nine tenths of a short life', async () => {
    const cache = cacheOf(10);
    await cache.get();
    nowMs += 8999;
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-1' });
    nowMs += 1;
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-2' });
  });

  it('is renewed after a day, however long its declared life', async () => {
    const cache = cacheOf(1e9);
    await cache.get();
    nowMs += 24 * 60 * 60 * 1000;
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-2' });
  });

  it('is kept when the token before it is refused late', async () => {
    const cache = cacheOf(3600);
    await cache.get();
    cache.drop('token-1');
    await cache.get();
    cache.drop('token-1');
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-2' });
  });
});
