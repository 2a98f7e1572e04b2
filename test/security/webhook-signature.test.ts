// Webhook signatures, compared with vectors from OpenSSL and with an independent HMAC; and the form of their secrets.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { generateEndpointSecret, signatureHeader } from '../../src/security/webhook-signature.ts';

describe('a webhook signature', () => {
  // From: printf '%s' '<t>.<body>' | openssl dgst -sha256 -hmac '<secret>'
  const vectors: [number, string, string, string][] = [
    [1767225600, '{}', 'whsec_test', '4a942ef9477fb7b15b98664cf7ff2c2543984c1fa6bdf3520b48dcb25bcd1fe4'],
    [
      1767225600,
      '{"id":"evt_1","amount":5000}',
      'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '2e2574036a47a9bd4780d1c3c936a879f284ec537c58ef6343f73fb3d03c0185',
    ],
    [1, '', 'k', '37c39ff90c9eaf98b76f1cf1a38399fa408e930f34e04a5179d0dc6489fe9c78'],
    [1767225600, 'Café €', 'whsec_test', '540401564ad22ec604db328395343a63685db56ccc971a065c4559215acf4736'],
  ];
  for (const [t, body, secret, hex] of vectors) {
    it(`equals that of OpenSSL for ${JSON.stringify(body)} at ${t}`, () => {
      assert.equal(signatureHeader(Buffer.from(body), [secret], t), `t=${t},v1=${hex}`);
    });
  }

  it('is the HMAC-SHA256, as RFC 2104 defines it, of the time, a dot and the exact bytes', () => {
    const time = fc.integer({ min: 1, max: 4_102_444_800 });
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ unit: 'grapheme', minLength: 1 }), time, (body, secret, t) => {
        const signed = Buffer.concat([Buffer.from(`${t}.`), body]);
        assert.equal(signatureHeader(Buffer.from(body), [secret], t), `t=${t},v1=${hmac(Buffer.from(secret), signed)}`);
      }),
    );
  });

  it('has one v1 pair for each secret, the newest first', () => {
    const body = Buffer.from('{}');
    const [first, second] = [signatureHeader(body, ['new'], 1), signatureHeader(body, ['old'], 1)];
    assert.equal(signatureHeader(body, ['new', 'old'], 1), `${first},${second.slice('t=1,'.length)}`);
  });

  it('changes with the body, with the time and with the secret', () => {
    const header = signatureHeader(Buffer.from('{"a":1}'), ['s'], 1);
    assert.notEqual(signatureHeader(Buffer.from('{"a": 1}'), ['s'], 1).slice(4), header.slice(4));
    assert.notEqual(signatureHeader(Buffer.from('{"a":1}'), ['s'], 2).slice(4), header.slice(4));
    assert.notEqual(signatureHeader(Buffer.from('{"a":1}'), ['S'], 1).slice(4), header.slice(4));
  });
});

describe('an endpoint secret', () => {
  it('consists of whsec_ and 43 base64url characters, different each time', () => {
    const secrets = Array.from({ length: 100 }, generateEndpointSecret);
    for (const secret of secrets) assert.match(secret, /^whsec_[A-Za-z0-9_-]{43}$/);
    assert.equal(new Set(secrets).size, secrets.length);
  });
});

// HMAC by its definition in RFC 2104, without the code under test.
function hmac(secret: Buffer, message: Buffer): string {
  const key = Buffer.alloc(64);
  (secret.length > 64 ? sha256(secret) : secret).copy(key);
  const inner = sha256(Buffer.concat([key.map((byte) => byte ^ 0x36), message]));
  return sha256(Buffer.concat([key.map((byte) => byte ^ 0x5c), inner])).toString('hex');
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
