// One-time codes: the vectors of RFC 6238, and the window in which a code is valid.
import assert from 'node:assert/strict';
import { generateTotpSecret, matchTotpStep, totpCode, totpStepAt, totpUrl } from '../../src/security/totp.ts';

// Appendix B, SHA-1, of the secret "12345678901234567890" in base32; the last six of its eight digits.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTORS: readonly (readonly [number, string])[] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
];
const at = (seconds: number) => new Date(seconds * 1000);

describe('a one-time code', () => {
  for (const [seconds, code] of VECTORS) {
    it(`is ${code} at ${seconds} s, as in the RFC`, () => {
      assert.equal(totpCode(SECRET, totpStepAt(at(seconds))), code);
      assert.equal(matchTotpStep(SECRET, code, at(seconds)), Math.floor(seconds / 30));
    });
  }

  it('is valid one step early and one step late, and identifies its own step', () => {
    const [, code] = VECTORS[3]!;
    const step = totpStepAt(at(1234567890));
    for (const shift of [-30, 0, 30]) assert.equal(matchTotpStep(SECRET, code, at(1234567890 + shift)), step);
    for (const shift of [-60, 60]) assert.equal(matchTotpStep(SECRET, code, at(1234567890 + shift)), null);
  });

  it('consists of six digits and nothing else', () => {
    for (const code of ['', '28708', '2870820', 'abcdef', '２８７０８２', '-28708', '28708.']) {
      assert.equal(matchTotpStep(SECRET, code, at(59)), null, code);
    }
  });

  it('comes from a secret of 160 bits that is different each time', () => {
    const secrets = Array.from({ length: 50 }, generateTotpSecret);
    assert.equal(new Set(secrets).size, 50);
    for (const secret of secrets) assert.match(secret, /^[A-Z2-7]{32}$/);
  });

  it('is set up in an authenticator app by an otpauth address', () => {
    const url = new URL(totpUrl(SECRET, 'amina+1@shop.example'));
    assert.deepEqual(
      [url.protocol, url.host, decodeURIComponent(url.pathname)],
      ['otpauth:', 'totp', '/Malipo:amina+1@shop.example'],
    );
    const parameters = { secret: SECRET, issuer: 'Malipo', algorithm: 'SHA1', digits: '6', period: '30' };
    assert.deepEqual(Object.fromEntries(url.searchParams), parameters);
  });
});
