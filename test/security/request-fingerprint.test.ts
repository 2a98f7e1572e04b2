// Idempotency keys, and when two requests have the same fingerprint.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isIdempotencyKey, requestFingerprint } from '../../src/security/request-fingerprint.ts';

const REQUEST = {
  phone: '256772000100',
  amountMinor: 5000n,
  reference: 'INV-1',
  currency: null,
  description: null,
  metadata: { order: '1042', shop: 'north' },
};

function fingerprint(parameters: unknown, path = '/v1/api/collections', method = 'POST'): string {
  return requestFingerprint(method, path, parameters).toString('hex');
}

describe('an idempotency key', () => {
  it('consists of 1 to 255 visible ASCII characters', () => {
    for (const text of ['a', '!', '~', 'order-1042', 'x'.repeat(255)]) assert.ok(isIdempotencyKey(text), text);
    for (const text of ['', 'x'.repeat(256), 'a b', ' a', 'a\n', 'a\t', 'é', '\u007f', '\u0000', 'a, b', '１']) {
      assert.ok(!isIdempotencyKey(text), JSON.stringify(text));
    }
  });
});

describe('the fingerprint of a request', () => {
  it('does not depend on the order of fields, at any depth', () => {
    const reordered = {
      metadata: { shop: 'north', order: '1042' },
      description: null,
      currency: null,
      reference: 'INV-1',
      amountMinor: 5000n,
      phone: '256772000100',
    };
    assert.equal(fingerprint(reordered), fingerprint(REQUEST));
  });

  const different: [string, unknown][] = [
    ['the phone', { ...REQUEST, phone: '256772000101' }],
    ['the amount', { ...REQUEST, amountMinor: 5001n }],
    ['the reference', { ...REQUEST, reference: 'INV-2' }],
    ['the currency', { ...REQUEST, currency: 'UGX' }],
    ['the description', { ...REQUEST, description: 'Shoes' }],
    ['a metadata value', { ...REQUEST, metadata: { order: '1043', shop: 'north' } }],
    ['a metadata key', { ...REQUEST, metadata: { order: '1042', Shop: 'north' } }],
    ['an additional metadata pair', { ...REQUEST, metadata: { ...REQUEST.metadata, a: '' } }],
  ];
  for (const [what, parameters] of different) {
    it(`changes with ${what}`, () => {
      assert.notEqual(fingerprint(parameters), fingerprint(REQUEST));
    });
  }

  it('changes with the method and with the path', () => {
    assert.notEqual(fingerprint(REQUEST, '/v1/api/payouts'), fingerprint(REQUEST));
    assert.notEqual(fingerprint(REQUEST, '/v1/api/collections', 'PUT'), fingerprint(REQUEST));
  });

  it('is equal exactly for equal parameters', () => {
    const parameters = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.constant(null)), { noNullPrototype: true });
    fc.assert(
      fc.property(parameters, parameters, (a, b) => {
        const sorted = (pairs: object) => JSON.stringify(Object.entries(pairs).sort(([x], [y]) => (x < y ? -1 : 1)));
        const shuffled = Object.fromEntries(Object.entries(a).reverse());
        assert.equal(fingerprint(shuffled), fingerprint(a));
        assert.equal(fingerprint(a) === fingerprint(b), sorted(a) === sorted(b));
      }),
    );
  });
});
